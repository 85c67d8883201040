"""Joins the lexical ranking with a scorer's: a weighted sum over the best candidates (Bruch et al., TOIS 2023)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

import numpy as np

from llmslim_memory.pacing import pace
from llmslim_memory.ranking.pools import Floats
from llmslim_memory.ranking.scoring import WEIGHTS
from llmslim_memory.ranking.semantic import Scorer
from llmslim_memory.views import Candidate, Ranking

MAX_SCORED = 300
"""At most this many passages are scored for a question: the best ones, then the latest."""
WEIGHT = 0.5
"""What the scorer's answer counts for beside the lexical score."""


def fuse(
    ranking: Ranking,
    query: str,
    scorer: Scorer,
    *,
    latest: Iterable[Candidate],
    is_user: Callable[[int], bool],
    read: Callable[[Sequence[Candidate]], Sequence[str]],
) -> Ranking:
    """Rank again by lexical score and scorer together.

    Args:
        ranking: The lexical ranking.
        query: The question.
        scorer: Scores passages.
        latest: Passages of the latest turns, newest first, with score 0; scored where the best ones leave room.
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
    lift = WEIGHT * (max(candidate.score for candidate in scored) or min(best, 1.0))
    gains = dict(zip((_key(candidate) for candidate in scored), (lift * _spread(raw)).tolist(), strict=True))

    def again(candidate: Candidate) -> Candidate:
        gain = gains.get(_key(candidate), 0.0) * (1.0 if candidate.kind == "turn" else WEIGHTS.window)
        return replace(candidate, score=(candidate.score + gain) / (1 + WEIGHT))

    joined = [again(candidate) for candidate in known.values()]
    return Ranking(
        _turn_scores(ranking.turn_scores, gains),
        _ordered(candidate for candidate in joined if is_user(candidate.turn)),
        _ordered(candidate for candidate in joined if not is_user(candidate.turn)),
        True,
        lambda turn: _ordered(map(again, ranking.windows(turn))),
    )


def _key(candidate: Candidate) -> tuple[int, int, str]:
    return candidate.turn, candidate.part, candidate.kind


def _spread(scores: Floats) -> Floats:
    """Scores from 0 for the least to 1 for the best."""
    halves = scores / 2  # the difference of two finite numbers may not be finite, that of their halves is
    width = float(np.ptp(halves))
    return (halves - halves.min()) / width if width > 0 else np.ones(len(scores))


def _turn_scores(scores: Floats, gains: dict[tuple[int, int, str], float]) -> Floats:
    lifts = np.zeros(len(scores))
    for (turn, _, _), gain in gains.items():
        lifts[turn] = max(lifts[turn], gain)
    return (scores + lifts) / (1 + WEIGHT)


def _ordered(candidates: Iterable[Candidate]) -> list[Candidate]:
    """Best first, ties by time; what scores nothing is left out."""
    found = (candidate for candidate in candidates if candidate.score > 0)
    return sorted(found, key=lambda candidate: (-candidate.score, candidate.turn, candidate.part))
