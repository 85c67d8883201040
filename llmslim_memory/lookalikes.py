"""Finds what looks like a name of ours in text, and marks it so that it can be read back.

A reader, a model above all, takes a name in full-width letters, or with zero-width characters in it, for the name
itself. So text is compared by what it looks like: compatibility forms and case folded, accents and invisible
characters dropped (UAX #15; UTS #39, the letters that matter here).
"""

from __future__ import annotations

import unicodedata

# What looks like a letter or dash of an English name and is not folded to it by Unicode.
_LOOKS_LIKE = {
    "a": "аαɑ", "c": "сϲ", "d": "ԁɗ", "e": "еεҽ℮", "h": "һհ", "i": "іıι", "l": "ӏ1|ǀ", "o": "оοօ0", "r": "гʀ",
    "s": "ѕꜱ", "t": "тτ", "y": "уγү", "-": "‐‑‒–—―−_﹘⁃",
}  # fmt: skip
_TWINS = {ord(twin): letter for letter, twins in _LOOKS_LIKE.items() for twin in twins}
# Blank letters: of category Lo or So, and invisible.
_INVISIBLE = frozenset("\u115f\u1160\u17b4\u17b5\u3164\uffa0\u2800")
_REMEMBERED = 20_000


def escape_name(text: str, name: str) -> str:
    """``text`` with a backslash before everything that looks like ``name``."""
    places = _places(text, name)
    for place in reversed(places):
        text = f"{text[:place]}\\{text[place:]}"
    return text


def unescape_name(text: str, name: str) -> str:
    """The text that :func:`escape_name` was given."""
    for place in reversed(_places(text, name)):
        text = text[: place - 1] + text[place:]
    return text


def skeleton(text: str) -> str:
    """What ``text`` looks like: the same for all that looks the same."""
    return text.translate(_SKELETONS)


def _places(text: str, name: str) -> list[int]:
    """Where something that looks like ``name`` begins in ``text``."""
    if name not in text.translate(_SKELETONS):
        return []
    skeletons = [char.translate(_SKELETONS) for char in text]
    skeleton = "".join(skeletons)
    owner = [at for at, part in enumerate(skeletons) for _ in part]
    places = []
    found = skeleton.find(name)
    while found >= 0:
        places.append(owner[found])
        found = skeleton.find(name, found + len(name))
    return places


class _Skeletons(dict[int, str]):
    """What a character looks like, worked out when it is first met; not every one of Unicode's million is kept."""

    def __missing__(self, code: int) -> str:
        decomposed = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", chr(code)).casefold())
        skeleton = "".join(part for part in decomposed if not _is_invisible(part)).translate(_TWINS)
        if len(self) < _REMEMBERED:
            self[code] = skeleton
        return skeleton


def _is_invisible(char: str) -> bool:
    if char in "\t\n\r":
        return False
    return char in _INVISIBLE or unicodedata.category(char) in ("Cc", "Cf", "Cn", "Mn", "Me")


_SKELETONS = _Skeletons()
