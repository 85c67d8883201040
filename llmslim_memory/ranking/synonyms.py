"""Everyday words that may stand for what a question asks about, read from the tables beside this module."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

_FOLDER = Path(__file__).with_name("vocabulary")

FORM = 0.9
"""What another form of a word counts for."""
SYNONYM = 0.5
"""What a word that stands for another counts for."""
KIND = 0.25
"""What a kind of the thing asked about counts for."""
CHINESE_KIND = 0.5
"""The same in Chinese, where a kind is seldom a part of another word."""


def standing_for(word: str) -> dict[str, float]:
    """What may stand for a folded word, which may be a plural, and what each counts for."""
    table = _table("en")
    return next((table[form] for form in _forms(word) if form in table), {})


def chinese_words(run: str) -> list[str]:
    """The words of the Chinese table that stand in a run of characters, the longest at each place."""
    return _chinese_word().findall(run)


def standing_for_chinese(word: str) -> dict[str, float]:
    """What may stand for a Chinese word, and what each counts for."""
    return _table("zh").get(word, {})


@cache
def _chinese_word() -> re.Pattern[str]:
    return re.compile("|".join(sorted(_table("zh"), key=lambda word: (-len(word), word))))


@cache
def _table(language: str) -> dict[str, dict[str, float]]:
    kind = CHINESE_KIND if language == "zh" else KIND
    table: dict[str, dict[str, float]] = {}
    kinds: dict[str, list[str]] = {}
    for general, special, weight in _lines((_FOLDER / f"related-{language}.txt").read_text("utf-8"), kind):
        others = [one for word in special for one in (kinds[word[1:]] if word.startswith("+") else (word,))]
        for word in general:
            known = table.setdefault(word, {})
            if special:
                kinds.setdefault(word, []).extend(others)
            for other in others or general:
                if other != word:
                    known[other] = max(known.get(other, 0.0), weight)
    return table


def _lines(text: str, kind: float) -> Iterator[tuple[list[str], list[str], float]]:
    """The words before and behind the ">" of each line, and what one counts for where another is asked about."""
    for line in text.splitlines():
        general, arrow, special = line.partition("#")[0].partition(">")
        forms = general.startswith("=")
        if words := general.removeprefix("=").split():
            yield words, special.split(), FORM if forms else kind if arrow else SYNONYM


def _forms(word: str) -> Iterator[str]:
    """The word, and what it may be the plural of."""
    yield word
    if word.endswith("ies"):
        yield word[:-3] + "y"
    if word.endswith("es"):
        yield word[:-2]
    if word.endswith("s"):
        yield word[:-1]
