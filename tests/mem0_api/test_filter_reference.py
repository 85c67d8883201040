"""The filter language against a plain reading of its rules, on every store."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from operator import eq
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from llmslim_memory import InMemoryStore, SQLiteStore
from llmslim_memory import Memory as TurnMemory
from llmslim_memory.mem0 import Memory
from llmslim_memory.mem0.filters import compile_filter

KEYS = ("cat", "pri", "tags", "deep.k", "when", "run_id", "created_at", "role")
EXACT = ("run_id", "role")
MOMENTS = ["2026-01-01T00:00:00+00:00", "2026-01-01T00:00:00.000001+00:00", "2026-03-05T23:30:00+00:00"]
TEXTS = st.sampled_from(
    ["", "work", "Work", "wor", "5", "straße", "r1", "user", "2026-01-01", "2026-01-01T01:00:00+01:00", MOMENTS[2]]
)
NUMBERS = st.sampled_from([0, 1, 5, 5.0, 7.5, -3])
PLAIN = st.one_of(TEXTS, NUMBERS, st.booleans())
VALUES = st.one_of(PLAIN, st.none(), st.lists(PLAIN, max_size=3))
METADATA = st.fixed_dictionaries(
    {}, optional=dict.fromkeys(("cat", "pri", "tags", "when"), VALUES) | {"deep": st.fixed_dictionaries({"k": VALUES})}
)
Row = tuple[dict[str, Any], str | None, str]
RUNS = st.sampled_from([None, "r1", "2026-01-01", "2026-01-01T00:00:00"])
ROWS = st.lists(st.tuples(METADATA, RUNS, st.sampled_from(MOMENTS)), min_size=1, max_size=5)
OPERATORS = st.one_of(
    st.tuples(st.sampled_from(["eq", "ne"]), PLAIN | st.none()),
    st.tuples(st.sampled_from(["gt", "gte", "lt", "lte"]), TEXTS | NUMBERS),
    st.tuples(st.sampled_from(["in", "nin"]), st.lists(PLAIN, max_size=3)),
    st.tuples(st.sampled_from(["contains", "icontains"]), PLAIN),
)
FIELDS = st.dictionaries(
    st.sampled_from(KEYS),
    st.one_of(PLAIN, st.just("*"), st.lists(PLAIN, max_size=2), st.lists(OPERATORS, min_size=1, max_size=2).map(dict)),
    max_size=2,
)
FILTERS = st.recursive(
    FIELDS,
    lambda inner: st.builds(
        lambda fields, join, parts: {**fields, join: parts},
        FIELDS,
        st.sampled_from(["AND", "OR", "NOT"]),
        st.lists(inner, min_size=1, max_size=3),
    ),
    max_leaves=5,
)


# Filters of the kind that a store can be asked for, and rows that they often meet.
WORDS = st.sampled_from(["work", "home"])
ASKED = {
    "cat": WORDS | st.lists(WORDS, max_size=2) | st.fixed_dictionaries({"in": st.lists(WORDS, max_size=2)}),
    "run_id": st.fixed_dictionaries({"in": st.lists(RUNS, max_size=2)}) | st.just({"eq": "r1"}),
    "created_at": st.dictionaries(
        st.sampled_from(["gt", "gte", "lt", "lte", "eq"]), st.sampled_from(MOMENTS), min_size=1, max_size=2
    )
    | st.lists(st.sampled_from(MOMENTS), max_size=2),
    "role": st.sampled_from(["user", "tool", ["tool", "user"]]),
}
ASKS = st.recursive(
    st.one_of([st.fixed_dictionaries({key: value}) for key, value in ASKED.items()]),
    lambda inner: st.dictionaries(
        st.sampled_from(["AND", "OR", "NOT"]), st.lists(inner, min_size=1, max_size=3), min_size=1, max_size=2
    ),
    max_leaves=6,
)
MET = st.fixed_dictionaries({}, optional={"cat": WORDS | st.lists(WORDS, max_size=2) | st.just("w"), "tags": VALUES})
ROWS_MET = st.lists(st.tuples(MET, RUNS, st.sampled_from(MOMENTS)), min_size=1, max_size=6)


def moment(value: Any) -> datetime | None:
    try:
        read = datetime.fromisoformat(value) if len(value) >= 10 else None
    except (TypeError, ValueError):
        return None
    return read if read is None or read.tzinfo else read.replace(tzinfo=UTC)


def same(a: Any, b: Any) -> bool:
    """Equal and of one kind; times by when they are."""
    if moment(a) and moment(b):
        return moment(a) == moment(b)
    return json.dumps(a) == json.dumps(b) or (type(a) in (int, float) and type(b) in (int, float) and a == b)


def compares(name: str, a: Any, b: Any) -> bool:
    if moment(a) and moment(b):
        a, b = moment(a), moment(b)
    elif (type(a) in (int, float) and type(b) in (int, float)) or (type(a) is str and type(b) is str):
        pass
    else:
        return False
    return {"gt": a > b, "gte": a >= b, "lt": a < b, "lte": a <= b}[name]


def holds(name: str, found: Any, wanted: Any, same: Callable[[Any, Any], bool] = same) -> bool:
    entries = found if isinstance(found, list) else [found]
    match name:
        case "eq":
            return same(found, wanted) or any(same(entry, wanted) for entry in entries)
        case "in":
            return any(holds("eq", found, value, same) for value in wanted)
        case "ne" | "nin":
            return not holds({"ne": "eq", "nin": "in"}[name], found, wanted, same)
        case "contains" | "icontains":
            fold = str.casefold if name == "icontains" else str
            both = [(e, wanted) for e in entries if isinstance(e, str) and isinstance(wanted, str)]
            return any(fold(w) in fold(e) for e, w in both) or any(same(entry, wanted) for entry in entries)
        case _:
            return any(compares(name, entry, wanted) for entry in entries)


def field_passes(row: dict[str, Any], key: str, wanted: Any) -> bool:
    first, _, rest = key.partition(".")
    inside = rest and isinstance(row.get(first), dict)
    holder, name = (row[first], rest) if inside else (row, key)
    if name not in holder:
        return False
    found = holder[name]
    alike = eq if key in EXACT else same
    if isinstance(wanted, dict):
        return all(holds(operator, found, value, alike) for operator, value in wanted.items())
    if wanted == "*" and isinstance(wanted, str):
        return found is not None
    return holds("in" if isinstance(wanted, list) else "eq", found, wanted, alike)


def passes(row: dict[str, Any], filters: dict[str, Any]) -> bool:
    for key, value in filters.items():
        parts = [passes(row, part) for part in value] if key in ("AND", "OR", "NOT") else []
        verdict = {"AND": all(parts), "OR": any(parts), "NOT": not any(parts)}
        if not (verdict[key] if key in verdict else field_passes(row, key, value)):
            return False
    return True


def ids_as_text(filters: Any) -> Any:
    """Ids are stored as text, so a filter's are read as text."""
    if isinstance(filters, dict):
        return {key: as_text(value) if key == "run_id" else ids_as_text(value) for key, value in filters.items()}
    return [ids_as_text(part) for part in filters] if isinstance(filters, list) else filters


def as_text(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: as_text(wanted) for name, wanted in value.items()}
    if isinstance(value, list):
        return [as_text(entry) for entry in value]
    return str(value).strip() if isinstance(value, str | int) else value


def expected(rows: list[Row], filters: dict[str, Any]) -> list[str]:
    """What passes, oldest first."""
    passing = [
        (said, place)
        for place, (metadata, run, said) in enumerate(rows)
        if passes(
            {**metadata, **({"run_id": run} if run else {}), "created_at": said, "role": "user"}, ids_as_text(filters)
        )
    ]
    return [f"row {place}" for _, place in sorted(passing, key=lambda row: (datetime.fromisoformat(row[0]), row[1]))]


def fill(memory: Memory, user: str, rows: list[Row]) -> None:
    for place, (metadata, run, said) in enumerate(rows):
        memory.add(f"row {place}", user_id=user, run_id=run, metadata=metadata, timestamp=said)


def usable(filters: dict[str, Any]) -> bool:
    """Whether the ids at the top of a filter are ones that could be stored: a blank one is refused, not unmatched."""
    run = filters.get("run_id")
    return not (isinstance(run, str) and not run.strip())


CLOSE = st.fixed_dictionaries({key: st.sampled_from([["x", "Y"], "Work", 1, True, 5]) for key in ("cat", "pri")})
NEAR = st.recursive(
    st.dictionaries(
        st.sampled_from(["cat", "pri"]),
        st.one_of(
            st.sampled_from(["x", "Work", 1, True, 5, "*"]),
            st.tuples(
                st.sampled_from(["eq", "ne", "contains", "icontains"]), st.sampled_from(["w", "y", "x", 1, True])
            ).map(lambda pair: dict([pair])),
        ),
        min_size=1,
    ),
    lambda inner: st.dictionaries(
        st.sampled_from(["AND", "OR", "NOT"]), st.lists(inner, min_size=1, max_size=3), min_size=1, max_size=2
    ),
    max_leaves=6,
)


@settings(max_examples=400)
@given(st.lists(METADATA | CLOSE, min_size=1, max_size=6), st.lists(FILTERS | NEAR, min_size=1, max_size=8))
def test_a_compiled_filter_says_what_a_plain_reading_says(rows: Any, every: list[dict[str, Any]]) -> None:
    for filters in every:
        compiled = compile_filter(filters)
        assert [compiled(row) for row in rows] == [passes(row, filters) for row in rows]


@settings(max_examples=100, suppress_health_check=[HealthCheck.too_slow])
@given(ROWS, FILTERS.filter(usable))
def test_what_passes_is_what_a_plain_reading_lets_pass(rows: Any, filters: dict[str, Any]) -> None:
    with TurnMemory(encoding=len) as turns:
        memory = Memory(db=turns)
        fill(memory, "u", rows)
        fill(memory, "other", rows)
        listed = [entry["memory"] for entry in memory.get_all(user_id="u", filters=filters)["results"]]
        assert listed == expected(rows, filters)
        found = memory.search("row", user_id="u", filters=filters)["results"]
        assert sorted(hit["memory"] for hit in found) == sorted(listed)


@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow])
@given(ROWS_MET, st.lists(ASKS, min_size=1, max_size=8))
def test_what_a_store_is_asked_for_holds_all_that_passes(rows: list[Row], every: list[dict[str, Any]]) -> None:
    with TurnMemory(encoding=len) as turns:
        memory = Memory(db=turns)
        fill(memory, "u", rows)
        for filters in every:
            listed = [entry["memory"] for entry in memory.get_all(user_id="u", filters=filters)["results"]]
            assert listed == expected(rows, filters)


@pytest.fixture
def stores(tmp_path: Path, open_postgres: Callable[..., Any], open_mongo: Callable[..., Any]) -> Iterator[list[Memory]]:
    opened = [InMemoryStore(), SQLiteStore(tmp_path / "m.db"), open_postgres(), open_mongo()]
    yield [Memory(db=TurnMemory(store, encoding=len)) for store in opened]
    for store in opened:
        store.close()


@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(ROWS | ROWS_MET, st.lists(ASKS | FILTERS.filter(usable), min_size=1, max_size=6))
def test_all_four_stores_let_the_same_pass(stores: list[Memory], rows: Any, every: list[dict[str, Any]]) -> None:
    for memory in stores:
        memory.reset()
        fill(memory, "u", rows)
        for filters in every:
            found = memory.search("row", user_id="u", filters=filters, threshold=0)["results"]
            assert sorted(hit["memory"] for hit in found) == sorted(expected(rows, filters))
            listed = memory.get_all(filters={"user_id": "u", **filters})["results"]
            assert [entry["memory"] for entry in listed] == expected(rows, filters)
