"""BM25, as Lucene computes it (Kamphuis et al., ECIR 2020, table 1)."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

K1 = 0.9
B = 0.7


def idf(df: int, n: int) -> float:
    """How much an occurrence of a term says, from the number of documents that hold it and of all documents."""
    return math.log1p((n - df + 0.5) / (df + 0.5))


def saturate(tf: NDArray[np.float64], norms: NDArray[np.float64]) -> NDArray[np.float64]:
    """The share of a term's idf that a document earns: ``tf / (tf + norm)``, which grows with tf and stays below 1."""
    return tf / (tf + norms)
