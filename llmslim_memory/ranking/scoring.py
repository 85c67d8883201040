"""How well turns and passages answer a question: BM25 of passages, turns, stretches of turns and sessions, fused."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from llmslim_memory.ranking.bm25 import idf, length_norms, saturate
from llmslim_memory.ranking.index import Snapshot
from llmslim_memory.ranking.query import Query

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Weights:
    """What each part of the fused score counts for; measured in docs/ranking.md."""

    near: float = 0.4
    next_but_one: float = 0.2
    stretch: float = 0.5
    session: float = 0.3
    other_speaker: float = 0.85
    radius: int = 2
    passage: float = 0.5
    window: float = 0.4
    k1: float = 0.9
    b: float = 0.4
    stretch_b: float = 0.4
    session_b: float = 0.4


WEIGHTS = Weights()


@dataclass(frozen=True, slots=True)
class Scores:
    """Scores of turns by position and of passages by row, and which turns hold a term of the question themselves."""

    turns: Floats
    passages: Floats
    direct: Floats
    coverage: Floats


class _Pool:
    """Documents of one kind (passages, turns, stretches or sessions) and what they have earned so far."""

    def __init__(self, lengths: Floats, total: float, count: int, k1: float, b: float) -> None:
        self.norms = length_norms(lengths, total / max(count, 1), k1=k1, b=b)
        self.count = count
        self.scores = np.zeros(len(lengths), dtype=np.float64)

    def earn(self, found: list[tuple[Ints, Floats, float]], weight: float) -> tuple[Ints, Floats]:
        """Add what the occurrences of a term (or of what may stand for it) earn: each document its best option.

        ``found`` has the documents (each once), their term frequencies and the weight of each option.
        """
        earned = [
            (docs, option * idf(len(docs), self.count) * saturate(tf, self.norms[docs]))
            for docs, tf, option in found
            if len(docs)
        ]
        if not earned:
            return np.empty(0, np.int64), np.empty(0)
        docs, gain = earned[0] if len(earned) == 1 else _best(earned, len(self.scores))
        self.scores[docs] += weight * gain
        return docs, gain


def _best(earned: list[tuple[Ints, Floats]], size: int) -> tuple[Ints, Floats]:
    best = np.zeros(size)
    for docs, gain in earned:
        best[docs] = np.maximum(best[docs], gain)
    docs = np.flatnonzero(best)
    return docs, best[docs]


def _sum_runs(keys: Ints, values: Floats) -> tuple[Ints, Floats]:
    """Add up values of equal neighbouring keys."""
    if not len(keys):
        return keys, values
    first = np.flatnonzero(np.concatenate(([True], keys[1:] != keys[:-1])))
    return keys[first], np.add.reduceat(values, first)


class _Stretches:
    """Stretches of neighbouring turns of one session around each turn, in the order of the chain."""

    def __init__(self, snapshot: Snapshot, radius: int) -> None:
        self.radius = radius
        self.sessions = snapshot.chain_sessions
        self.links = np.empty(len(snapshot.chain), dtype=np.int64)
        self.links[snapshot.chain] = np.arange(len(snapshot.chain))
        lengths = snapshot.lengths[snapshot.chain].astype(np.float64)
        touched, sums = self.spread(np.arange(len(lengths)), lengths)
        self.lengths = np.zeros(len(lengths))
        self.lengths[touched] = sums  # a stretch without words, of blank turns, is not among the touched
        self._scratch = np.zeros(len(lengths))

    def spread(self, links: Ints, values: Floats) -> tuple[Ints, Floats]:
        """The stretches that the values at these places of the chain fall into, and the sum in each."""
        scratch = np.zeros(len(self.sessions))
        for shift in range(-self.radius, self.radius + 1):
            to = links + shift
            inside = (to >= 0) & (to < len(scratch))
            to, from_ = to[inside], links[inside]
            same = self.sessions[to] == self.sessions[from_]
            scratch[to[same]] += values[inside][same]
        touched = np.flatnonzero(scratch)
        return touched, scratch[touched]


def _smooth(values: Floats, sessions: NDArray[np.int32], weights: Weights) -> Floats:
    """Let neighbours of the same session share: an answer follows its question, "it" refers back."""
    out = values.copy()
    for distance, share in ((1, weights.near), (2, weights.next_but_one)):
        if len(values) <= distance:
            break
        same = sessions[distance:] == sessions[:-distance]
        out[distance:] += share * np.where(same, values[:-distance], 0.0)
        out[:-distance] += share * np.where(same, values[distance:], 0.0)
    return out


def _normalised(values: Floats) -> Floats:
    top = float(values.max()) if len(values) else 0.0
    return values / top if top > 0 else values


def score(snapshot: Snapshot, query: Query, weights: Weights = WEIGHTS) -> Scores:
    """Score every turn and passage of a scope; statistics are those of the scope."""
    turns_of = snapshot.positions
    count = len(snapshot.ids)
    total = float(snapshot.alive_length)
    passages = _Pool(snapshot.passage_lengths.astype(np.float64), total, snapshot.alive_passages, weights.k1, weights.b)
    turns = _Pool(snapshot.lengths.astype(np.float64), total, count, weights.k1, weights.b)
    chain = _Stretches(snapshot, weights.radius)
    stretches = _Pool(chain.lengths, float(chain.lengths.sum()), count, weights.k1, weights.stretch_b)
    session_lengths = np.bincount(snapshot.sessions, snapshot.lengths, len(snapshot.runs)).astype(np.float64)
    sessions = _Pool(session_lengths, total, len(snapshot.runs), weights.k1, weights.session_b)
    coverage = np.zeros(count)
    mass = 0.0
    for term in query.terms:
        by_passage, by_turn, by_stretch, by_session = [], [], [], []
        for number, option in term.options:
            rows, tfs = snapshot.find(number)
            if not len(rows):
                continue
            tf = tfs.astype(np.float64)
            by_passage.append((rows.astype(np.int64), tf, option))
            docs, turn_tf = _turn_tf(turns_of[rows], tf)
            by_turn.append((docs, turn_tf, option))
            links, spread_tf = chain.spread(chain.links[docs], turn_tf)
            by_stretch.append((links, spread_tf, option))
            in_session = np.bincount(snapshot.sessions[docs], turn_tf, len(snapshot.runs)).astype(np.float64)
            held = np.flatnonzero(in_session)
            by_session.append((held, in_session[held], option))
        passages.earn(by_passage, term.weight)
        docs, _ = turns.earn(by_turn, term.weight)
        stretches.earn(by_stretch, term.weight)
        sessions.earn(by_session, term.weight)
        worth = term.weight * (idf(len(docs), count) if len(docs) else idf(0, max(count, 1)))
        mass += worth
        coverage[docs] += worth
    direct = turns.scores
    chained = _normalised(_smooth(direct[snapshot.chain], chain.sessions, weights))
    chained = chained + weights.stretch * _normalised(stretches.scores)
    fused = np.empty(count)
    fused[snapshot.chain] = chained
    fused += weights.session * _normalised(sessions.scores)[snapshot.sessions] if count else 0.0
    fused = _prefer_asked_speaker(fused, snapshot, query, weights)
    fused[fused < 0] = 0.0
    touched = np.zeros(count, dtype=bool)
    touched[snapshot.chain] = chained > 0
    fused[~touched] = 0.0
    shares = _normalised(passages.scores)
    alive = turns_of >= 0
    per_passage = np.where(alive, fused[np.maximum(turns_of, 0)] if count else 0.0, 0.0)
    if count:
        several = np.diff(snapshot.first)[np.maximum(turns_of, 0)] > 1
        several_scores = weights.window * (per_passage + weights.passage * shares)
        per_passage = np.where(alive & several, several_scores, per_passage)
    return Scores(fused, per_passage, direct, coverage / mass if mass else coverage)


def _turn_tf(positions: NDArray[np.int32], tf: Floats) -> tuple[Ints, Floats]:
    return _sum_runs(positions.astype(np.int64), tf)


def _prefer_asked_speaker(fused: Floats, snapshot: Snapshot, query: Query, weights: Weights) -> Floats:
    """Where the question names a speaker, what others said counts a little less."""
    named = {number for term in query.terms for number, option in term.options if option == 1.0}
    asked = np.isin(snapshot.speakers, np.array(sorted(named), dtype=np.uint32)) & (snapshot.speakers > 0)
    if not asked.any():
        return fused
    return np.where(asked | (snapshot.speakers == 0), fused, fused * weights.other_speaker)
