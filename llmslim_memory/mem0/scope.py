"""Whose memories a call is about: ids at top level, ids in ``filters``, or both, always joined by AND."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from llmslim_memory.mem0.exceptions import ValidationError
from llmslim_memory.mem0.filters import ANY, check_depth, join_of

IDS = ("user_id", "agent_id", "run_id")
HOSTED_IDS = (*IDS, "app_id")
APP_AGENT = "mem0-app:"
"""What the agent's name begins with that holds the memories of an app which name no user, agent or run."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What a read is about: the ids that must be equal, and the conditions that remain."""

    ids: Mapping[str, str]
    conditions: Mapping[str, Any] = field(default_factory=dict)


def clean_id(value: Any, name: str, *, strict: bool = False) -> str | None:
    """An id as Mem0 takes it: trimmed, numbers as text; with ``strict``, without inner white space, as 2.x demands.

    Raises:
        ValueError: It is empty, or (strict) holds white space.
    """
    if value is None:
        return None
    text = str(value).strip()
    if not text:
        raise ValidationError(
            f"Invalid {name}: cannot be empty or whitespace-only. Provide a valid identifier.", "VALIDATION_001"
        )
    if strict and any(char.isspace() for char in text):
        raise ValidationError(
            f"Invalid {name}: cannot contain whitespace. Provide a valid identifier.", "VALIDATION_001"
        )
    return text


def ids_to_write(given: Mapping[str, Any], *, strict: bool = False) -> dict[str, str]:
    """The ids that a new memory is stored under, or that ``delete_all`` deletes: at least one, and no ``"*"``."""
    ids = {name: cleaned for name, value in given.items() if (cleaned := clean_id(value, name, strict=strict))}
    if not ids:
        raise ValidationError("At least one of 'user_id', 'agent_id', or 'run_id' must be provided.", "VALIDATION_001")
    for name, value in ids.items():
        if value == ANY:
            raise ValidationError(f"{name} cannot be '*' here: name whose memories they are", "VALIDATION_001")
    return ids


def stored_ids(ids: Mapping[str, str]) -> dict[str, str]:
    """The ids that a turn is stored under; a memory of an app alone needs one, and gets an agent of the app's own."""
    named = {name: ids[name] for name in IDS if name in ids}
    return named or {"agent_id": f"{APP_AGENT}{ids['app_id']}"}


def read_scope(
    given: Mapping[str, Any],
    filters: Mapping[str, Any] | None,
    method: str,
    *,
    strict: bool = False,
    allow_all: bool = False,
) -> Asked:
    """What a search or listing is about.

    ``"*"`` as an id means "any", and needs another id beside it, or ``allow_all``. What is ``None`` counts as not
    written.

    Raises:
        ValueError: No id says whose memories, or two ids contradict each other.
    """
    if filters is not None and not isinstance(filters, Mapping):
        raise ValidationError(f"filters must be a dict, not {type(filters).__name__}", "VALIDATION_004")
    conditions = _written(filters or {}, 0)
    ids: dict[str, str] = {}
    for name in HOSTED_IDS:
        for value in (given.get(name), conditions.pop(name, None)):
            if isinstance(value, Mapping | list | tuple):
                conditions[name] = value
            elif (cleaned := clean_id(value, name, strict=strict)) is not None:
                _agree(ids, name, cleaned)
    for name, value in _conjoined(conditions):
        ids.setdefault(name, value)
    fixed = {name: value for name, value in ids.items() if value != ANY}
    conditions |= {name: ANY for name, value in ids.items() if value == ANY}
    everyone = allow_all is True and ANY in ids.values()
    if not fixed and not everyone and not _names_someone(conditions):
        raise ValidationError(
            "filters must contain at least one of: user_id, agent_id, run_id (or pass one to "
            f"{method}()). Example: filters={{'user_id': 'u1'}}. '*' alone, which is everyone, needs allow_all=True.",
            "VALIDATION_001",
        )
    return Asked(fixed, conditions)


def _written(filters: Mapping[str, Any], depth: int) -> dict[str, Any]:
    """Filters without what is ``None`` or holds nothing else, and with ids as text, as they are stored."""
    read = {name: _value(name, value, depth) for name, value in filters.items() if value is not None}
    return {name: value for name, value in read.items() if value is not None}


def _value(key: str, value: Any, depth: int) -> Any:
    check_depth(depth)
    if key in HOSTED_IDS:
        return _id_texts(value)
    if key == "metadata" and isinstance(value, Mapping):
        return _written(value, depth + 1) or None
    if join_of(key) is None or not isinstance(value, Mapping | list | tuple):
        return value
    parts = [value] if isinstance(value, Mapping) else value
    read = [_written(part, depth + 1) if isinstance(part, Mapping) else part for part in parts]
    kept = [part for part, before in zip(read, parts, strict=True) if part or not before]
    return kept if kept or not parts else None


def _id_texts(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _id_texts(wanted) for name, wanted in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_id_texts(entry) for entry in value]
    return str(value).strip() if isinstance(value, str | int) else value


def _conjoined(conditions: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The ids that the parts of an AND fix: the store can be asked for them. The conditions hold all the same."""
    for key, value in conditions.items():
        parts = [value] if isinstance(value, Mapping) else value
        if join_of(key) != "AND" or not isinstance(parts, list | tuple):
            continue
        for part in parts:
            if isinstance(part, Mapping):
                yield from ((name, part[name]) for name in HOSTED_IDS if isinstance(part.get(name), str) and part[name])
                yield from _conjoined(part)


def _agree(ids: dict[str, str], name: str, value: str) -> None:
    if ids.setdefault(name, value) != value:
        raise ValidationError(
            f"{name} is given twice, as {ids[name]!r} and {value!r}: pass one of them", "VALIDATION_001"
        )


def _names_someone(conditions: Mapping[str, Any]) -> bool:
    """Whether the conditions bind every memory found to some named user, agent, app or run."""
    for key, value in conditions.items():
        if key in HOSTED_IDS and value != ANY and _binds(value):
            return True
        parts = [value] if isinstance(value, Mapping) else value
        if join_of(key) == "AND" and isinstance(parts, list | tuple) and any(_part_binds(part) for part in parts):
            return True
        if join_of(key) == "OR" and isinstance(parts, list | tuple) and parts and all(map(_part_binds, parts)):
            return True
    return False


def _part_binds(part: Any) -> bool:
    return isinstance(part, Mapping) and _names_someone(part)


def _binds(value: Any) -> bool:
    if isinstance(value, Mapping):
        return any(name in ("eq", "in") and wanted not in (None, ANY, []) for name, wanted in value.items())
    return value not in (None, ANY, [])
