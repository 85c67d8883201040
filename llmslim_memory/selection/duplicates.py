"""Tells text that was shown already, without taking a contradiction, another number or name for a repetition."""

from __future__ import annotations

from llmslim_memory.selection.terms import word_set

FILLERS = word_set("a an the so well oh ok okay um uh hmm just really very please hi hey hello also actually")
_EDGES = ".,;:!?\u2026\"'`()[]{}*_\u2018\u2019\u201c\u201d\u3002\uff0c\uff01\uff1f\u3001-\u2013\u2014"


class Seen:
    """The texts shown so far. Two texts are one if only case, punctuation or filler words tell them apart."""

    def __init__(self) -> None:
        self._keys: set[tuple[str, ...]] = set()

    def add(self, text: str) -> None:
        """Note a text as shown."""
        self._keys.add(_key(text))

    def repeats(self, text: str) -> bool:
        """Whether ``text`` says only what was shown already, in the same words."""
        key = _key(text)
        return bool(key) and key in self._keys


def _key(text: str) -> tuple[str, ...]:
    words = (word.strip(_EDGES) or word for word in text.casefold().split())
    return tuple(word for word in words if word not in FILLERS)
