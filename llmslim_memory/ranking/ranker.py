"""From scores to a ranking: the best passages of the user's turns and of the replies, and calibrated hits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import overload

import numpy as np
from numpy.typing import NDArray

from llmslim_memory.ranking.index import Snapshot
from llmslim_memory.ranking.scoring import Scores
from llmslim_memory.views import Candidate, Ranking

MAX_CANDIDATES = 600
"""At most this many passages of a pool are ranked; more would not be read."""


class Candidates(Sequence[Candidate]):
    """Ranked passages, made into values only as they are looked at."""

    def __init__(self, snapshot: Snapshot, rows: NDArray[np.int64], scores: NDArray[np.float64]) -> None:
        self._snapshot = snapshot
        self._rows = rows
        self._scores = scores

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, index: int) -> Candidate: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Candidate]: ...
    def __getitem__(self, index: int | slice) -> Candidate | Sequence[Candidate]:
        if isinstance(index, slice):
            return Candidates(self._snapshot, self._rows[index], self._scores[index])
        return _candidate(self._snapshot, int(self._rows[index]), float(self._scores[index]))

    def __iter__(self) -> Iterator[Candidate]:
        for row, score in zip(self._rows.tolist(), self._scores.tolist(), strict=True):
            yield _candidate(self._snapshot, row, score)


def _candidate(snapshot: Snapshot, row: int, score: float) -> Candidate:
    turn = int(snapshot.positions[row])
    first, after = int(snapshot.first[turn]), int(snapshot.first[turn + 1])
    part = row - int(snapshot.passages[first])
    return Candidate(
        turn=turn,
        part=part,
        start=int(snapshot.starts[row]),
        end=int(snapshot.ends[row]),
        kind="turn" if after - first == 1 else "window",
        score=score,
        tokens=int(snapshot.passage_tokens[row]),
    )


def _best_rows(
    snapshot: Snapshot, scores: NDArray[np.float64], wanted: NDArray[np.bool_], limit: int
) -> NDArray[np.int64]:
    """Rows of the best wanted passages, best first, ties by time and place."""
    rows = np.flatnonzero(wanted)
    if len(rows) > limit:
        least = np.partition(scores[rows], len(rows) - limit)[len(rows) - limit]
        rows = rows[scores[rows] >= least]
    order = np.lexsort((rows, snapshot.positions[rows], -scores[rows]))
    return rows[order][:limit]


def make_ranking(
    snapshot: Snapshot, scores: Scores, eligible: NDArray[np.bool_], *, limit: int = MAX_CANDIDATES
) -> Ranking:
    """Rank what may be shown; nothing of a turn that is not eligible is named."""
    turn_scores = np.where(eligible, scores.turns, 0.0)
    positions = snapshot.positions
    alive = positions >= 0
    shown = np.zeros(len(positions), dtype=bool)
    if len(snapshot.ids):
        shown = alive & (scores.passages > 0) & (turn_scores > 0)[np.maximum(positions, 0)]
        of_user = snapshot.is_user[np.maximum(positions, 0)]
    else:
        of_user = shown
    pools = []
    for wanted in (shown & of_user, shown & ~of_user):
        rows = _best_rows(snapshot, scores.passages, wanted, limit)
        pools.append(Candidates(snapshot, rows, scores.passages[rows]))
    matched = bool((eligible & (scores.direct > 0)).any())
    return Ranking(turn_scores, pools[0], pools[1], matched)
