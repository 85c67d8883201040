"""Times as a reader sees them: in the caller's zone and format, with English names whatever the process's locale."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, tzinfo
from functools import lru_cache

REMEMBERED = 16_384
"""Times whose text is kept: a search dates every turn it considers."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
           "December")  # fmt: skip
_NAMES = re.compile(r"%([aAbBh%])")


def moment(microseconds: int) -> datetime:
    """The UTC time this many microseconds after 1970."""
    return _EPOCH + timedelta(microseconds=int(microseconds))


def format_time(microseconds: int, tz: tzinfo, pattern: str) -> str:
    """The time in zone ``tz`` by a strftime ``pattern``; the same text in every locale."""
    if type(tz).__hash__ is None:  # a zone of the caller's that cannot be remembered
        return _format.__wrapped__(microseconds, tz, pattern)
    return _format(microseconds, tz, pattern)


@lru_cache(maxsize=REMEMBERED)
def _format(microseconds: int, tz: tzinfo, pattern: str) -> str:
    said = _in_zone(moment(microseconds), tz)
    return said.strftime(_NAMES.sub(lambda match: _name(match[1], said), pattern))


def _in_zone(said: datetime, tz: tzinfo) -> datetime:
    try:
        return said.astimezone(tz)
    except OverflowError:  # within a day of the year 1 or 9999, where the zone's own time has no date
        return said


def _name(code: str, said: datetime) -> str:
    if code == "%":
        return "%%"
    name = _DAYS[said.weekday()] if code in "aA" else _MONTHS[said.month - 1]
    return name if code in "AB" else name[:3]
