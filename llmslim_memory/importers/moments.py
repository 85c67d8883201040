"""Times as chat exports write them, read leniently: an aware UTC datetime, or none."""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime

_FRACTION = re.compile(r"(\.\d{6})\d+")
_NUMBER = re.compile(r"\d{1,20}(\.\d{1,20})?")
_EARLIEST = datetime(1970, 1, 1, tzinfo=UTC)
_LATEST = datetime(2100, 1, 1, tzinfo=UTC)
_MILLISECONDS = 1e11
_MICROSECONDS = 1e14


def read_moment(value: object) -> datetime | None:
    """The time that ``value`` means, or ``None``; never raises.

    ISO-8601 text (a naive time is UTC, a fraction is cut to microseconds) and epoch seconds, milliseconds or
    microseconds as a number or numeric text are understood. Times outside of 1970 to 2100 are no times: exporters
    write 0 and the like for "unknown".
    """
    try:
        found = _from_text(value) if isinstance(value, str) else _from_number(value)
    except (ValueError, OverflowError, OSError):
        return None
    return found if found is not None and _EARLIEST < found < _LATEST else None


def _from_text(text: str) -> datetime | None:
    text = text.strip()
    if not text or len(text) > 64:
        return None
    if _NUMBER.fullmatch(text) and len(text) != len("20260910"):
        return _from_number(float(text))
    found = datetime.fromisoformat(_FRACTION.sub(r"\1", text))
    return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)


def _from_number(value: object) -> datetime | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    scale = 1e6 if value > _MICROSECONDS else 1e3 if value > _MILLISECONDS else 1
    return datetime.fromtimestamp(value / scale, UTC)
