"""The arguments that `Memory` takes, checked: a wrong one is named at once, with what to pass instead."""

from __future__ import annotations

from collections.abc import Collection
from datetime import UTC, datetime, tzinfo
from typing import Any

from llmslim_memory.errors import InvalidTypeError, InvalidValueError

COVERAGES = ("auto", "always", "never")
CONFLICT_RULES = ("error", "keep", "update")


def check_count(name: str, value: object, *, least: int = 1) -> int:
    """Return ``value`` if it is a whole number of at least ``least``."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise InvalidTypeError(f"{name} must be a whole number, not {type(value).__name__} ({value!r})")
    if value < least:
        raise InvalidValueError(f"{name} is {value}; it must be at least {least}")
    return value


def check_choice(name: str, value: object, choices: Collection[str]) -> str:
    """Return ``value`` if it is one of ``choices``."""
    if not isinstance(value, str) or value not in choices:
        raise InvalidValueError(f"{name} is {value!r}; pass one of {', '.join(map(repr, choices))}")
    return value


def check_flag(name: str, value: object) -> bool:
    """Return ``value`` if it is True or False."""
    if not isinstance(value, bool):
        raise InvalidTypeError(f"{name} must be True or False, not {type(value).__name__} ({value!r})")
    return value


def check_query(value: object) -> str:
    """Return ``value`` if it is text."""
    if not isinstance(value, str):
        raise InvalidTypeError(f"the query must be text, not {type(value).__name__}")
    return value


def check_ids(name: str, value: object) -> frozenset[str]:
    """Return a collection of ids as a set; a single string is refused, being a collection of its letters."""
    if isinstance(value, str) or not isinstance(value, Collection):
        raise InvalidTypeError(f"{name} must be a collection of ids, not {type(value).__name__}")
    if wrong := [entry for entry in value if not isinstance(entry, str)]:
        raise InvalidTypeError(f"{name} must hold strings, not {type(wrong[0]).__name__} ({wrong[0]!r})")
    return frozenset(value)


def check_zone(value: object) -> tzinfo:
    """Return ``value`` if it is a time zone."""
    if not isinstance(value, tzinfo):
        raise InvalidTypeError(f"tz must be a tzinfo such as zoneinfo.ZoneInfo('Asia/Kolkata'), not {value!r}")
    return value


def check_format(name: str, value: object) -> str:
    """Return ``value`` if ``strftime`` takes it and it gives a single line."""
    if not isinstance(value, str):
        raise InvalidTypeError(f"{name} must be a strftime format, not {type(value).__name__} ({value!r})")
    try:
        shown = datetime(2026, 10, 17, 14, 5, tzinfo=UTC).strftime(value)
        shown.encode()
    except ValueError as error:
        raise InvalidValueError(f"{name} {value!r} is not a strftime format") from error
    if len(shown.splitlines()) > 1 or "\x00" in shown:
        raise InvalidValueError(f"{name} {value!r} must give one line of text")
    return value


def check_relevance(value: Any) -> Any:
    """Return ``value`` if it names a relevance or is a scorer."""
    if callable(value) or (isinstance(value, str) and value.strip()):
        return value
    raise InvalidTypeError(
        f"relevance is {value!r}; pass 'lexical', 'semantic', a model's name or path, or scorer(query, texts)"
    )
