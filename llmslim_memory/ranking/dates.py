"""Times in words: dates that a text names, and the stretch of time that a question asks about."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from datetime import UTC, date, datetime, timedelta, tzinfo
from typing import NamedTuple

_MONTHS = ("january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
           "december")  # fmt: skip
_MONTH_NUMBER = {form: at for at, name in enumerate(_MONTHS, 1) for form in (name, name[:3])} | {"sept": 9}
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
_MONTH = "(?P<month>" + "|".join(sorted(_MONTH_NUMBER, key=len, reverse=True)) + r")\b\.?"
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_YEAR = r"(?P<year>(?:19|20)\d\d)"
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


def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){text}(?!\w)", re.IGNORECASE)


_DATE_PATTERNS = (
    re.compile(r"(?<![\w-])(?P<year>(?:19|20)\d\d)-(?P<month>\d{1,2})-(?P<day>\d{1,2})(?![\w-])"),
    re.compile(r"(?P<year>(?:19|20)\d\d)\s*[年년]\s*(?P<month>\d{1,2})\s*[月월]\s*(?P<day>\d{1,2})\s*[日号일]"),
    _pattern(rf"{_MONTH}\s+{_DAY}(?:,?\s+{_YEAR})?"),
    _pattern(rf"{_DAY}\s+(?:of\s+)?{_MONTH}(?:,?\s+{_YEAR})?"),
)
_YEAR_IN = re.compile(r"^(?:19|20)\d\d-\d|[年년]")
_YEAR_ANYWHERE = re.compile(r"(?:19|20)\d\d-\d")
_REACH = 14
"""How far around its month the rest of a date is looked for."""


class NamedDate(NamedTuple):
    """A day that a text names, and where; ``year`` is ``None`` where it names none."""

    start: int
    year: int | None
    month: int
    day: int

    def terms(self) -> list[str]:
        """What the day is indexed as: with its year, and without."""
        short = f"@{self.month:02d}-{self.day:02d}"
        return [short] if self.year is None else [short, f"@{self.year}-{short[1:]}"]


def _month(text: str) -> int:
    return int(text) if text.isdigit() else _MONTH_NUMBER[text.lower()]


def dated_words(words: Collection[str], text: str) -> set[str]:
    """Those of the words of ``text`` that name a month or begin with a year, so that they may belong to a date."""
    if _MONTH_NUMBER.keys().isdisjoint(map(str.lower, words)) and not _names_year(text):
        return set()
    return {word for word in words if _may_be_dated(word)}


def _names_year(text: str) -> bool:
    """Whether a word of the text may begin with a year; looking for its century first takes far less time."""
    if ("20" in text or "19" in text) and _YEAR_ANYWHERE.search(text):
        return True
    return not text.isascii() and ("年" in text or "년" in text)


def _may_be_dated(word: str) -> bool:
    return word.lower() in _MONTH_NUMBER or _YEAR_IN.search(word) is not None


def named_dates(text: str, words: Iterable[tuple[int, str]]) -> Iterator[NamedDate]:
    """The days that a text names ("May 3, 2023", "3rd of May", "2023-05-03", "2023年5月3日").

    Args:
        text: The text.
        words: Its words and identifiers with where each begins; dates are looked for around those that name a month
            or begin with a year, which is far cheaper than to look everywhere.
    """
    done = 0
    for start, word in words:
        if start < done or not _may_be_dated(word):
            continue
        around = max(done, start - _REACH), min(len(text), start + len(word) + _REACH)
        found = [match for pattern in _DATE_PATTERNS for match in pattern.finditer(text, *around)]
        for match in found:
            month, day = _month(match["month"]), int(match["day"])
            if match.start() < start + len(word) and start < match.end() and 1 <= month <= 12 and 1 <= day <= 31:
                done = match.end()
                yield NamedDate(match.start(), int(match["year"]) if match["year"] else None, month, day)
                break


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
    month, day = _month(match["month"]), int(match["day"])
    year = int(match["year"]) if match["year"] else today.year
    found = date(year, month, day)
    if not match["year"] and found > today:
        found = date(year - 1, month, day)
    return Stretch(found, found + timedelta(1), relative=False)


def _named_month(match: re.Match[str], today: date) -> Stretch:
    month = _month(match["month"])
    year = match.groupdict().get("year")
    if year:
        number = int(year)
    else:
        last = (match.groupdict().get("which") or "").lower() in ("last", "past", "previous")
        number = today.year if month < today.month or (month == today.month and not last) else today.year - 1
    return Stretch(_first_of(number, month), _first_of(number, month + 1), relative=False)


def _named_year(match: re.Match[str], today: date) -> Stretch:  # noqa: ARG001
    year = int(match["year"])
    return Stretch(date(year, 1, 1), date(year + 1, 1, 1), relative=False)


def _days_back(back: int) -> Callable[[re.Match[str], date], Stretch]:
    return lambda _, today: Stretch(*_span_of("day", today, back), relative=True)


_QUESTION_PATTERNS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str], date], Stretch]], ...] = (
    *((pattern, _named_day) for pattern in _DATE_PATTERNS),
    (re.compile(r"(?<![\w-])(?P<year>(?:19|20)\d\d)-(?P<month>\d{1,2})(?![\w-])"), _named_month),
    (re.compile(r"(?P<year>(?:19|20)\d\d)\s*[年년]\s*(?P<month>\d{1,2})\s*[月월]"), _named_month),
    (_pattern(rf"{_MONTH}(?:\s+of)?,?\s+{_YEAR}"), _named_month),
    (_pattern(rf"(?:(?P<which>last|past|previous|this)|{_IN})\s+{_MONTH}"), _named_month),
    (_pattern(rf"{_IN}\s+{_YEAR}"), _named_year),
    (_pattern(r"(?:the\s+)?day\s+before\s+yesterday"), _days_back(2)),
    (_pattern(r"yesterday|last\s+night"), _days_back(1)),
    (_pattern(r"today|tonight|this\s+(?:morning|afternoon|evening)"), _days_back(0)),
    (_pattern(rf"(?:a\s+)?{_COUNT}\s+{_UNIT}\s+(?:ago|back|earlier)"), _ago),
    (_pattern(rf"(?:in|over|during|within|for)\s+the\s+(?:last|past|previous)\s+{_COUNT}\s+{_UNIT}"), _within),
    (_pattern(r"(?P<which>last|past|previous|this)\s+weekend"), _weekend),
    (_pattern(rf"(?:the\s+)?(?P<which>last|past|previous|this)\s+{_UNIT}"), _last_unit),
    (_pattern(rf"(?:last|past|previous|this|on)\s+(?P<weekday>{'|'.join(_WEEKDAYS)})"), _weekday),
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
    for pattern, read in _QUESTION_PATTERNS:
        for match in pattern.finditer(unread):
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
