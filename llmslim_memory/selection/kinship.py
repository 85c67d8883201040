"""What an overview is about beyond the words of its question: the words that its best turns have in common.

A question names its topic in a word or two ("my plans with Leo"), the turns that belong to it in many more. So the best
turns lend their words to find the others (relevance feedback: Rocchio, 1971).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from llmslim_memory.selection.terms import terms

Floats = NDArray[np.float64]

LENDING = 12
"""So many of the best turns lend their words."""
READ_CHARS = 600
"""So much of each turn is read."""
NAMED, AKIN = 0.3, 1.0
"""What words of the question and words of the best turns count for, beside a turn's score."""
_STEPS = 1 << 16
"""Weights are whole multiples of 1 / so many, and so add up to the same sum in any order."""


def kinship(topic: str, texts: Sequence[str], likely: Floats) -> Floats:
    """How much each text belongs with a topic and with the texts most likely to be part of it.

    Args:
        topic: What the overview is about.
        texts: The texts, in order.
        likely: How likely each is to be part of the overview; those likeliest lend their words.
    """
    found = [terms(text[:READ_CHARS]) for text in texts]
    numbers: dict[str, int] = {}
    columns = np.array([numbers.setdefault(term, len(numbers)) for one in found for term in one], dtype=np.int64)
    if not len(columns):
        return np.zeros(len(found))
    rows = np.repeat(np.arange(len(found)), [len(one) for one in found])
    df = np.bincount(columns)
    weights = _stepped(np.log(1 + len(found) / (df + 0.5)))
    length = np.sqrt(np.maximum(1.0, np.bincount(rows, weights[columns] ** 2, len(found))))
    lent = weights * np.bincount(columns, (_lending(likely) / length)[rows], len(df))
    lent = np.where(df > 1, _stepped(lent), 0.0)
    asked = np.zeros(len(df))
    asked[[numbers[term] for term in terms(topic) if term in numbers]] = 1.0
    named = np.bincount(rows, (asked * weights)[columns], len(found))
    akin = np.bincount(rows, (lent * weights)[columns], len(found)) / length
    return NAMED * _share(named) + AKIN * _share(akin)


def _lending(likely: Floats) -> Floats:
    """How much each text lends: the likeliest as much as they are likely, the others nothing."""
    best = np.argsort(-likely, kind="stable")[:LENDING]
    lending = np.zeros(len(likely))
    lending[best] = likely[best]
    return lending


def _share(values: NDArray[Any]) -> Floats:
    """Values over the greatest of them."""
    greatest = float(values.max(initial=0.0))
    return values / greatest if greatest > 0 else np.zeros(len(values))


def _stepped(values: Floats) -> Floats:
    return np.rint(values * _STEPS)
