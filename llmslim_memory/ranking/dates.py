"""Days that a text names, however they are written, and the words and signs that dates are made of."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple

# The months in English, German, French, Spanish, Italian, Portuguese and Dutch; English ones also by three letters.
_MONTHS = (
    "january jan januar jänner januari janvier enero gennaio janeiro",
    "february feb februar februari février fevrier febrero febbraio fevereiro",
    "march mar märz maerz maart mars marzo março marco",
    "april apr avril abril aprile",
    "may mai mei mayo maggio maio",
    "june jun juni juin junio giugno junho",
    "july jul juli juillet julio luglio julho",
    "august aug augustus août aout agosto",
    "september sep sept septembre septiembre setiembre settembre setembro",
    "october oct oktober octobre octubre ottobre outubro",
    "november nov novembre noviembre novembro",
    "december dec dezember décembre decembre diciembre dicembre dezembro",
)
MONTH_NUMBER = {form: at for at, forms in enumerate(_MONTHS, 1) for form in forms.split()}
_DIGITS = {
    char: at
    for at, chars in enumerate(("零〇", "一", "二两", "三", "四", "五", "六", "七", "八", "九"))
    for char in chars
}

_NAMES = "|".join(sorted(MONTH_NUMBER, key=len, reverse=True))
MONTH, MONTHS = rf"(?P<month>{_NAMES})\b\.?", rf"(?:{_NAMES})\b\.?"
DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th|er|\.(?!\s+may\b)|º|ª)?"
YEAR = r"(?P<year>(?:19|20)\d\d)"
OF = r"(?:(?:of|de|do|del|du|di)\s+)?"
HAN_YEAR = r"(?P<year>(?:19|20)\d\d|[一二][九〇零][〇零一二三四五六七八九]{2})\s*[年년]"
HAN_MONTH = r"(?P<month>\d{1,2}|[一二三四五六七八九]|十[一二]?)\s*[月월]"
HAN_DAY = r"(?P<day>\d{1,2}|[二三]?十[一二三四五六七八九]?|[一二三四五六七八九])\s*[日号號일]"
BEFORE_NUMBER = r"(?<![\d一二三四五六七八九十〇零])"


def pattern(text: str) -> re.Pattern[str]:
    """An expression whose matches are whole words."""
    return re.compile(rf"(?<!\w)(?:{text})(?!\w)", re.IGNORECASE)


DATE_PATTERNS = (
    re.compile(r"(?<![\w-])(?P<year>(?:19|20)\d\d)-(?P<month>\d{1,2})-(?P<day>\d{1,2})(?![\w-])"),
    re.compile(rf"{BEFORE_NUMBER}{HAN_YEAR}\s*{HAN_MONTH}\s*{HAN_DAY}"),
    re.compile(rf"{BEFORE_NUMBER}(?P<year>){HAN_MONTH}\s*{HAN_DAY}"),
    pattern(rf"{MONTH}\s+{DAY}(?:,?\s+{YEAR})?"),
    pattern(rf"{DAY}\s+{OF}{MONTH}(?:,?\s+{OF}{YEAR})?"),
    re.compile(r"(?<![\w.])(?P<day>\d{1,2})\.\s?(?P<month>\d{1,2})\.\s?(?P<year>(?:19|20)\d\d)(?![\w.])"),
)
_YEAR_IN = re.compile(r"^(?:19|20)\d\d-\d|^\d{1,2}\.\d{1,2}\.(?:19|20)\d\d|[月월]")
_YEAR_ANYWHERE = re.compile(r"(?:19|20)\d\d-\d|\d\.(?:19|20)\d\d")
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


def number(text: str) -> int:
    """A number of digits or of Chinese signs: up to 99, or a year sign by sign."""
    if text.isdecimal():
        return int(text)
    tens, ten, ones = text.partition("十")
    if ten:
        return 10 * _DIGITS.get(tens, 1) + _DIGITS.get(ones, 0)
    return int("".join(str(_DIGITS[char]) for char in text))


def month_number(text: str) -> int:
    """The number of a month that is named or counted."""
    return MONTH_NUMBER.get(text.lower()) or number(text)


def read_date(match: re.Match[str]) -> tuple[int | None, int, int]:
    """The year, if one is named, month and day of a match of :data:`DATE_PATTERNS`."""
    return number(match["year"]) if match["year"] else None, month_number(match["month"]), number(match["day"])


def dated_words(words: Collection[str], text: str) -> set[str]:
    """Those of the words of ``text`` that name a month or begin with a year, so that they may belong to a date."""
    if MONTH_NUMBER.keys().isdisjoint(map(str.lower, words)) and not _names_year(text):
        return set()
    return {word for word in words if _may_be_dated(word)}


def _names_year(text: str) -> bool:
    """Whether a word of the text may begin with a year; looking for its century first takes far less time."""
    if ("20" in text or "19" in text) and _YEAR_ANYWHERE.search(text):
        return True
    return not text.isascii() and ("月" in text or "월" in text)


def _may_be_dated(word: str) -> bool:
    return word.lower() in MONTH_NUMBER or _YEAR_IN.search(word) is not None


def named_dates(text: str, words: Iterable[tuple[int, str]]) -> Iterator[NamedDate]:
    """The days that a text names ("May 3, 2023", "3rd of May", "le 3 mai", "2023-05-03", "2023年5月3日", "五月三日").

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
        for match in _dates(text, *around):
            if match.start() < start + len(word) and start < match.end():
                done = match.end()
                yield NamedDate(match.start(), *read_date(match))


def _dates(text: str, start: int, end: int) -> list[re.Match[str]]:
    """Matches of the date patterns that can be days, in order; of two that overlap the one of the earlier pattern."""
    kept: list[re.Match[str]] = []
    for one in (match for expression in DATE_PATTERNS for match in expression.finditer(text, start, end)):
        _, month, day = read_date(one)
        is_apart = all(one.end() <= other.start() or other.end() <= one.start() for other in kept)
        if is_apart and 1 <= month <= 12 and 1 <= day <= 31:
            kept.append(one)
    return sorted(kept, key=re.Match.start)
