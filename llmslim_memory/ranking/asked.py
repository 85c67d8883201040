"""The stretches of time that a question asks about."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta, tzinfo
from typing import NamedTuple

from llmslim_memory.ranking.dates import (
    DATE_PATTERNS,
    HAN_MONTH,
    HAN_YEAR,
    MONTH,
    YEAR,
    month_number,
    number,
    pattern,
    read_date,
)

_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_NUMBERS = {
    word: number
    for number, words in enumerate(
        (
            "",
            "a an one",
            "two couple",
            "three few",
            "four",
            "five",
            "six",
            "seven",
            "eight",
            "nine",
            "ten",
            "eleven",
            "twelve",
        )
    )
    for word in words.split()
}
_COUNT = r"(?P<count>\d{1,4}|" + "|".join(sorted(_NUMBERS, key=len, reverse=True)) + r")(?:\s+of)?"
_UNIT = r"(?P<unit>day|week|month|year)s?"
_IN = r"(?:in|during|since|from|of|by|until|till|around|early|late|mid)"


class Stretch(NamedTuple):
    """A stretch of local days, the last one not included, and whether its words say nothing about the topic."""

    first: date
    after: date
    relative: bool


class AskedTime(NamedTuple):
    """The times a question asks about, as UTC microseconds since 1970, and the question without relative time words."""

    spans: tuple[tuple[int, int], ...]
    rest: str


def _first_of(year: int, month: int) -> date:
    """The first day of a month that may lie outside the year."""
    return date(year + (month - 1) // 12, (month - 1) % 12 + 1, 1)


def _span_of(unit: str, today: date, back: int) -> tuple[date, date]:
    """The whole day, week, month or year that lies ``back`` of them before today's."""
    if unit == "day":
        return today - timedelta(back), today - timedelta(back - 1)
    if unit == "week":
        monday = today - timedelta(today.weekday() + 7 * back)
        return monday, monday + timedelta(7)
    if unit == "month":
        return _first_of(today.year, today.month - back), _first_of(today.year, today.month - back + 1)
    return date(today.year - back, 1, 1), date(today.year - back + 1, 1, 1)


def _count(match: re.Match[str]) -> int:
    text = match["count"].lower()
    return int(text) if text.isdigit() else _NUMBERS[text]


def _ago(match: re.Match[str], today: date) -> Stretch:
    """So many units back, give or take half a unit, since people round."""
    count, unit = _count(match), match["unit"].lower()
    if unit == "day":
        return Stretch(*_span_of("day", today, count), relative=True)
    if unit == "week":
        middle = today - timedelta(7 * count)
        return Stretch(middle - timedelta(3), middle + timedelta(4), relative=True)
    return Stretch(*_span_of(unit, today, count), relative=True)


def _within(match: re.Match[str], today: date) -> Stretch:
    days = {"day": 1, "week": 7, "month": 31, "year": 366}[match["unit"].lower()] * _count(match)
    return Stretch(today - timedelta(days), today + timedelta(1), relative=True)


def _last_unit(match: re.Match[str], today: date) -> Stretch:
    back = 0 if match["which"].lower() == "this" else 1
    return Stretch(*_span_of(match["unit"].lower(), today, back), relative=True)


def _weekend(match: re.Match[str], today: date) -> Stretch:
    begun = today.weekday() >= 5 and match["which"].lower() == "this"
    monday = today - timedelta(today.weekday() + (0 if begun else 7))
    return Stretch(monday + timedelta(5), monday + timedelta(7), relative=True)


def _weekday(match: re.Match[str], today: date) -> Stretch:
    back = (today.weekday() - _WEEKDAYS.index(match["weekday"].lower()) - 1) % 7 + 1
    day = today - timedelta(back)
    return Stretch(day, day + timedelta(1), relative=True)


def _named_day(match: re.Match[str], today: date) -> Stretch:
    year, month, day = read_date(match)
    found = date(year or today.year, month, day)
    if year is None and found > today:
        found = date(today.year - 1, month, day)
    return Stretch(found, found + timedelta(1), relative=False)


def _named_month(match: re.Match[str], today: date) -> Stretch:
    month = month_number(match["month"])
    year = match.groupdict().get("year")
    if year:
        counted = number(year)
    else:
        last = (match.groupdict().get("which") or "").lower() in ("last", "past", "previous")
        counted = today.year if month < today.month or (month == today.month and not last) else today.year - 1
    return Stretch(_first_of(counted, month), _first_of(counted, month + 1), relative=False)


def _named_year(match: re.Match[str], today: date) -> Stretch:  # noqa: ARG001
    year = int(match["year"])
    return Stretch(date(year, 1, 1), date(year + 1, 1, 1), relative=False)


def _days_back(back: int) -> Callable[[re.Match[str], date], Stretch]:
    return lambda _, today: Stretch(*_span_of("day", today, back), relative=True)


_QUESTION_PATTERNS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str], date], Stretch]], ...] = (
    *((pattern, _named_day) for pattern in DATE_PATTERNS),
    (re.compile(r"(?<![\w-])(?P<year>(?:19|20)\d\d)-(?P<month>\d{1,2})(?![\w-])"), _named_month),
    (re.compile(rf"{HAN_YEAR}\s*{HAN_MONTH}"), _named_month),
    (pattern(rf"{MONTH}(?:\s+of)?,?\s+{YEAR}"), _named_month),
    (pattern(rf"(?:(?P<which>last|past|previous|this)|{_IN})\s+{MONTH}"), _named_month),
    (pattern(rf"{_IN}\s+{YEAR}"), _named_year),
    (pattern(r"(?:the\s+)?day\s+before\s+yesterday"), _days_back(2)),
    (pattern(r"yesterday|last\s+night"), _days_back(1)),
    (pattern(r"today|tonight|this\s+(?:morning|afternoon|evening)"), _days_back(0)),
    (pattern(rf"(?:a\s+)?{_COUNT}\s+{_UNIT}\s+(?:ago|back|earlier)"), _ago),
    (pattern(rf"(?:in|over|during|within|for)\s+the\s+(?:last|past|previous)\s+{_COUNT}\s+{_UNIT}"), _within),
    (pattern(r"(?P<which>last|past|previous|this)\s+weekend"), _weekend),
    (pattern(rf"(?:the\s+)?(?P<which>last|past|previous|this)\s+{_UNIT}"), _last_unit),
    (pattern(rf"(?:last|past|previous|this|on)\s+(?P<weekday>{'|'.join(_WEEKDAYS)})"), _weekday),
)


def asked_time(question: str, now: datetime, tz: tzinfo) -> AskedTime:
    """Find the stretches of time that a question asks about.

    Args:
        question: The question.
        now: What relative times refer to.
        tz: Whose days they are.

    Returns:
        The stretches, and the question without the words of relative times: "last week" is about a time, and a turn
        that says "last week" is not about that week.
    """
    today = now.astimezone(tz).date()
    spans: list[tuple[int, int]] = []
    rest = unread = question
    for expression, read in _QUESTION_PATTERNS:
        for match in expression.finditer(unread):
            try:
                stretch = read(match, today)
                span = _microseconds(stretch.first, tz), _microseconds(stretch.after, tz)
            except (ValueError, OverflowError):  # no such day, or beyond the calendar
                continue
            spans.append(span)
            unread = _blank(unread, match)
            rest = _blank(rest, match) if stretch.relative else rest
    return AskedTime(tuple(spans), rest)


def _blank(text: str, match: re.Match[str]) -> str:
    return text[: match.start()] + " " * len(match.group()) + text[match.end() :]


def _microseconds(day: date, tz: tzinfo) -> int:
    midnight = datetime(day.year, day.month, day.day, tzinfo=tz).astimezone(UTC)
    return (midnight - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)
