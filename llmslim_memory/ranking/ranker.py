"""From scores to a ranking: the user's turns whole, the best passages of all others, on one scale from 0 to 1."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from llmslim_memory.ranking.scoring import Scores
from llmslim_memory.ranking.snapshot import Snapshot
from llmslim_memory.views import Candidate, Ranking

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MAX_CANDIDATES = 400
"""At most this many candidates of a pool are ranked; more would not be read."""
MADE_AT_ONCE = 32
LONG = 100
"""A turn of the user with more tokens than this has to earn its room."""
LENGTH_POWER = 0.2
LEAST_SCORE = 0.1
"""No turn that bears on the question scores less."""


Make = Callable[[Ints, Floats], list[Candidate]]
"""From turns or passage rows and their scores to candidates."""


class Candidates(Sequence[Candidate]):
    """Ranked turns or passages, made into values only as they are looked at, a few at a time."""

    def __init__(self, make: Make, keys: Ints, scores: Floats) -> None:
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
        return self._make(self._keys[[index]], self._scores[[index]])[0]

    def __iter__(self) -> Iterator[Candidate]:
        for at in range(0, len(self._keys), MADE_AT_ONCE):
            yield from self._make(self._keys[at : at + MADE_AT_ONCE], self._scores[at : at + MADE_AT_ONCE])


@dataclass(frozen=True, slots=True)
class Passages:
    """Makes candidates of the turns and passages of a snapshot."""

    snapshot: Snapshot
    found: Scores
    calibrate: Callable[[Floats], Floats]

    def turns(self, turns: Ints, scores: Floats) -> list[Candidate]:
        """Whole turns."""
        snapshot = self.snapshot
        starts = snapshot.starts[snapshot.passages[snapshot.first[turns]]]
        columns = (turns, starts, snapshot.content_ends[turns], scores, snapshot.tokens[turns], self.found.own[turns])
        return [
            Candidate(turn, 0, start, end, "turn", score, tokens, own)
            for turn, start, end, score, tokens, own in zip(*(column.tolist() for column in columns), strict=True)
        ]

    def passages(self, rows: NDArray[Any], scores: Floats) -> list[Candidate]:
        """Passages, each of which is the whole turn if that has no other."""
        snapshot = self.snapshot
        turns = snapshot.positions[rows]
        parts = rows - snapshot.passages[snapshot.first[turns]]
        kinds = snapshot.in_windows[rows]
        tokens = np.where(kinds, snapshot.passage_tokens[rows], snapshot.tokens[turns])
        own = np.where(kinds, self.found.own_passages[rows], self.found.own[turns])
        columns = (turns, parts, snapshot.starts[rows], snapshot.ends[rows], kinds, scores, tokens, own)
        return [
            Candidate(turn, part, start, end, "window" if in_windows else "turn", score, cost, is_own)
            for turn, part, start, end, in_windows, score, cost, is_own in zip(
                *(column.tolist() for column in columns), strict=True
            )
        ]

    def windows(self, turn: int) -> list[Candidate]:
        """All passages of a turn, best first."""
        rows = self.rows(turn)
        scores = self.calibrate(self.found.passages[rows])
        order = np.lexsort((rows, -scores))
        return self.passages(rows[order], scores[order])

    def rows(self, turn: int) -> NDArray[np.int32]:
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
    user, user_scores = _best(users, scores.turns[users] * _worth_its_room(snapshot.tokens[users]), users, limit)
    places = snapshot.positions[in_reply]
    reply, reply_scores = _best(in_reply, scores.passages[in_reply], places, limit)
    return Ranking(
        scale(np.where(shown, scores.turns, 0.0)),
        Candidates(passages.turns, user, scale(user_scores)),
        Candidates(passages.passages, reply, scale(reply_scores)),
        matched,
        passages.windows,
    )


def _worth_its_room(tokens: NDArray[np.int32]) -> Floats:
    """What a turn's score counts for where room is short: the less the longer it is, from some length on."""
    return (np.maximum(tokens, LONG) / LONG) ** -LENGTH_POWER


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
            yield from passages.turns(np.array([turn]), np.zeros(1))
        else:
            rows = passages.rows(turn)
            yield from passages.passages(rows, np.zeros(len(rows)))
