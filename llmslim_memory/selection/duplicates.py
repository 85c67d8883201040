"""Tells text that was shown already, without taking a contradiction, another number or name for a repetition."""

from __future__ import annotations

import re

FILLERS = "a|an|the|so|well|oh|ok|okay|um|uh|hmm|just|really|very|please|hi|hey|hello|also|actually"
_ASIDE = re.compile(
    rf"\b(?:{FILLERS})\b|[.,;:!?\u2026\"`()\[\]{{}}*\u201c\u201d\u3002\uff0c\uff01\uff1f\u3001]+(?=\s|$)|^[\W_]+"
)
_COMPARED = 2_000
"""Texts that agree so far and in length are taken to agree."""
_OPENING_CHARS = 80
_OPENING_WORDS = 5


class Seen:
    """The texts shown so far. Two texts are one if only case, punctuation or filler words tell them apart.

    Few texts open alike, so that a text is compared as a whole only with those that do.
    """

    def __init__(self) -> None:
        self._alone: dict[str, tuple[str, int | None] | None] = {}
        self._turns: dict[tuple[int, str], int | None] = {}

    def add(self, text: str, turn: int | None = None) -> bool:
        """Note a text as shown, by this turn; say whether it says more than what was shown already, in other words."""
        opening = _opening(text)
        if opening not in self._alone:
            self._alone[opening] = text, turn
            return True
        self._settle(opening)
        key = _key(text)
        if not key[1] or key not in self._turns:
            self._turns[key] = turn
            return True
        return False

    def renew(self, text: str, turn: int) -> int | None:
        """Let ``turn`` stand for a text that was shown; return the turn that stood for it, if it was an earlier one."""
        self._settle(_opening(text))
        key = _key(text)
        older = self._turns.get(key)
        if older is None or older > turn:
            return None
        self._turns[key] = turn
        return older

    def _settle(self, opening: str) -> None:
        """Have the text that stood alone with this opening compared as a whole from now on."""
        alone = self._alone.get(opening)
        if alone is not None:
            self._turns[_key(alone[0])] = alone[1]
            self._alone[opening] = None


def _opening(text: str) -> str:
    """The first words of what tells a text from others; equal wherever that is."""
    words = _words(text[:_OPENING_CHARS])
    if len(words) <= _OPENING_WORDS:  # the last word may be cut
        words = _words(text[:_COMPARED])
    return " ".join(words[:_OPENING_WORDS])


def _key(text: str) -> tuple[int, str]:
    return max(0, len(text) - _COMPARED), " ".join(_words(text[:_COMPARED]))


def _words(text: str) -> list[str]:
    return _ASIDE.sub(" ", text.lower()).split()
