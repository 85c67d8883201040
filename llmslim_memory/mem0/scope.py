"""Whose memories a call is about: ids at top level, ids in ``filters``, or both, always joined by AND."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from llmslim_memory.mem0.exceptions import ValidationError
from llmslim_memory.mem0.filters import ANY

IDS = ("user_id", "agent_id", "run_id")
HOSTED_IDS = (*IDS, "app_id")


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


def read_scope(
    given: Mapping[str, Any], filters: Mapping[str, Any] | None, method: str, *, strict: bool = False
) -> Asked:
    """What a search or listing is about.

    ``"*"`` as an id means "any", and needs another id beside it. ``None`` counts as not given.

    Raises:
        ValueError: No id says whose memories, or two ids contradict each other.
    """
    if filters is not None and not isinstance(filters, Mapping):
        raise ValidationError(f"filters must be a dict, not {type(filters).__name__}", "VALIDATION_004")
    conditions = {name: value for name, value in (filters or {}).items() if value is not None}
    ids: dict[str, str] = {}
    for name in HOSTED_IDS:
        for value in (given.get(name), conditions.pop(name, None)):
            if isinstance(value, Mapping | list | tuple):
                conditions[name] = value
            elif (cleaned := clean_id(value, name, strict=strict)) is not None:
                _agree(ids, name, cleaned)
    fixed = {name: value for name, value in ids.items() if value != ANY}
    conditions |= {name: ANY for name, value in ids.items() if value == ANY}
    if not fixed and not _names_someone(conditions):
        raise ValidationError(
            "filters must contain at least one of: user_id, agent_id, run_id (or pass one to "
            f"{method}()). Example: filters={{'user_id': 'u1'}}",
            "VALIDATION_001",
        )
    return Asked(fixed, conditions)


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
        if key.upper() == "AND" and isinstance(parts, list | tuple) and any(_part_binds(part) for part in parts):
            return True
        if key.upper() == "OR" and isinstance(parts, list | tuple) and parts and all(map(_part_binds, parts)):
            return True
    return False


def _part_binds(part: Any) -> bool:
    return isinstance(part, Mapping) and _names_someone(part)


def _binds(value: Any) -> bool:
    if isinstance(value, Mapping):
        return any(name in ("eq", "in") and wanted not in (None, ANY, []) for name, wanted in value.items())
    return value not in (None, ANY, [])
