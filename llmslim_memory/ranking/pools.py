"""Documents of one kind (passages, turns, stretches of turns, sessions) and what a question's terms earn them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from llmslim_memory.ranking.bm25 import idf, saturate

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Options(NamedTuple):
    """What is looked for: option ``i`` stands for term ``terms[i]`` of the question and counts with ``weights[i]``.

    The options of a term stand together, and the terms in the order of the question.
    """

    terms: Ints
    weights: Sequence[float]

    def rivals(self, dfs: Sequence[int]) -> NDArray[np.bool_]:
        """Which options are not the only one of their term that occurs, given in how many documents each does."""
        return np.bincount(self.terms, np.array(dfs, dtype=bool))[self.terms] > 1


class Occurrences(NamedTuple):
    """Where options occur, one after the other: each with documents (each once) and how often it stands there."""

    options: Ints
    docs: Ints
    tf: Floats


class Earned(NamedTuple):
    """Which terms of the question earned documents something, term by term."""

    terms: Ints
    docs: Ints


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

    def earn(self, found: Occurrences, options: Options) -> Earned:
        """Add what the terms of the question earn, each document by the best that stands for a term."""
        dfs = np.bincount(found.options, minlength=len(options.weights)).tolist()
        worth = np.array([w * self.idf(df) if df else 0.0 for w, df in zip(options.weights, dfs, strict=True)])
        norms = self._fixed + self._per_term * self._lengths[found.docs]
        gain = worth[found.options] * saturate(found.tf, norms)
        terms, docs = options.terms[found.options], found.docs
        rivals = np.flatnonzero(options.rivals(dfs)[found.options])
        if len(rivals):
            best = np.ones(len(docs), dtype=bool)
            best[rivals] = _best(terms[rivals], docs[rivals], gain[rivals])
            terms, docs, gain = terms[best], docs[best], gain[best]
        np.add.at(self.scores, docs, gain)
        return Earned(terms, docs)


def _best(terms: Ints, docs: Ints, gain: Floats) -> NDArray[np.bool_]:
    """Where each document earns the most by a term, once for each."""
    pairs = terms * (int(docs.max()) + 1) + docs
    order = np.lexsort((-gain, pairs))  # stable: of equals the first
    ordered = pairs[order]
    is_first = np.ones(len(order), dtype=bool)
    np.not_equal(ordered[1:], ordered[:-1], out=is_first[1:])
    best = np.zeros(len(order), dtype=bool)
    best[order[is_first]] = True
    return best


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
