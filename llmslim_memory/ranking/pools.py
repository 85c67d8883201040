"""Documents of one kind (passages, turns, stretches of turns, sessions) and what a question's terms earn them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from llmslim_memory.ranking.bm25 import idf, saturate

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Occurrences(NamedTuple):
    """Where a term, or what stands for it, occurs: documents (each once), how often, and the weight it counts with."""

    docs: Ints
    tf: Floats
    weight: float


class Pool:
    """BM25 scores of documents, added up term by term.

    Args:
        lengths: Terms in each document.
        total: Terms in all documents together.
        count: How many documents there are; ``lengths`` may hold further ones that are gone.
        k1: How slowly repetition saturates.
        b: How much length counts against a document.
    """

    def __init__(self, lengths: NDArray[Any], total: int, count: int, *, k1: float, b: float) -> None:
        self.scores: Floats = np.zeros(len(lengths))
        self.count = count
        self._lengths = lengths
        self._fixed = k1 * (1.0 - b)
        self._per_term = k1 * b * count / max(total, 1)

    def idf(self, docs: int) -> float:
        """The weight of a term that so many documents hold."""
        return idf(docs, self.count)

    def earn(self, occurrences: Sequence[Occurrences]) -> Ints:
        """Add what one term of the question earns, each document by the best that stands for the term.

        Returns:
            The documents that earned something.
        """
        earned = [(found.docs, self._gain(found)) for found in occurrences if len(found.docs)]
        if not earned:
            return np.empty(0, np.int64)
        docs, gain = earned[0] if len(earned) == 1 else _best(earned)
        self.scores[docs] += gain
        return docs

    def _gain(self, found: Occurrences) -> Floats:
        norms = self._fixed + self._per_term * self._lengths[found.docs]
        return found.weight * self.idf(len(found.docs)) * saturate(found.tf, norms)


def _best(earned: Sequence[tuple[Ints, Floats]]) -> tuple[Ints, Floats]:
    """Each document once, with the most it earned."""
    docs = np.concatenate([docs for docs, _ in earned])
    gain = np.concatenate([gain for _, gain in earned])
    order = np.lexsort((gain, docs))
    docs, gain = docs[order], gain[order]
    last = np.append(docs[1:] != docs[:-1], True)
    return docs[last], gain[last]


def add_up(keys: Ints, values: Floats) -> tuple[Ints, Floats]:
    """Add up the values of equal neighbouring keys."""
    if not len(keys):
        return keys, values
    first = np.flatnonzero(np.append(True, keys[1:] != keys[:-1]))
    return keys[first], np.add.reduceat(values, first)


def normalised(values: Floats) -> Floats:
    """Values over their maximum."""
    top = float(values.max(initial=0.0))
    return values / top if top > 0 else values
