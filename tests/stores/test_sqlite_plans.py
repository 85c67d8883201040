"""No question about one user's memory reads the rest of the file: SQLite's own plans, over many users' turns."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest

from llmslim_memory.stores import SQLiteStore
from llmslim_memory.testing.turns import ASHA, NOON, turn
from llmslim_memory.types import Batch, Record, Scope, Where

SCOPES = [
    ASHA,
    Scope(agent_id="bot"),
    Scope(run_id="r"),
    Scope(user_id="asha", run_id="r"),
    Scope(user_id="asha", agent_id="bot"),
    Scope("asha", "bot", "r"),
]


def where(scope: Scope) -> Where:
    sets: dict[str, Any] = {f"{name}s": frozenset({value}) for name, value in scope.given().items()}
    return Where(**sets, since=NOON, metadata={"category": frozenset({"work", "home"})})


CALLS: dict[str, Callable[[SQLiteStore, Scope], Any]] = {
    "list": lambda store, scope: store.list(scope),
    "list a window": lambda store, scope: store.list(scope, since=NOON, until=NOON + timedelta(days=1)),
    "find": lambda store, scope: store.find(where(scope)),
    "changes": lambda store, scope: store.changes(scope, version=1, encoding="o200k_base"),
    "changes since": lambda store, scope: store.changes(scope, after="1-1", version=1, encoding="o200k_base"),
    "scan": lambda store, scope: store.scan(scope=scope, limit=1),
    "scan on": lambda store, scope: store.scan(scope=scope, after="1", limit=1),
    "records": lambda store, scope: store.records("event", scope=scope),
    "records of a group": lambda store, scope: store.records("event", group="g"),
    "records by key": lambda store, scope: store.records("event", keys=["k1", "k2"]),
    "get": lambda store, scope: store.get("t"),
    "get many": lambda store, scope: store.get_many(["t", "u"]),
    "tombstones": lambda store, scope: store.tombstones(["t", "u"]),
    "add": lambda store, scope: store.add([turn()]),
    "update": lambda store, scope: store.update("t", content="new"),
    "delete": lambda store, scope: store.delete("t"),
    "delete a scope": lambda store, scope: store.delete_scope(scope),
    "apply": lambda store, scope: store.apply(
        Batch(claim=[Record("c", "1", {})], put=[Record("event", "k1", {})], drop=[("event", "k2"), ("c", "1")])
    ),
}


class Planned:
    """Runs a store's calls and keeps the plan of each statement it sends."""

    def __init__(self, store: SQLiteStore) -> None:
        self.store = store

    def steps(self, call: Callable[[], object]) -> list[tuple[str, str]]:
        sent: list[str] = []
        connections = self.store._connections
        with connections.reader() as reader:
            pass
        for db in (reader, connections._writing()):
            db.set_trace_callback(sent.append)
        call()
        for db in (reader, connections._writing()):
            db.set_trace_callback(None)
        with connections.reader() as db:
            return [
                (sql, row[3])
                for sql in sent
                if sql.lstrip().upper().startswith(("SELECT", "INSERT", "UPDATE", "DELETE"))
                for row in db.execute(f"EXPLAIN QUERY PLAN {sql}")
            ]


@pytest.fixture(scope="module")
def planned(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Planned]:
    with SQLiteStore(tmp_path_factory.mktemp("plans") / "memory.db") as store:
        items = [turn(user_id=f"user {n % 20}", agent_id=f"bot {n % 3}", run_id=f"run {n % 60}") for n in range(600)]
        records = [Record("event", f"k{n}", {}, group=f"g{n % 9}", item_id=items[n].id) for n in range(200)]
        store.apply(Batch(add=items, put=records))
        yield Planned(store)


@pytest.mark.parametrize("scope", SCOPES, ids=lambda scope: "+".join(k for k, v in scope.ids().items() if v))
@pytest.mark.parametrize("name", CALLS)
def test_no_table_is_read_from_end_to_end(planned: Planned, name: str, scope: Scope) -> None:
    steps = planned.steps(lambda: CALLS[name](planned.store, scope))
    assert steps
    scanned = [(sql, step) for sql, step in steps if step.startswith("SCAN") and " j" not in step]
    assert [sql for sql, step in scanned if step != "SCAN llmslim_counter"] == []


@pytest.mark.parametrize("scope", SCOPES, ids=lambda scope: "+".join(k for k, v in scope.ids().items() if v))
@pytest.mark.parametrize("name", ["changes since", "scan on"])
def test_what_is_new_is_found_without_passing_over_what_is_known(planned: Planned, name: str, scope: Scope) -> None:
    steps = planned.steps(lambda: CALLS[name](planned.store, scope))
    by_scope = [step for _, step in steps if " t USING INDEX" in step and "_id=?" in step]
    assert by_scope
    assert all("rowid>?" in step for step in by_scope)


@pytest.mark.parametrize("name", ["user_id", "agent_id", "run_id"])
def test_a_window_of_a_user_is_cut_by_the_index(planned: Planned, name: str) -> None:
    scope = Scope(**{name: "x"})
    [first, *_] = [step for _, step in planned.steps(lambda: CALLS["list a window"](planned.store, scope))]
    if name == "user_id":
        assert "created_at>? AND created_at<?" in first
    assert "USING INDEX" in first


def test_heads_are_read_without_their_text(planned: Planned) -> None:
    steps = planned.steps(lambda: CALLS["changes"](planned.store, ASHA))
    assert [step for _, step in steps if "llmslim_content" in step or " c " in step] == []
