"""The stretches of time that a question asks about."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta, tzinfo
from typing import NamedTuple

from llmslim_memory.ranking import asked_dates, asked_ranges, asked_relative
from llmslim_memory.ranking.scripts import simplified
from llmslim_memory.ranking.stretches import Reader

EDGE = 1000
"""Of a longer question, times are looked for in so many characters of its beginning and of its end."""
_WORD = re.compile(r"[^\W\d_]+")
_DIGIT = re.compile(r"\d")
_KANA = re.compile("[\u3041-\u30ff]")
_EAST_ASIAN = re.compile("[\u3040-\u9fff\uac00-\ud7a3]")


class AskedTime(NamedTuple):
    """The times a question asks about, as UTC microseconds since 1970, and the question without relative time words."""

    spans: tuple[tuple[int, int], ...]
    rest: str


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
    end = max(EDGE, len(question) - EDGE)
    spans, head = _read(question[:EDGE], today, tz)
    more, tail = _read(question[end:], today, tz)
    return AskedTime((*spans, *more), head + question[EDGE:end] + tail)


def _read(text: str, today: date, tz: tzinfo) -> tuple[list[tuple[int, int]], str]:
    """The stretches of time in a text, and the text without the words of relative ones."""
    spans: list[tuple[int, int]] = []
    rest = text
    unread = text if text.isascii() or _KANA.search(text) else simplified(text)
    for expression, read in _patterns(text):
        for match in expression.finditer(unread):
            try:
                stretch = read(match, today)
                span = _microseconds(stretch.first, tz), _microseconds(stretch.after, tz)
            except (ValueError, OverflowError, KeyError):  # no such time, or beyond the calendar
                continue
            spans.append(span)
            unread = _blank(unread, match)
            rest = _blank(rest, match) if stretch.relative else rest
    return spans, rest


def _patterns(question: str) -> Iterator[tuple[re.Pattern[str], Reader]]:
    """The patterns that may match the question, by the words they need: looking for these takes far less time."""
    words = set(_WORD.findall(question.lower()))
    is_east_asian = _EAST_ASIAN.search(question) is not None
    may_be_dated = is_east_asian or _DIGIT.search(question) or not words.isdisjoint(asked_dates.WORDS)
    if may_be_dated:
        yield from asked_ranges.PATTERNS
    if is_east_asian:
        yield from asked_relative.EAST_ASIAN
    if may_be_dated:
        yield from asked_dates.PATTERNS
    for needed, patterns in asked_relative.PATTERNS:
        if not words.isdisjoint(needed):
            yield from patterns


def _blank(text: str, match: re.Match[str]) -> str:
    return text[: match.start()] + " " * len(match.group()) + text[match.end() :]


def _microseconds(day: date, tz: tzinfo) -> int:
    midnight = datetime(day.year, day.month, day.day, tzinfo=tz).astimezone(UTC)
    return (midnight - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)
