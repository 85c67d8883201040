"""Days, months, seasons, quarters and years that a question names, and parts of them, in any of the languages."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import date

from llmslim_memory.ranking import stretches
from llmslim_memory.ranking.asked_words import SEASON, SEASONS, season_of
from llmslim_memory.ranking.dates import (
    BEFORE_NUMBER,
    DATE_PATTERNS,
    HAN_MONTH,
    HAN_YEAR,
    MONTH,
    MONTH_NUMBER,
    OF,
    YEAR,
    month_number,
    number,
    pattern,
    read_date,
)
from llmslim_memory.ranking.stretches import Stretch

_IN = r"(?:in|during|from|of|by|around|en|em|im|nel|dans|au\s+mois\s+de)"
_PARTS = {
    "early": "early beginning start anfang début principios inizio início begin 初 上旬",
    "mid": "mid middle mitte mi mediados metà meados midden 中 中旬",
    "late": "late end ende fin finales fine fim eind 底 末 下旬",
}
_PART = {word: part for part, words in _PARTS.items() for word in words.split()}
_ORDER = {"first": 1, "second": 2, "third": 3, "fourth": 4, "last": -1, "1st": 1, "2nd": 2, "3rd": 3, "4th": 4}
_HAN_ORDER = {"一": 1, "二": 2, "三": 3, "四": 4}
_FEASTS = {
    "元旦": ((1, 1), (1, 4)),
    "春节": ((1, 21), (2, 24)),
    "过年": ((1, 21), (2, 24)),
    "清明": ((4, 4), (4, 7)),
    "五一": ((5, 1), (5, 6)),
    "劳动节": ((5, 1), (5, 6)),
    "中秋": ((9, 7), (10, 9)),
    "国庆": ((10, 1), (10, 9)),
    "christmas": ((12, 24), (12, 27)),
    "halloween": ((10, 31), (11, 1)),
}

WORDS = frozenset((*MONTH_NUMBER, *SEASONS, *_FEASTS, "quarter", "q"))
"""A question without a digit names a time here only by one of these, or by signs of East Asia."""


def _any(words: Iterable[str]) -> str:
    return "|".join(sorted(words, key=len, reverse=True))


def _year_in(match: re.Match[str]) -> int | None:
    year = match.groupdict().get("year")
    return number(year) if year else None


def _day(match: re.Match[str], today: date) -> Stretch:
    return stretches.day_of(*read_date(match), today)


def _month(match: re.Match[str], today: date) -> Stretch:
    is_over = (match.groupdict().get("which") or "").lower() in ("last", "past", "previous")
    return stretches.month(month_number(match["month"]), _year_in(match), today, over=is_over)


def _year(match: re.Match[str], today: date) -> Stretch:  # noqa: ARG001
    year = number(match["year"])
    return Stretch(date(year, 1, 1), date(year + 1, 1, 1))


def _part_of_month(match: re.Match[str], today: date) -> Stretch:
    return stretches.part(_month(match, today), _PART[match["part"].lower()])


def _part_of_year(match: re.Match[str], today: date) -> Stretch:
    return stretches.part(_year(match, today), _PART[match["part"].lower()])


def _week_of_month(match: re.Match[str], today: date) -> Stretch:
    return stretches.week_of_month(_month(match, today), _ORDER[match["order"].lower()])


def _season(match: re.Match[str], today: date) -> Stretch:  # noqa: ARG001
    return stretches.season(season_of(match["season"]), number(match["year"]))


def _quarter(match: re.Match[str], today: date) -> Stretch:
    text = match["quarter"].lower()
    at = _ORDER.get(text) or _HAN_ORDER.get(text) or int(text)
    return stretches.quarter(at, _year_in(match), today)


def _feast(match: re.Match[str], today: date) -> Stretch:
    return stretches.yearly(*_FEASTS[match["feast"].lower()], _year_in(match), today)


_THE_PART = rf"(?P<part>{_any(word for word in _PART if word[0] < '一')})(?:[\s-]+(?:{OF}|dem\s+|des\s+|von\s+))?[\s-]*"

PATTERNS = (
    (pattern(rf"(?P<order>{_any(_ORDER)})\s+week\s+(?:of|in)\s+{MONTH}(?:,?\s+{YEAR})?"), _week_of_month),
    *((expression, _day) for expression in DATE_PATTERNS),
    (pattern(rf"{_THE_PART}{MONTH}(?:,?\s+{OF}{YEAR})?"), _part_of_month),
    (
        re.compile(rf"{BEFORE_NUMBER}(?:{HAN_YEAR}\s*)?{HAN_MONTH}份?(?P<part>上旬|中旬|下旬|初|中|底|末)"),
        _part_of_month,
    ),
    (re.compile(r"(?<![\w-])(?P<year>(?:19|20)\d\d)-(?P<month>\d{1,2})(?![\w-])"), _month),
    (re.compile(rf"{BEFORE_NUMBER}{HAN_YEAR}\s*{HAN_MONTH}"), _month),
    (pattern(rf"{MONTH}(?:\s+of|\s+de|\s+del)?,?\s+{YEAR}"), _month),
    (pattern(rf"(?:(?P<which>last|past|previous|this)|{_IN})\s+{MONTH}"), _month),
    (re.compile(rf"{BEFORE_NUMBER}(?P<year>){HAN_MONTH}(?![\d一二三四五六七八九十前]|间)"), _month),
    (pattern(rf"{SEASON}\s+(?:of\s+|de\s+|del\s+|van\s+|im\s+jahr\s+)?{YEAR}"), _season),
    (re.compile(rf"{HAN_YEAR}\s*の?\s*{SEASON}(?!节)"), _season),
    (pattern(rf"(?:q(?P<quarter>[1-4]))(?:\s+(?:of\s+)?{YEAR})?"), _quarter),
    (pattern(rf"(?P<quarter>first|second|third|fourth)\s+quarter(?:\s+(?:of\s+)?{YEAR})?"), _quarter),
    (re.compile(rf"(?:{HAN_YEAR}\s*)?第?(?P<quarter>[一二三四1-4])季度"), _quarter),
    (re.compile(rf"(?:{HAN_YEAR}\s*)?(?P<feast>{_any(word for word in _FEASTS if word[0] >= '一')})"), _feast),
    (pattern(rf"(?:at|on|for|over|last|this)\s+(?P<feast>christmas|halloween)(?:\s+{YEAR})?"), _feast),
    (pattern(rf"{_THE_PART}{YEAR}"), _part_of_year),
    (pattern(rf"(?:{_IN}|im\s+jahre?)\s+{YEAR}"), _year),
    (re.compile(rf"{BEFORE_NUMBER}{HAN_YEAR}"), _year),
)
