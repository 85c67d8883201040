"""Whole exchanges, for a question after how something was planned or advised: the user's turn and the reply to it."""

from __future__ import annotations

from llmslim_memory.views import Candidate, History, Ranking

SHARE = 0.6
"""The part of the room that whole replies may take."""
REPLY_WEIGHT = 0.5
"""What the reply's own score counts for beside that of the user's turn."""
LOOKED_AT = 4
"""So many of the best user turns are looked at."""

Exchange = tuple[Candidate, int]
"""What the user said, and the turn that replies to it."""


def best_exchanges(history: History, ranking: Ranking) -> list[Exchange]:
    """The exchanges that begin with one of the best-ranked user turns, best first."""
    scores = REPLY_WEIGHT * ranking.turn_scores
    found = [(asked, asked.turn + 1) for asked in ranking.user[:LOOKED_AT] if _is_answered(history, asked.turn)]
    return sorted(found, key=lambda one: -(one[0].score + float(scores[one[1]])))


def _is_answered(history: History, turn: int) -> bool:
    reply = turn + 1
    return (
        reply < len(history.roles)
        and history.roles[reply] != "user"
        and bool(history.eligible[reply])
        and history.sessions[reply] == history.sessions[turn]
    )
