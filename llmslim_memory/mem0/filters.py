"""Mem0's filter language: conditions on a memory's fields, joined by AND, OR and NOT; true conjunction everywhere.

A filter is read once into a predicate over a memory's flat payload (its metadata and the fields ``id``, ``data``,
``memory``, ``hash``, ``role``, ``actor_id``, ``user_id``, ``agent_id``, ``run_id``, ``app_id``, ``created_at``,
``updated_at``, ``expiration_date``). Where Mem0's own stores disagree, this holds:

- ``ne`` and ``nin`` need the key to be there; NOT does not.
- ``"*"`` means that the key is there and not null.
- A field that holds a list matches if one of its entries does.
- Types are strict: ``"5"`` is not ``5``, and ``True`` is not ``1``.
- Two ISO-8601 texts compare as times, but in ids and roles; other texts as texts; a text never compares with a number.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from llmslim_memory.mem0.exceptions import ValidationError

Payload = Mapping[str, Any]
Predicate = Callable[[Payload], bool]

ANY = "*"
EXACT = frozenset({"id", "user_id", "agent_id", "run_id", "app_id", "actor_id", "role"})
"""Fields that are names: two are the same only if they are spelt the same."""

MAX_DEPTH = 32
_MISSING = object()
_JOINS = {"AND": "AND", "OR": "OR", "NOT": "NOT", "$and": "AND", "$or": "OR", "$not": "NOT"}


def compile_filter(filters: Mapping[str, Any] | None) -> Predicate:
    """Read a filter into a predicate; ``None`` and ``{}`` let everything pass.

    Raises:
        ValueError: It is no filter; the message names the part at fault.
    """
    return _all([] if filters is None else _conditions(filters, 0))


def join_of(key: object) -> str | None:
    """``"AND"``, ``"OR"`` or ``"NOT"``, if this key joins conditions."""
    return _JOINS.get(key) if isinstance(key, str) else None


def check_depth(depth: int) -> None:
    """Refuse a filter that is nested too deep to be read."""
    if depth > MAX_DEPTH:
        raise _wrong(f"the filter is nested more than {MAX_DEPTH} deep")


def _conditions(filters: object, depth: int) -> list[Predicate]:
    if not isinstance(filters, Mapping):
        raise _wrong(f"a filter must be a dict of conditions, not {type(filters).__name__}")
    check_depth(depth)
    return [_condition(key, value, depth) for key, value in filters.items()]


def _condition(key: object, value: Any, depth: int) -> Predicate:
    if not isinstance(key, str):
        raise _wrong(f"a filter's keys must be strings, not {type(key).__name__} ({key!r})")
    name = join_of(key)
    if name == "AND":
        return _all([_all(part) for part in _parts(name, value, depth, may_be_empty=True)])
    if name == "OR":
        return _any([_all(part) for part in _parts(name, value, depth)])
    if name == "NOT":
        return _none([_all(part) for part in _parts(name, value, depth)])
    if key == "metadata" and isinstance(value, Mapping):
        return _all(_conditions(value, depth + 1))
    return _field(key, value)


def _parts(name: str, value: object, depth: int, *, may_be_empty: bool = False) -> list[list[Predicate]]:
    parts = [value] if isinstance(value, Mapping) else value
    if not isinstance(parts, list | tuple):
        raise _wrong(f"{name} requires a list of conditions, not {type(value).__name__}")
    if not parts and not may_be_empty:
        raise _wrong(f"{name} requires a non-empty list of conditions")
    return [_conditions(part, depth + 1) for part in parts]


def _field(key: str, value: Any) -> Predicate:
    if isinstance(value, Mapping):
        return _all([_operator(key, name, wanted) for name, wanted in _operators(key, value).items()])
    if isinstance(value, list | tuple):
        return _on(key, _is_in(key, value))
    if value == ANY and isinstance(value, str):
        return lambda payload: _look_up(payload, key) not in (_MISSING, None)
    return _on(key, _is(key, value))


def _operators(key: str, value: Mapping[str, Any]) -> Mapping[str, Any]:
    unknown = [name for name in value if name not in _OPERATORS]
    if unknown or not value:
        named = f"operator {unknown[0]!r}" if unknown else "{}"
        raise _wrong(f"Unsupported filter operator(s) for {key!r}: {named}; pass one of {', '.join(_OPERATORS)}")
    return value


def _operator(key: str, name: str, wanted: Any) -> Predicate:
    return _on(key, _OPERATORS[name](key, wanted))


def _on(key: str, test: Callable[[Any], bool]) -> Predicate:
    """Hold ``test`` against the field; never true where it is missing."""

    def holds(payload: Payload) -> bool:
        found = _look_up(payload, key)
        return found is not _MISSING and test(found)

    return holds


def _look_up(payload: Payload, key: str) -> Any:
    if key in payload:
        return payload[key]
    found: Any = payload
    for part in key.split("."):
        if not isinstance(found, Mapping) or part not in found:
            return _MISSING
        found = found[part]
    return found


def _each(found: Any, test: Callable[[Any], bool]) -> bool:
    return any(map(test, found)) if isinstance(found, list) else test(found)


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, bool) or isinstance(b, bool):
        return a is b
    times = _times(a, b)
    return times[0] == times[1] if times else a == b


def _is(key: str, wanted: Any) -> Callable[[Any], bool]:
    same = operator.eq if key in EXACT else _same
    return lambda found: same(found, wanted) or _each(found, lambda entry: same(entry, wanted))


def _is_not(key: str, wanted: Any) -> Callable[[Any], bool]:
    same = _is(key, wanted)
    return lambda found: not same(found)


def _is_in(key: str, wanted: object) -> Callable[[Any], bool]:
    if not isinstance(wanted, list | tuple | set | frozenset):
        raise _wrong(f"the values that {key!r} may have must be a list, not {type(wanted).__name__}")
    tests = [_is(key, value) for value in wanted]
    return lambda found: any(test(found) for test in tests)


def _not_in(key: str, wanted: object) -> Callable[[Any], bool]:
    inside = _is_in(key, wanted)
    return lambda found: not inside(found)


def _contains(_key: str, wanted: object, *, fold: bool = False) -> Callable[[Any], bool]:
    def test(entry: Any) -> bool:
        if isinstance(entry, str) and isinstance(wanted, str):
            return wanted.casefold() in entry.casefold() if fold else wanted in entry
        return _same(entry, wanted)

    return lambda found: _each(found, test)


def _compares(rule: Callable[[Any, Any], bool]) -> Callable[[str, object], Callable[[Any], bool]]:
    def build(key: str, wanted: object) -> Callable[[Any], bool]:
        if isinstance(wanted, bool) or not isinstance(wanted, int | float | str | datetime):
            raise _wrong(f"{key!r} can be compared with a number, a time or a text, not {type(wanted).__name__}")
        return lambda found: _each(found, lambda entry: _ordered(entry, wanted, rule))

    return build


def _ordered(found: Any, wanted: Any, rule: Callable[[Any, Any], bool]) -> bool:
    if times := _times(found, wanted):
        return rule(*times)
    if isinstance(found, bool) or isinstance(found, str) != isinstance(wanted, str):
        return False
    return isinstance(found, int | float | str) and isinstance(wanted, int | float | str) and rule(found, wanted)


def _times(a: Any, b: Any) -> tuple[datetime, datetime] | None:
    first = read_time(a)
    second = None if first is None else read_time(b)
    return None if first is None or second is None else (first, second)


def read_time(value: Any) -> datetime | None:
    """The time that a value is taken for: a datetime, or ISO-8601 text."""
    if isinstance(value, str) and len(value) >= 10 and value[:4].isdigit() and value[4] == "-":
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            return None
    if not isinstance(value, datetime):
        return None
    return value.replace(tzinfo=UTC) if value.tzinfo is None else value


_OPERATORS: Mapping[str, Callable[[str, Any], Callable[[Any], bool]]] = {
    "eq": _is,
    "ne": _is_not,
    "gt": _compares(lambda a, b: bool(a > b)),
    "gte": _compares(lambda a, b: bool(a >= b)),
    "lt": _compares(lambda a, b: bool(a < b)),
    "lte": _compares(lambda a, b: bool(a <= b)),
    "in": _is_in,
    "nin": _not_in,
    "contains": _contains,
    "icontains": lambda key, wanted: _contains(key, wanted, fold=True),
}


def _all(tests: Sequence[Predicate]) -> Predicate:
    return lambda payload: all(test(payload) for test in tests)


def _any(tests: Sequence[Predicate]) -> Predicate:
    return lambda payload: any(test(payload) for test in tests)


def _none(tests: Sequence[Predicate]) -> Predicate:
    return lambda payload: not any(test(payload) for test in tests)


def _wrong(message: str) -> ValidationError:
    return ValidationError(message, "VALIDATION_004")
