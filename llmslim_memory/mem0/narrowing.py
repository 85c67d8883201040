"""Which turns a filter can let pass, as far as a store can tell, so that no others are read.

A store is asked for these and may hand over more; what passes is for the filter itself to say. So a condition that
only Python can tell (``NOT``, ``contains``, numbers, times under metadata) asks nothing here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import reduce
from itertools import product
from typing import Any

from llmslim_memory.errors import InvalidValueError
from llmslim_memory.mem0.filters import ANY, join_of, read_time
from llmslim_memory.mem0.items import FIELDS
from llmslim_memory.memory import Memory
from llmslim_memory.types import MemoryItem, SupportsFind, Where, check_id

PAGE = 500
MOST = 16
"""Most questions that a filter becomes; one with more alternatives is not narrowed by them."""

EVERYTHING = Where()
_NAMES: Mapping[str, Callable[[frozenset[str]], Where]] = {
    "user_id": lambda names: Where(user_ids=names),
    "agent_id": lambda names: Where(agent_ids=names),
    "run_id": lambda names: Where(run_ids=names),
    "role": lambda names: Where(roles=names),
}
_STEP = timedelta(microseconds=1)


def candidates(memory: Memory, ids: Mapping[str, str], conditions: Mapping[str, Any]) -> list[MemoryItem]:
    """The turns that can pass, oldest first."""
    if isinstance(memory.store, SupportsFind):
        wheres = _both(narrow(ids), narrow(conditions))
        found = {item.id: item for where in wheres for item in memory.store.find(where)}
        turns = list(found.values())
    elif ids:
        return memory.get_all(**ids)
    else:
        turns = list(everything(memory))
    return sorted(turns, key=lambda item: (item.created_at, item.seq))


def everything(memory: Memory) -> Iterator[MemoryItem]:
    """Every turn of everyone, in the order of adding."""
    after: str | None = None
    while True:
        page = memory.scan(after=after, limit=PAGE)
        yield from page.items
        if (after := page.next) is None:
            return


def narrow(conditions: Mapping[str, Any]) -> Sequence[Where]:
    """What to ask a store for, one question after the other, to meet all turns that pass a filter that can be read."""
    return reduce(_both, (_condition(key, value) for key, value in conditions.items()), [EVERYTHING])


def _condition(key: str, value: Any) -> Sequence[Where]:
    join = join_of(key)
    if join == "NOT":
        return [EVERYTHING]
    if join is not None:
        parts = [narrow(part) for part in ([value] if isinstance(value, Mapping) else value)]
        return _either(parts) if join == "OR" else reduce(_both, parts, [EVERYTHING])
    if key == "metadata" and isinstance(value, Mapping):
        return narrow(value)
    return [_field(key, value)]


def _field(key: str, value: Any) -> Where:
    if isinstance(value, Mapping):
        return reduce(_and, (_test(key, name, wanted) for name, wanted in value.items()), EVERYTHING)
    if isinstance(value, list | tuple):
        return _test(key, "in", value)
    return EVERYTHING if value == ANY else _test(key, "eq", value)


def _test(key: str, operator: str, wanted: Any) -> Where:
    if key == "created_at":
        return _window(operator, wanted)
    if operator not in ("eq", "in"):
        return EVERYTHING
    values = [wanted] if operator == "eq" else list(wanted)
    if key in _NAMES:
        return _NAMES[key](frozenset(filter(_can_be_stored, values)))
    if key in FIELDS or "." in key or not all(isinstance(value, str) and read_time(value) is None for value in values):
        return EVERYTHING
    return Where(metadata={key: frozenset(values)})


def _can_be_stored(value: Any) -> bool:
    try:
        return isinstance(value, str) and bool(check_id("id", value))
    except InvalidValueError:
        return False


def _window(operator: str, wanted: Any) -> Where:
    """The window that holds every turn which passes; times have microseconds."""
    times = [read_time(value) for value in (wanted if operator == "in" else [wanted])]
    known = [time for time in times if time is not None]
    build = _WINDOWS.get(operator)
    if build is None or not known or len(known) < len(times):
        return EVERYTHING
    try:
        since, until = build([time.astimezone(UTC) for time in known])
    except OverflowError:
        return EVERYTHING
    return Where(since=since, until=until)


_WINDOWS: Mapping[str, Callable[[list[datetime]], tuple[datetime | None, datetime | None]]] = {
    "eq": lambda times: (times[0], times[0] + _STEP),
    "in": lambda times: (min(times), max(times) + _STEP),
    "gt": lambda times: (times[0] + _STEP, None),
    "gte": lambda times: (times[0], None),
    "lt": lambda times: (None, times[0]),
    "lte": lambda times: (None, times[0] + _STEP),
}


def _either(parts: Sequence[Sequence[Where]]) -> Sequence[Where]:
    every = [where for part in parts for where in part]
    return [EVERYTHING] if EVERYTHING in every or len(every) > MOST else every


def _both(some: Sequence[Where], others: Sequence[Where]) -> Sequence[Where]:
    if len(some) * len(others) > MOST:
        return min(some, others, key=len)
    return [_and(a, b) for a, b in product(some, others)]


def _and(a: Where, b: Where) -> Where:
    # Of two conditions on one key of metadata a question can hold one: a list there may meet both.
    return Where(
        _common(a.user_ids, b.user_ids),
        _common(a.agent_ids, b.agent_ids),
        _common(a.run_ids, b.run_ids),
        _common(a.roles, b.roles),
        max(filter(None, (a.since, b.since)), default=None),
        min(filter(None, (a.until, b.until)), default=None),
        {**a.metadata, **b.metadata},
    )


def _common(a: frozenset[str] | None, b: frozenset[str] | None) -> frozenset[str] | None:
    return b if a is None else a if b is None else a & b
