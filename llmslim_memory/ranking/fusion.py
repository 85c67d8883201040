"""Joins the lexical ranking with a scorer's: a weighted sum over the best candidates (Bruch et al., TOIS 2023)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from llmslim_memory.pacing import pace
from llmslim_memory.ranking.chain import Chain
from llmslim_memory.ranking.pools import Floats, Ints
from llmslim_memory.ranking.scoring import WEIGHTS
from llmslim_memory.ranking.semantic import Scorer, SeesAround
from llmslim_memory.views import Candidate, Ranking

MAX_SCORED = 300
"""At most this many passages are scored for a question: the best ones, then the latest."""
WEIGHT = 0.5
"""What the scorer's answer counts for beside the lexical score."""
AROUND = 0.7
"""What a passage and the turns around it mean together, beside what the passage means alone."""
LENT = (0.5, 0.2)
"""How much of the turns next to a passage, and of those two away, belongs to what is around it."""
SESSION = 0.4
"""What the best passage of a session counts for in all of them."""


def fuse(
    ranking: Ranking,
    query: str,
    scorer: Scorer,
    *,
    latest: Iterable[Candidate],
    chain: Chain,
    is_user: Callable[[int], bool],
    read: Callable[[Sequence[Candidate]], Sequence[str]],
) -> Ranking:
    """Rank again by lexical score and scorer together.

    Args:
        ranking: The lexical ranking.
        query: The question.
        scorer: Scores passages.
        latest: Passages of the latest turns, newest first, with score 0; scored where the best ones leave room.
        chain: The turns, session by session.
        is_user: Whether a turn is the user's.
        read: Gives the texts of candidates.

    Raises:
        ScorerError: The scorer failed.
    """
    known = {_key(c): c for c in sorted((*ranking.user, *ranking.reply), key=lambda c: (-c.score, c.turn, c.part))}
    for candidate in latest:
        if len(known) >= MAX_SCORED:
            break
        known.setdefault(_key(candidate), candidate)
    scored = list(known.values())[:MAX_SCORED]
    if not scored:
        return ranking
    texts = read(scored)
    with pace.elsewhere():
        raw = np.array(scorer(query, texts), dtype=np.float64)
    best = float(raw.max())
    if not ranking.matched and best < scorer.least:
        return ranking
    meant, weight = _spread(raw, scored), WEIGHT
    if isinstance(scorer, SeesAround):
        meant = _in_context(meant, scored, chain, lambda lent: scorer.around(query, texts, lent))
        weight *= 1 + AROUND + SESSION
    lift = weight * (max(candidate.score for candidate in scored) or min(best, 1.0))
    gains = dict(zip((_key(candidate) for candidate in scored), (lift * meant).tolist(), strict=True))

    def again(candidate: Candidate) -> Candidate:
        gain = gains.get(_key(candidate), 0.0) * (1.0 if candidate.kind == "turn" else WEIGHTS.window)
        return replace(candidate, score=(candidate.score + gain) / (1 + weight))

    joined = [again(candidate) for candidate in known.values()]
    return Ranking(
        _turn_scores(ranking.turn_scores, gains, weight),
        _ordered(candidate for candidate in joined if is_user(candidate.turn)),
        _ordered(candidate for candidate in joined if not is_user(candidate.turn)),
        True,
        lambda turn: _ordered(map(again, ranking.windows(turn))),
    )


def _key(candidate: Candidate) -> tuple[int, int, str]:
    return candidate.turn, candidate.part, candidate.kind


def _spread(scores: Floats, scored: Sequence[Candidate]) -> Floats:
    """Scores from 0 for the least to 1 for the best, of whole turns and of windows apart: windows are to the point, and
    would leave whole turns no room."""
    whole = np.array([candidate.kind == "turn" for candidate in scored])
    spread = np.empty(len(scores))
    for kind in (whole, ~whole):
        spread[kind] = _from_0_to_1(scores[kind])
    return spread


def _from_0_to_1(scores: Floats) -> Floats:
    if not len(scores):
        return scores
    halves = scores / 2  # the difference of two finite numbers may not be finite, that of their halves is
    width = float(np.ptp(halves))
    return (halves - halves.min()) / width if width > 0 else np.ones(len(scores))


def _in_context(
    meant: Floats, scored: Sequence[Candidate], chain: Chain, around: Callable[[Floats], Sequence[float]]
) -> Floats:
    """What passages mean by themselves, together with the turns around them, and at best in their session, averaged."""
    links = chain.links(np.array([candidate.turn for candidate in scored]))
    sessions = chain.sessions[links]
    best = np.zeros(int(sessions.max()) + 1)
    np.maximum.at(best, sessions, meant)
    together = _spread(np.array(around(_lent(links, sessions)), dtype=np.float64), scored)
    averaged: Floats = (meant + AROUND * together + SESSION * best[sessions]) / (1 + AROUND + SESSION)
    return averaged


def _lent(links: Ints, sessions: NDArray[np.int32]) -> Floats:
    """How much of each passage (column) belongs to what is around each (row): all of itself, a share of what is near.

    The passages of a turn share what the turn lends.
    """
    shares = np.array([0.0, *LENT, 0.0])
    distances = np.minimum(np.abs(links[:, None] - links), len(LENT) + 1)
    lent = np.where(sessions[:, None] == sessions, shares[distances], 0.0) / np.bincount(links)[links]
    np.fill_diagonal(lent, 1.0)
    return lent


def _turn_scores(scores: Floats, gains: dict[tuple[int, int, str], float], weight: float) -> Floats:
    lifts = np.zeros(len(scores))
    for (turn, _, _), gain in gains.items():
        lifts[turn] = max(lifts[turn], gain)
    return (scores + lifts) / (1 + weight)


def _ordered(candidates: Iterable[Candidate]) -> list[Candidate]:
    """Best first, ties by time; what scores nothing is left out."""
    found = (candidate for candidate in candidates if candidate.score > 0)
    return sorted(found, key=lambda candidate: (-candidate.score, candidate.turn, candidate.part))
