"""Tells text that was shown already, without taking a contradiction, another number or name for a repetition."""

from __future__ import annotations

import re

FILLERS = "a|an|the|so|well|oh|ok|okay|um|uh|hmm|just|really|very|please|hi|hey|hello|also|actually"
_ASIDE = re.compile(
    rf"\b(?:{FILLERS})\b|[.,;:!?\u2026\"`()\[\]{{}}*\u201c\u201d\u3002\uff0c\uff01\uff1f\u3001]+(?=\s|$)|^[\W_]+"
)
_COMPARED = 2_000
"""Texts that agree so far and in length are taken to agree."""


class Seen:
    """The texts shown so far. Two texts are one if only case, punctuation or filler words tell them apart."""

    def __init__(self) -> None:
        self._turns: dict[tuple[int, str], int | None] = {}

    def add(self, text: str, turn: int | None = None) -> bool:
        """Note a text as shown, by this turn; say whether it says more than what was shown already, in other words."""
        key = _key(text)
        if not key[1] or key not in self._turns:
            self._turns[key] = turn
            return True
        return False

    def renew(self, text: str, turn: int) -> int | None:
        """Let ``turn`` stand for a text that was shown; return the turn that stood for it, if it was an earlier one."""
        key = _key(text)
        older = self._turns.get(key)
        if older is None or older > turn:
            return None
        self._turns[key] = turn
        return older


def _key(text: str) -> tuple[int, str]:
    head = _ASIDE.sub(" ", text[:_COMPARED].lower())
    return max(0, len(text) - _COMPARED), " ".join(head.split())
