"""What a search reads of a scope: its alive turns at one moment, and the postings that lead to them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from operator import itemgetter

import numpy as np
from numpy.typing import NDArray

from llmslim_memory.ranking.chain import Chain
from llmslim_memory.ranking.codec import MarkedSpan
from llmslim_memory.ranking.postings import Segment
from llmslim_memory.ranking.telling import TELLING

Ints = NDArray[np.int64]

RADIUS = 2
"""A stretch is a turn with so many turns before and after it."""
SPEAKER_TURNS = 3
"""A word before a colon is a speaker's name once so many turns open with it."""


@dataclass(frozen=True, eq=False)
class Snapshot:
    """The alive turns of a scope at one moment, by position (oldest first), and the postings that lead to them.

    ``first`` has one entry more than there are turns: the passages of the turn at position ``i`` are rows
    ``passages[first[i]:first[i + 1]]`` of the passage columns. ``positions`` leads from a passage row to the position
    of its turn, -1 for a turn that is gone.
    """

    ids: Sequence[str]
    roles: Sequence[str]
    is_user: NDArray[np.bool_]
    revisions: NDArray[np.int64]
    checksums: NDArray[np.uint32]
    times: NDArray[np.int64]
    sessions: NDArray[np.int32]
    tokens: NDArray[np.int32]
    lengths: NDArray[np.int32]
    speakers: NDArray[np.uint32]
    runs: Sequence[str | None]
    """The run of each session."""
    first: NDArray[np.int32]
    passages: NDArray[np.int32]
    positions: NDArray[np.int32]
    starts: NDArray[np.uint32]
    ends: NDArray[np.uint32]
    passage_tokens: NDArray[np.uint32]
    passage_lengths: NDArray[np.uint32]
    alive_passages: int
    alive_length: int
    segments: tuple[Segment, ...]
    statements: dict[int, tuple[MarkedSpan, ...]]
    """By position."""

    @property
    def nbytes(self) -> int:
        """About how many bytes it holds that the index does not, with what searches work out of it."""
        columns = (getattr(self, field.name) for field in fields(self))
        own = sum(column.nbytes for column in columns if isinstance(column, np.ndarray) and column.base is None)
        return own + 10 * len(self.ids) + len(self.positions) + self.chain.nbytes

    @cached_property
    def chain(self) -> Chain:
        """The turns session by session."""
        return Chain(self.sessions)

    @cached_property
    def session_lengths(self) -> Ints:
        """Terms in each session."""
        return np.bincount(self.sessions, self.lengths, len(self.runs)).astype(np.int64)

    @cached_property
    def stretch_lengths(self) -> NDArray[np.int32]:
        """Terms in the stretch around each link of the chain."""
        lengths = self.chain.along(self.lengths).astype(np.float64)
        _, links, sums = self.chain.gather(np.zeros(len(lengths), np.int64), np.arange(len(lengths)), lengths, RADIUS)
        out = np.zeros(len(lengths), dtype=np.int32)
        out[links] = sums
        return out

    @cached_property
    def speaker_names(self) -> frozenset[int]:
        """The terms of the names that several turns open with."""
        names, counts = np.unique(self.speakers, return_counts=True)
        return frozenset(names[counts >= SPEAKER_TURNS].tolist()) - {0}

    @cached_property
    def tells(self) -> NDArray[np.bool_]:
        """Which turns of one passage tell of something that happened lately."""
        tells = np.zeros(len(self.ids), dtype=bool)
        tells[self.positions[self.find(TELLING)[1]]] = True
        tells[np.diff(self.first) != 1] = False
        return tells

    @cached_property
    def content_ends(self) -> NDArray[np.uint32]:
        """Where the last passage of each turn ends in its content."""
        return self.ends[self.passages[self.first[1:] - 1]]

    @cached_property
    def marks(self) -> dict[str, list[tuple[int, int, MarkedSpan]]]:
        """The statements by kind, oldest first: the position of the turn, the place in it, the statement."""
        found: dict[str, list[tuple[int, int, MarkedSpan]]] = {}
        for turn, marks in self.statements.items():
            for place, mark in enumerate(marks):
                found.setdefault(mark.kind, []).append((turn, place, mark))
        return found

    @cached_property
    def in_windows(self) -> NDArray[np.bool_]:
        """Which passage rows belong to a turn of several passages."""
        return (np.diff(self.first) > 1)[self.positions] if len(self.ids) else np.zeros(len(self.positions), bool)

    def find(self, terms: Sequence[int]) -> tuple[Ints, Ints, NDArray[np.float64]]:
        """Where terms stand: for one after the other the rows of alive passages that hold it, ascending.

        Returns:
            The place of the term among ``terms``, the row, and how often the term stands there.
        """
        hits = sorted((hit for segment in self.segments for hit in segment.find(terms)), key=itemgetter(0))
        if not hits:
            return np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0)
        which = np.repeat([place for place, _, _ in hits], [len(rows) for _, rows, _ in hits])
        rows = np.concatenate([rows for _, rows, _ in hits]).astype(np.int64)
        tfs = np.concatenate([tfs for _, _, tfs in hits]).astype(np.float64)
        if self.alive_passages == len(self.positions):
            return which, rows, tfs
        alive = self.positions[rows] >= 0
        return which[alive], rows[alive], tfs[alive]
