"""Times given in any usual form, read as aware UTC datetimes."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime, time

from llmslim_memory.errors import InvalidTypeError, InvalidValueError


def parse_time(value: object, name: str = "timestamp") -> datetime:
    """Return ``value`` as an aware UTC datetime.

    Args:
        value: An aware datetime, a naive one (taken as UTC), a date (its first moment, UTC), epoch seconds, or
            ISO-8601 text.
        name: What the value is called in an error message.

    Raises:
        ValueError: The text is not ISO-8601, or the time lies outside the years 1 to 9999.
        TypeError: It is none of the forms above.
    """
    try:
        if isinstance(value, datetime):
            return _to_utc(value)
        if isinstance(value, date):
            return datetime.combine(value, time(), UTC)
        if isinstance(value, str):
            return _to_utc(datetime.fromisoformat(value.strip()))
        if isinstance(value, int | float) and not isinstance(value, bool):
            return _from_epoch(value, name)
    except (ValueError, OverflowError, OSError) as error:
        if isinstance(error, InvalidValueError):
            raise
        raise InvalidValueError(
            f"{name} {value!r} is not a time: pass a datetime, epoch seconds or ISO-8601 text like 2026-03-01T09:30:00Z"
        ) from error
    raise InvalidTypeError(
        f"{name} must be a datetime, epoch seconds or ISO-8601 text, not {type(value).__name__} ({value!r})"
    )


def _to_utc(value: datetime) -> datetime:
    return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


def _from_epoch(value: float, name: str) -> datetime:
    if not math.isfinite(value):
        raise InvalidValueError(f"{name} {value!r} is not a time: pass finite epoch seconds")
    if abs(value) > 253_402_300_799:
        raise InvalidValueError(
            f"{name} {value!r} lies beyond the year 9999: epoch seconds are taken, not milliseconds"
        )
    return datetime.fromtimestamp(value, UTC)
