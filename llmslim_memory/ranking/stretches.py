"""Stretches of days on the calendar: a day, week, month, season or year, parts of them, and from one to another."""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Callable
from datetime import date, timedelta
from typing import NamedTuple

SEASON_MONTH = {"spring": 3, "summer": 6, "autumn": 9, "winter": 12}
_LONG = 3650


class Stretch(NamedTuple):
    """A stretch of local days, the last one not included, and whether its words say nothing about the topic."""

    first: date
    after: date
    relative: bool = False


Reader = Callable[[re.Match[str], date], Stretch]
"""What a match in a question means today; a ``ValueError`` or ``KeyError`` if nothing."""


class Named(NamedTuple):
    """What a text names of a date: any of year, month and day."""

    year: int | None
    month: int | None
    day: int | None


def first_of(year: int, month: int) -> date:
    """The first day of a month that may lie outside the year."""
    return date(year + (month - 1) // 12, (month - 1) % 12 + 1, 1)


def span_of(unit: str, today: date, back: int) -> tuple[date, date]:
    """The whole day, week, month, quarter or year that lies ``back`` of them before today's."""
    if unit == "day":
        return today - timedelta(back), today - timedelta(back - 1)
    if unit == "week":
        monday = today - timedelta(today.weekday() + 7 * back)
        return monday, monday + timedelta(7)
    if unit == "month":
        return first_of(today.year, today.month - back), first_of(today.year, today.month - back + 1)
    if unit == "quarter":
        begin = today.month - (today.month - 1) % 3 - 3 * back
        return first_of(today.year, begin), first_of(today.year, begin + 3)
    return date(today.year - back, 1, 1), date(today.year - back + 1, 1, 1)


def ago(count: int, unit: str, today: date) -> Stretch:
    """So many units back, give or take half a unit, since people round."""
    if unit != "week":
        return Stretch(*span_of(unit, today, count), relative=True)
    middle = today - timedelta(7 * count)
    return Stretch(middle - timedelta(3), middle + timedelta(4), relative=True)


def lately(count: int, unit: str, today: date) -> Stretch:
    """The last so many units up to today."""
    days = {"day": 1, "week": 7, "month": 31, "quarter": 92, "year": 366}[unit] * count
    return Stretch(today - timedelta(days), today + timedelta(1), relative=True)


def weekday(day: int, today: date, *, weeks: int | None = None) -> Stretch:
    """The last such day before today, or that of the week so many weeks back."""
    back = (today.weekday() - day - 1) % 7 + 1 if weeks is None else today.weekday() - day + 7 * weeks
    found = today - timedelta(back)
    return Stretch(found, found + timedelta(1), relative=True)


def weekend(today: date, *, this: bool) -> Stretch:
    """The last weekend, or this one if it has begun."""
    begun = today.weekday() >= 5 and this
    monday = today - timedelta(today.weekday() + (0 if begun else 7))
    return Stretch(monday + timedelta(5), monday + timedelta(7), relative=True)


def season(name: str, year: int) -> Stretch:
    """A season of the northern half of the world; winter begins in the year."""
    return Stretch(first_of(year, SEASON_MONTH[name]), first_of(year, SEASON_MONTH[name] + 3))


def last_season(name: str, today: date, *, this: bool = False) -> Stretch:
    """The last such season that is over, or this year's."""
    found = season(name, today.year)
    return found if found.after <= today or (this and found.first <= today) else season(name, today.year - 1)


def month(number: int, year: int | None, today: date, *, over: bool = False) -> Stretch:
    """A month; without a year the last one, and ``over`` if it must not be this one."""
    if year is None:
        year = today.year if number < today.month or (number == today.month and not over) else today.year - 1
    return Stretch(first_of(year, number), first_of(year, number + 1))


def day_of(year: int | None, month: int, day: int, today: date) -> Stretch:
    """A day; without a year the last one up to today."""
    found = date(year or today.year, month, day)
    if year is None and found > today:
        found = date(today.year - 1, month, day)
    return Stretch(found, found + timedelta(1))


def quarter(number: int, year: int | None, today: date) -> Stretch:
    """A quarter of a year; without a year the last one that has begun."""
    begin = first_of(year or today.year, 3 * number - 2)
    if year is None and begin > today:
        begin = first_of(today.year - 1, 3 * number - 2)
    return Stretch(begin, first_of(begin.year, begin.month + 3))


def yearly(first: tuple[int, int], after: tuple[int, int], year: int | None, today: date) -> Stretch:
    """A stretch of every year; without a year the last one that has begun."""
    number = year or (today.year if date(today.year, *first) <= today else today.year - 1)
    return Stretch(date(number, *first), date(number, *after))


def part(of: Stretch, name: str) -> Stretch:
    """The early, mid or late third of a month or year."""
    days = (of.after - of.first).days
    at = {"early": 0, "mid": 1, "late": 2}[name]
    return Stretch(of.first + timedelta(days * at // 3), of.first + timedelta(-(-days * (at + 1) // 3)))


def week_of_month(of: Stretch, number: int) -> Stretch:
    """The first to fifth seven days of a month; -1 for its last."""
    first = of.after - timedelta(7) if number < 0 else of.first + timedelta(7 * (number - 1))
    return Stretch(first, min(first + timedelta(7), of.after))


def between(one: Named, other: Named, today: date) -> Stretch:
    """From one named date to another, each of which takes from the other what it leaves out."""
    if one.year is None and one.month is None and other.year is None and other.month is None:
        raise ValueError("two numbers")
    one = one._replace(month=one.month or (other.month if one.day else None))
    other = other._replace(month=other.month or (one.month if other.day else None))
    last = other.year or (one.year and one.year + _is_before(other, one)) or today.year
    if not other.year and not one.year and date(last, other.month or 1, other.day or 1) > today:
        last -= 1
    first = one.year or last - _is_before(other, one)
    begin, end = date(first, one.month or 1, one.day or 1), _after(other._replace(year=last))
    if end <= begin:
        raise ValueError("backwards")
    return Stretch(begin, end)


def since(begin: date, today: date) -> Stretch:
    """From a day to today."""
    if begin > today:
        raise ValueError("to come")
    return Stretch(begin, today + timedelta(1))


def until(end: date) -> Stretch:
    """All that was before a day."""
    return Stretch(end - timedelta(_LONG), end)


def whole(named: Named, today: date) -> Stretch:
    """The day, month or year that is named."""
    if named.month is None:
        if named.year is None:
            raise ValueError("a number")
        return Stretch(date(named.year, 1, 1), date(named.year + 1, 1, 1))
    if named.day is None:
        return month(named.month, named.year, today)
    return day_of(named.year, named.month, named.day, today)


def _is_before(one: Named, other: Named) -> bool:
    """Whether one day of the year comes before another."""
    return (one.month or 0, one.day or 0) < (other.month or 0, other.day or 0) if one.month and other.month else False


def _after(named: Named) -> date:
    year, number, day = named.year or 1, named.month, named.day
    if number is None:
        return date(year + 1, 1, 1)
    return date(year, number, day or monthrange(year, number)[1]) + timedelta(1)
