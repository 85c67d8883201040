"""Stretches of time between, since, before or beside dates that a question names, in any of the languages."""

from __future__ import annotations

import re
from datetime import date, timedelta

from llmslim_memory.ranking import stretches
from llmslim_memory.ranking.asked_words import COUNTS, count_of, unit_of
from llmslim_memory.ranking.dates import BEFORE_NUMBER, MONTH_NUMBER, MONTHS, OF, number, pattern
from llmslim_memory.ranking.stretches import Named, Stretch

_YEAR = r"(?:19|20)\d\d"
_ISO = rf"{_YEAR}-\d{{1,2}}-\d{{1,2}}"
_TH = r"(?:st|nd|rd|th|er|\.|º)?"
_DATE = (
    rf"(?:{_ISO}|{MONTHS}(?:\s+\d{{1,2}}{_TH}(?!\d))?(?:,?\s+{OF}{_YEAR})?"
    rf"|\d{{1,2}}{_TH}\s+{OF}{MONTHS}(?:,?\s+{OF}{_YEAR})?|{_YEAR})"
)
_END = rf"(?:{_DATE}|\d{{1,2}}{_TH}(?:,\s?{_YEAR})?)"
_THE = r"(?:the\s+|dem\s+|el\s+|le\s+|il\s+|o\s+)?"
_FROM = r"(?:between|from|zwischen|vom|von|entre|desde|du|de|dal|tra|fra|van|tussen)"
_TO = r"(?:\s+(?:and|to|through|until|till|und|bis(?:\s+zum)?|y|et|au|al|a|hasta|e|até|en|tot)\s+|\s*[-–—]\s*)"
_HAN = r"(?:\d{1,2}|[二三]?十[一二三四五六七八九]?|[一二三四五六七八九])\s*"
_HAN_YEAR = rf"(?:{_YEAR}|[一二][九〇零][〇零一二三四五六七八九]{{2}})\s*[年년]\s*"
_HAN_DATE = rf"(?:{_HAN_YEAR}(?:{_HAN}[月월]\s*(?:{_HAN}[日号號일])?)?|{_HAN}[月월]\s*(?:{_HAN}[日号號일])?)"
_HAN_END = rf"(?:{_HAN_DATE}|{_HAN}[日号號일])"
_HAN_TO = r"(?:到|至|和|与|から|부터|[-~～—–])"
_HAN_PARTS = re.compile(r"(?:([^年년\s]+)\s*[年년])?\s*(?:([^月월\s]+)\s*[月월])?\s*(?:([^日号號일\s]+)\s*[日号號일])?")
_DAYS = {"day": 1, "week": 7, "month": 30, "year": 365}


def _named(text: str) -> Named:
    """What the words of a date name."""
    if re.fullmatch(_ISO, text):
        return Named(*map(int, text.split("-")))
    if signs := _HAN_PARTS.fullmatch(text.strip()):
        return Named(*(number(one) if one else None for one in signs.groups()))
    year, day = re.search(_YEAR, text), re.search(r"(?<!\d)\d{1,2}(?!\d)", text)
    months = (MONTH_NUMBER[word] for word in re.findall(r"[^\W\d_]+", text.lower()) if word in MONTH_NUMBER)
    return Named(int(year[0]) if year else None, next(months, None), int(day[0]) if day else None)


def _between(match: re.Match[str], today: date) -> Stretch:
    return stretches.between(_named(match["one"]), _named(match["other"]), today)


def _date(match: re.Match[str], today: date) -> Stretch:
    return stretches.whole(_named(match["date"]), today)


def _since(match: re.Match[str], today: date) -> Stretch:
    return stretches.since(_date(match, today).first, today)


def _later(match: re.Match[str], today: date) -> Stretch:
    return stretches.since(_date(match, today).after, today)


def _until(match: re.Match[str], today: date) -> Stretch:
    return stretches.until(_date(match, today).after)


def _earlier(match: re.Match[str], today: date) -> Stretch:
    return stretches.until(_date(match, today).first)


def _beside(match: re.Match[str], today: date) -> Stretch:
    """The week before a date, or so many units before or after it."""
    around, is_before = _date(match, today), match["side"].lower() == "before"
    days = timedelta(_DAYS[unit_of(match["unit"])])
    if match["count"] is None:
        return Stretch(around.first - days, around.first) if is_before else Stretch(around.after, around.after + days)
    middle = around.first + (-days if is_before else days) * count_of(match["count"])
    return Stretch(middle - days // 2, middle + days // 2 + timedelta(1))


def _weekend_beside(match: re.Match[str], today: date) -> Stretch:
    """The weekend of, before or after a date."""
    day, side = _date(match, today).first, match["side"].lower()
    saturday = day + timedelta(5 - day.weekday())
    if side == "before" and day <= saturday + timedelta(1):
        saturday -= timedelta(7)
    if side == "after" and day >= saturday:
        saturday += timedelta(7)
    return Stretch(saturday, saturday + timedelta(2))


def _week_of(match: re.Match[str], today: date) -> Stretch:
    if _named(match["date"]).day is None:
        raise ValueError("the week of a month")
    day = _date(match, today).first
    monday = day - timedelta(day.weekday())
    return Stretch(monday, day + timedelta(7))


_SO_MANY = rf"(?:(?P<count>{COUNTS})\s+)?"
_NAMED = rf"{_THE}(?P<date>{_DATE})"
_HAN_NAMED = rf"{BEFORE_NUMBER}(?P<date>{_HAN_DATE})"

PATTERNS = (
    (pattern(rf"{_FROM}\s+{_THE}(?P<one>{_END}){_TO}{_THE}(?P<other>{_END})"), _between),
    (pattern(rf"(?P<one>{MONTHS}\s+\d{{1,2}}|\d{{1,2}})\s?[-–—]\s?(?P<other>{_END})"), _between),
    (
        re.compile(rf"{BEFORE_NUMBER}(?P<one>{_HAN_END}){_HAN_TO}\s*(?P<other>{_HAN_END})"),
        _between,
    ),
    (pattern(rf"weekend\s+(?P<side>of|before|after)\s+{_NAMED}"), _weekend_beside),
    (pattern(rf"week\s+of\s+{_NAMED}"), _week_of),
    (
        pattern(rf"{_SO_MANY}(?P<unit>day|week|month|year)s?\s+(?P<side>before|after)\s+{_NAMED}"),
        _beside,
    ),
    (pattern(rf"(?:since|seit(?:\s+dem)?|depuis|dal|sinds)\s+{_NAMED}"), _since),
    (pattern(rf"(?:after|nach|après|después\s+del?|dopo|depois\s+de|na)\s+{_NAMED}"), _later),
    (pattern(rf"(?:until|till|bis(?:\s+zum)?|jusqu['’](?:au|en)|hasta|fino\s+al?|até|tot)\s+{_NAMED}"), _until),
    (pattern(rf"(?:before|vor(?:\s+dem)?|avant|antes\s+del?|prima\s+del|voor)\s+{_NAMED}"), _earlier),
    (re.compile(rf"{_HAN_NAMED}(?:以来|至今|から今|부터)"), _since),
    (re.compile(rf"{_HAN_NAMED}(?:之后|以后|后|以降|이후)"), _later),
    (re.compile(rf"{_HAN_NAMED}(?:之前|以前|前|まで|까지|이전)"), _earlier),
)
