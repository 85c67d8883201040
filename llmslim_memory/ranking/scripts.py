"""What a script hides of a word: one-letter prefixes of Hebrew and Arabic, and the two ways to write Chinese."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

_TABLE = Path(__file__).with_name("vocabulary") / "simplified.txt"
# "And", "the", "in", "to", "from", "that", "like" before a word of three letters; "the" before a word of two as well.
# The Arabic article goes with the stem.
_PREFIXED = re.compile(
    "[והבלמשכ]{1,3}(?=[\u05d0-\u05ea]{3})|[ובלמשכ]?ה(?=[\u05d0-\u05ea]{2}$)|[وفبلك]{1,2}(?=[\u0620-\u064a]{3})"
)


def without_prefixes(word: str) -> Iterator[str]:
    """What a folded Hebrew or Arabic word may be once its first letters are read as words of their own."""
    prefixes = _PREFIXED.match(word)
    for length in range(1, prefixes.end() + 1 if prefixes else 0):
        yield word[length:]


def simplified(text: str) -> str:
    """The text with the simplified form of each frequent traditional Chinese character."""
    return text.translate(_simplified_forms())


@cache
def _simplified_forms() -> dict[int, str]:
    lines = _TABLE.read_text("utf-8").splitlines()
    return {ord(pair[0]): pair[1] for line in lines if not line.startswith("#") for pair in line.split()}
