"""What of a question in a script without spaces counts: the words between those that only ask."""

from __future__ import annotations

import re

from llmslim_memory.ranking.analysis import ALPHABETIC, UNSPACED_RUN, grams, normal, term
from llmslim_memory.ranking.stopwords import ASKING

SHORT = 2
"""A character of a word up to this long may be meant alone."""
_BETWEEN = re.compile("|".join(sorted(ASKING, key=lambda word: (-len(word), word))) + "|[\u3041-\u309f]+")


def topical(run: str) -> list[str]:
    """The pieces of a run of Chinese or Japanese that words for asking leave."""
    return [piece for piece in _BETWEEN.split(run) if piece]


def characters(chunk: str) -> frozenset[int]:
    """The terms of a chunk that are single characters of a script where one can be a word."""
    pieces = (piece for run in _runs(chunk) if not ALPHABETIC.match(run) for piece in topical(run))
    return frozenset(term(char) for piece in pieces if len(piece) <= SHORT for char in piece)


def light_terms(chunk: str) -> frozenset[int]:
    """The terms of a chunk that say little beside its others: the shorter grams of runs written without spaces."""
    light: list[str] = []
    for run in _runs(chunk):
        if len(run) > 1:
            light += grams(run, (2 if ALPHABETIC.match(run) and len(run) > 2 else 1,))
    return frozenset(map(term, light))


def _runs(chunk: str) -> list[str]:
    return UNSPACED_RUN.findall(normal(chunk))
