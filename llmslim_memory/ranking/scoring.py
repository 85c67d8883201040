"""How well turns and passages answer a question: BM25 of turns, stretches and sessions, and coverage, fused.

What each part brings, and what was tried and left out, stands in ``docs/ranking.md``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from llmslim_memory.pacing import pace
from llmslim_memory.ranking.bm25 import K1, B
from llmslim_memory.ranking.pools import Earned, Floats, Occurrences, Options, Pool, add_up, normalised
from llmslim_memory.ranking.query import Query, QueryTerm
from llmslim_memory.ranking.snapshot import RADIUS, Snapshot

_DAY = 86_400_000_000
MATCHED_AT_ONCE = 1_000_000
"""Terms of a question are matched together while their options times the turns are at most so many."""

SOON = 110 * _DAY
"""People tell for so long at most of what was."""


@dataclass(frozen=True, slots=True)
class Weights:
    """What each part of the fused score counts for."""

    neighbours: tuple[float, ...] = (0.5, 0.1)
    coverage: float = 0.7
    stretch: float = 0.4
    session: float = 0.7
    asked_speaker: float = 0.4
    telling: float = 0.1
    time: float = 0.5
    window: float = 0.3
    asked_window: float = 1.0
    asked_user: float = 0.6
    passage: float = 0.5
    beside_user: float = 0.8
    """In a script without spaces, a turn of the user that shares nothing with the question and stands by one that does:
    an answer nearly always shares a pair of characters with its question."""
    beside: float = 0.6
    """The same of any other turn."""


WEIGHTS = Weights()


@dataclass(frozen=True, slots=True)
class Scores:
    """Scores of turns by position, and of passages by row.

    ``turns`` and ``passages`` are the fused scores. ``own`` says which turns and ``own_passages`` which passages hold
    a term of the question themselves or lie in the time it asks about. ``coverage`` is the share of the question, by
    weight, that a turn holds.
    """

    turns: Floats
    passages: Floats
    own: NDArray[np.bool_]
    own_passages: NDArray[np.bool_]
    coverage: Floats


class _Pools:
    """The four kinds of documents that a question is matched with."""

    def __init__(self, snapshot: Snapshot) -> None:
        turns, length = len(snapshot.ids), snapshot.alive_length
        stretches, sessions = snapshot.stretch_lengths, snapshot.session_lengths
        self.snapshot = snapshot
        self.passages = Pool(snapshot.passage_lengths, length, snapshot.alive_passages, k1=K1, b=B)
        self.turns = Pool(snapshot.lengths, length, turns, k1=K1, b=B)
        self.stretches = Pool(stretches, int(stretches.sum()), turns, k1=K1, b=B)
        self.sessions = Pool(sessions, length, len(sessions), k1=K1, b=B)
        self.coverage: Floats = np.zeros(turns)
        self._own, self._light = np.zeros(turns, dtype=bool), np.zeros(turns, dtype=bool)
        passages = len(snapshot.positions)
        self._own_passages, self._light_passages = np.zeros(passages, dtype=bool), np.zeros(passages, dtype=bool)
        self._worth = 0.0

    def match(self, terms: Sequence[QueryTerm]) -> None:
        """Add what terms of the question earn."""
        weights = [weight for term in terms for _, weight in term.options]
        options = Options(np.repeat(np.arange(len(terms)), [len(term.options) for term in terms]), weights)
        passages = Occurrences(*self.snapshot.find([number for term in terms for number, _ in term.options]))
        turns = self._in_turns(passages)
        held, found = self.passages.earn(passages, options), self.turns.earn(turns, options)
        self.stretches.earn(self._in_stretches(turns), options)
        self.sessions.earn(self._in_sessions(turns), options)
        self._cover(found, [term.options[0][1] for term in terms])
        self._note(found, self._own, [not term.light for term in terms])
        self._note(held, self._own_passages, [not term.light for term in terms])
        self._note(found, self._light, [term.light and term.is_word for term in terms])
        self._note(held, self._light_passages, [term.light and term.is_word for term in terms])

    @staticmethod
    def _note(found: Earned, docs: NDArray[np.bool_], telling: Sequence[bool]) -> None:
        """Mark the documents that hold a telling term."""
        docs[found.docs[np.array(telling)[found.terms]]] = True

    @property
    def is_telling(self) -> bool:
        """Whether any turn holds a term of the question that is more than a single character."""
        return bool(self._own.any())

    @property
    def own(self) -> NDArray[np.bool_]:
        """Which turns hold a term of the question; its single characters count where nothing longer is found."""
        return self._own if self._own.any() else self._light

    @property
    def own_passages(self) -> NDArray[np.bool_]:
        """The same of passages."""
        return self._own_passages if self._own.any() else self._light_passages

    def _in_turns(self, found: Occurrences) -> Occurrences:
        size = len(self._own)
        keys, tf = add_up(found.options * size + self.snapshot.positions[found.docs], found.tf)
        return Occurrences(keys // size, keys % size, tf)

    def _in_stretches(self, found: Occurrences) -> Occurrences:
        chain = self.snapshot.chain
        return Occurrences(*chain.gather(found.options, chain.links(found.docs), found.tf, RADIUS))

    def _in_sessions(self, found: Occurrences) -> Occurrences:
        size = len(self.snapshot.runs)
        sums = np.bincount(found.options * size + self.snapshot.sessions[found.docs], found.tf).astype(np.float64)
        held = np.flatnonzero(sums)
        return Occurrences(held // size, held % size, sums[held])

    def _cover(self, found: Earned, weights: Sequence[float]) -> None:
        counts = np.bincount(found.terms, minlength=len(weights)).tolist()
        worth = [weight * self.turns.idf(count) for weight, count in zip(weights, counts, strict=True)]
        for each in worth:
            self._worth += each
        np.add.at(self.coverage, found.docs, np.array(worth)[found.terms])

    def covered(self) -> Floats:
        """The share of the question, by weight, that each turn holds."""
        return self.coverage / self._worth if self._worth else self.coverage


def score(snapshot: Snapshot, query: Query, weights: Weights = WEIGHTS) -> Scores:
    """Score every turn and passage of a scope; statistics are those of the scope."""
    pools = _Pools(snapshot)
    for terms in _groups(query.terms, MATCHED_AT_ONCE // max(1, len(snapshot.ids))):
        pools.match(terms)
        pace.give_way()
    near = _nearness(snapshot.times, query.spans)
    if not pools.is_telling and (not query.terms or near.any()):
        turns, own, covered = near, near > 0, near
    else:
        turns, own, covered = _by_terms(pools, query, near, weights), pools.own, pools.covered()
    if query.asks_reply:
        turns = np.where(snapshot.is_user, weights.asked_user * turns, turns)
    window = weights.asked_window if query.asks_reply else weights.window
    passages = _passage_scores(pools, turns, window, weights.passage)
    return Scores(turns, passages, own, passages > 0 if covered is near else pools.own_passages, covered)


def _by_terms(pools: _Pools, query: Query, near: Floats, weights: Weights) -> Floats:
    """What turns score by the terms of the question, and by its time."""
    snapshot = pools.snapshot
    turns = _prefer_asked_speaker(_fuse(pools, weights), snapshot, query, weights.asked_speaker)
    turns += weights.telling * snapshot.tells * (turns > 0)
    turns += weights.time * float(turns.max(initial=0.0)) * near * (turns > 0)
    if query.is_unspaced:
        turns = np.where(pools.own, turns, np.where(snapshot.is_user, weights.beside_user, weights.beside) * turns)
    return turns


def _groups(terms: Sequence[QueryTerm], most: int) -> Iterator[list[QueryTerm]]:
    """The terms in groups of at most so many options, or of one term."""
    group: list[QueryTerm] = []
    size = 0
    for term in terms:
        if group and size + len(term.options) > most:
            yield group
            group, size = [], 0
        group.append(term)
        size += len(term.options)
    if group:
        yield group


def _fuse(pools: _Pools, weights: Weights) -> Floats:
    """Join what a turn with its neighbours, its stretch and its session earned, each over its maximum, and the share of
    the question that the turn holds."""
    snapshot = pools.snapshot
    chain = snapshot.chain
    along = normalised(chain.smooth(chain.along(pools.turns.scores), weights.neighbours))
    along += weights.coverage * chain.along(pools.covered())
    along += weights.stretch * normalised(pools.stretches.scores)
    along += weights.session * normalised(pools.sessions.scores)[chain.sessions] * (along > 0)
    return chain.back(along)


def _prefer_asked_speaker(turns: Floats, snapshot: Snapshot, query: Query, bonus: float) -> Floats:
    """Where the question names a speaker, matching turns of that one, and of nobody in particular, gain a bonus."""
    named = [number for number in snapshot.speaker_names if number in query.numbers]
    if not named:
        return turns
    asked = np.isin(snapshot.speakers, np.array(named, dtype=np.uint32)) | (snapshot.speakers == 0)
    return np.where(asked & (turns > 0), turns + bonus, turns)


def _nearness(times: NDArray[np.int64], spans: tuple[tuple[int, int], ...]) -> Floats:
    """1 for turns said in a stretch of time, a half for those said soon after it, when people tell of it."""
    near = np.zeros(len(times))
    for first, after in spans:
        soon = after + min(max(3 * (after - first) // 10, 7 * _DAY), SOON)
        told = np.where((times >= after) & (times < soon), 0.5, 0.0)
        near = np.maximum(near, np.where((times >= first) & (times < after), 1.0, told))
    return near


def _passage_scores(pools: _Pools, turns: Floats, window: float, passage: float) -> Floats:
    """What passages score: a turn of one passage as the turn, a window of a long one less, by what it holds itself."""
    snapshot = pools.snapshot
    if not len(turns):
        return np.zeros(len(snapshot.positions))
    of_turn = turns[snapshot.positions]  # a turn that is gone has position -1, and is cleared below
    windows = window * (of_turn + passage * normalised(pools.passages.scores))
    scores = np.where(snapshot.in_windows, windows, of_turn)
    if snapshot.alive_passages < len(scores):
        scores[snapshot.positions < 0] = 0.0
    return scores
