"""From scores to a ranking: the user's turns whole, the best passages of all others, on one scale from 0 to 1."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from llmslim_memory.ranking.index import Snapshot
from llmslim_memory.ranking.scoring import Scores
from llmslim_memory.views import Candidate, Ranking

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MAX_CANDIDATES = 400
"""At most this many candidates of a pool are ranked; more would not be read."""
LEAST_SCORE = 0.1
"""No turn that bears on the question scores less."""


class Candidates(Sequence[Candidate]):
    """Ranked turns or passages, made into values only as they are looked at."""

    def __init__(self, make: Callable[[int, float], Candidate], keys: Ints, scores: Floats) -> None:
        self._make = make
        self._keys = keys
        self._scores = scores

    def __len__(self) -> int:
        return len(self._keys)

    @overload
    def __getitem__(self, index: int) -> Candidate: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Candidate]: ...
    def __getitem__(self, index: int | slice) -> Candidate | Sequence[Candidate]:
        if isinstance(index, slice):
            return Candidates(self._make, self._keys[index], self._scores[index])
        return self._make(int(self._keys[index]), float(self._scores[index]))

    def __iter__(self) -> Iterator[Candidate]:
        for key, score in zip(self._keys.tolist(), self._scores.tolist(), strict=True):
            yield self._make(key, score)


@dataclass(frozen=True, slots=True)
class Passages:
    """Makes candidates of the turns and passages of a snapshot."""

    snapshot: Snapshot
    found: Scores
    calibrate: Callable[[Floats], Floats]

    def turn(self, turn: int, score: float) -> Candidate:
        """A whole turn."""
        rows = self.rows(turn)
        start, end = int(self.snapshot.starts[rows[0]]), int(self.snapshot.ends[rows[-1]])
        tokens, own = int(self.snapshot.tokens[turn]), bool(self.found.own[turn])
        return Candidate(turn, 0, start, end, "turn", score, tokens, own)

    def passage(self, row: int, score: float) -> Candidate:
        """One passage of a turn, which is the whole turn if that has no other."""
        turn = int(self.snapshot.positions[row])
        rows = self.rows(turn)
        if len(rows) == 1:
            return self.turn(turn, score)
        start, end = int(self.snapshot.starts[row]), int(self.snapshot.ends[row])
        tokens, own = int(self.snapshot.passage_tokens[row]), bool(self.found.own_passages[row])
        return Candidate(turn, row - int(rows[0]), start, end, "window", score, tokens, own)

    def windows(self, turn: int) -> list[Candidate]:
        """All passages of a turn, best first."""
        rows = self.rows(turn)
        scores = self.calibrate(self.found.passages[rows])
        order = np.lexsort((rows, -scores))
        return list(Candidates(self.passage, rows[order], scores[order]))

    def rows(self, turn: int) -> Ints:
        """The passage rows of a turn."""
        return self.snapshot.passages[self.snapshot.first[turn] : self.snapshot.first[turn + 1]]


def _best(keys: Ints, scores: Floats, places: NDArray[Any], limit: int) -> tuple[Ints, Floats]:
    """The best keys, best first, ties by place."""
    if len(keys) > limit:
        least = np.partition(scores, len(scores) - limit)[len(scores) - limit]
        kept = scores >= least
        keys, scores, places = keys[kept], scores[kept], places[kept]
    order = np.lexsort((keys, places, -scores))[:limit]
    return keys[order], scores[order]


def calibrate(scores: Floats, top: float, confidence: float) -> Floats:
    """Bring scores that are at most about ``top`` to [0, 1]: the best to about ``confidence``, those above 0 to at
    least :data:`LEAST_SCORE`, in the same order."""
    if top <= 0:
        return np.zeros(len(scores))
    scaled = LEAST_SCORE + (1 - LEAST_SCORE) * confidence * np.minimum(scores / top, 1.0)
    return np.where(scores > 0, scaled, 0.0)


def make_ranking(
    snapshot: Snapshot, scores: Scores, eligible: NDArray[np.bool_], *, limit: int = MAX_CANDIDATES
) -> Ranking:
    """Rank what may be shown; nothing of a turn that is not eligible is named."""
    shown = eligible & (scores.turns > 0)
    matched = bool((eligible & scores.own).any())
    if not matched:
        shown = np.zeros(len(shown), dtype=bool)
    in_reply = _reply_rows(snapshot, scores, shown)
    confidence = float(scores.coverage[eligible].max()) if matched else 0.0
    top = float(max(scores.turns[shown].max(), scores.passages[in_reply].max(initial=0.0))) if shown.any() else 0.0
    scale = partial(calibrate, top=top, confidence=confidence)
    passages = Passages(snapshot, scores, scale)
    users = np.flatnonzero(shown & snapshot.is_user)
    user, user_scores = _best(users, scores.turns[users], users, limit)
    places = snapshot.positions[in_reply]
    reply, reply_scores = _best(in_reply, scores.passages[in_reply], places, limit)
    return Ranking(
        scale(np.where(shown, scores.turns, 0.0)),
        Candidates(passages.turn, user, scale(user_scores)),
        Candidates(passages.passage, reply, scale(reply_scores)),
        matched,
        passages.windows,
    )


def _reply_rows(snapshot: Snapshot, scores: Scores, shown: NDArray[np.bool_]) -> Ints:
    """Rows of the passages that may be shown of turns that are not the user's."""
    if not len(shown):
        return np.empty(0, np.int64)
    return np.flatnonzero((scores.passages > 0) & (shown & ~snapshot.is_user)[snapshot.positions])


def latest_candidates(snapshot: Snapshot, eligible: NDArray[np.bool_]) -> Iterator[Candidate]:
    """Passages of the eligible turns, newest turn first, none scored: the user's turns whole, others in windows."""
    count = len(snapshot.ids)
    nothing = np.zeros(len(snapshot.positions))
    none = np.zeros(count, dtype=bool)
    passages = Passages(snapshot, Scores(np.zeros(count), nothing, none, nothing > 0, np.zeros(count)), np.copy)
    for turn in range(count - 1, -1, -1):
        if not eligible[turn]:
            continue
        if snapshot.is_user[turn]:
            yield passages.turn(turn, 0.0)
        else:
            for row in passages.rows(turn).tolist():
                yield passages.passage(row, 0.0)
