"""Where terms occur: immutable segments of postings, merged as they grow so that an added turn costs little."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

GROWTH = 4
"""A segment is merged with the one before it unless that one is at least this many times larger."""


@dataclass(frozen=True, slots=True)
class Segment:
    """Postings by term: ``rows[starts[i]:starts[i + 1]]`` are the passages that hold ``terms[i]``, ascending."""

    terms: NDArray[np.uint32]
    starts: NDArray[np.int64]
    rows: NDArray[np.uint32]
    tfs: NDArray[np.uint8]

    @property
    def nbytes(self) -> int:
        """Bytes held by the arrays."""
        return self.terms.nbytes + self.starts.nbytes + self.rows.nbytes + self.tfs.nbytes

    def find(self, terms: Sequence[int]) -> Iterator[tuple[int, NDArray[np.uint32], NDArray[np.uint8]]]:
        """The terms that stand here: place among those given, the passages that hold it, and how often."""
        wanted = np.array(terms, dtype=np.uint32)
        at = np.minimum(np.searchsorted(self.terms, wanted), len(self.terms) - 1)
        held = np.flatnonzero(self.terms[at] == wanted)
        first, after = self.starts[at[held]].tolist(), self.starts[at[held] + 1].tolist()
        for place, start, end in zip(held.tolist(), first, after, strict=True):
            yield place, self.rows[start:end], self.tfs[start:end]


def build_segment(terms: NDArray[np.uint32], rows: NDArray[np.uint32], tfs: NDArray[np.uint8]) -> Segment:
    """Sort postings, given in the order of their rows, by term."""
    # One sort of 64-bit keys is several times faster than a stable argsort, and as stable.
    keys = (terms.astype(np.uint64) << np.uint64(32)) | np.arange(len(terms), dtype=np.uint64)
    keys.sort()
    order = (keys & np.uint64(0xFFFFFFFF)).astype(np.int64)
    ordered = (keys >> np.uint64(32)).astype(np.uint32)
    first = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1]))) if len(ordered) else order
    starts = np.append(first, len(ordered)).astype(np.int64)
    return Segment(ordered[first], starts, rows[order], tfs[order])


def merge_segments(segments: Sequence[Segment]) -> Segment:
    """One segment that holds the postings of several, whose rows ascend from segment to segment."""
    terms = np.concatenate([np.repeat(s.terms, np.diff(s.starts)) for s in segments])
    rows = np.concatenate([s.rows for s in segments])
    return build_segment(terms, rows, np.concatenate([s.tfs for s in segments]))


def add_segment(segments: tuple[Segment, ...], new: Segment) -> tuple[Segment, ...]:
    """Append a segment, merging the last ones so that their number stays logarithmic in the number of postings."""
    group = [new]
    size = len(new.rows)
    rest = list(segments)
    while rest and len(rest[-1].rows) < GROWTH * size:
        size += len(rest[-1].rows)
        group.insert(0, rest.pop())
    return (*rest, group[0] if len(group) == 1 else merge_segments(group))
