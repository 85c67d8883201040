"""Answers an overview question from the openings of turns, spread over the whole period."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from llmslim_memory.selection.contents import Contents
from llmslim_memory.selection.duplicates import Seen
from llmslim_memory.selection.openings import opening
from llmslim_memory.selection.packing import Packer, Verdict
from llmslim_memory.views import Candidate, History, Ranking

MOST_TURNS = 600
"""So many turns are looked at, the best and an even spread."""
DECAY = 0.93
"""What each opening kept lowers the others of its session by, so that every session gets its say."""
FLOOR = 0.05
LEAST_ROOM = 12

_ABOUT_THE_QUESTION = re.compile(
    r"\b(?:summari[sz]e|summary|summari[sz]ing|recap|overview|comprehensive|complete|detailed|thorough|clear|quick|brief|full|"
    r"captures?|scope|(?:in )?(?:what|which) order|order|sequence|timeline|chronological(?:ly)?|brought up|bring up|mention(?:ed)?|"
    r"discuss(?:ed|ions?)?|talked?|conversations?|chats?|throughout|across|over time|so far|different|aspects?|items?|only|list|"
    r"walk me through|reconstruct|give me|tell me|provide|evolved?|developed?|progress(?:ed)?|changed?|including|key|"
    r"challenges|solutions|decisions|along the way|first|one|two|three|four|five|six|seven|eight|nine|ten|\d+)\b",
    re.IGNORECASE,
)


def topic(query: str) -> str:
    """What an overview is to be about: the question without the words that ask for an overview."""
    return " ".join(_ABOUT_THE_QUESTION.sub(" ", query.replace("\u2019", "'")).split())


@dataclass(slots=True)
class Digest:
    """Fills a packer with openings, best first, none of the sessions forgotten."""

    contents: Contents
    packer: Packer
    users_only: bool
    left_out: Mapping[int, str]
    seen: Seen = field(default_factory=Seen)
    verdicts: dict[tuple[str, int, int], Verdict] = field(default_factory=dict)

    def pick(self, ranking: Ranking) -> None:
        """Keep openings while there is room."""
        history = self.contents.history
        turns = _worth_reading(history, ranking, users_only=self.users_only)
        self.contents.load(turns)
        for rank, turn in enumerate(_by_turns(history, ranking.turn_scores, turns), start=1):
            if self.packer.room < LEAST_ROOM:
                break
            self._try(turn, rank, float(ranking.turn_scores[turn]))

    def _try(self, turn: int, rank: int, score: float) -> None:
        content = self.contents.item(turn).content
        span = opening(content)
        if span is None or turn in self.left_out:
            return
        text = content[slice(*span)]
        candidate = Candidate(turn, 0, *span, "opening", score, self.packer.count(text))
        pool = "user" if self.contents.history.roles[turn] == "user" else "reply"
        status, reason = "dropped", None
        if self.seen.repeats(text):
            reason = "duplicate"
        elif self.packer.cost(candidate) > self.packer.room:
            reason = "budget"
        else:
            self.seen.add(text)
            self.packer.keep(candidate)
            status = "kept"
        self.verdicts[pool, turn, 0] = Verdict(candidate, pool, rank, status, reason)


def _worth_reading(history: History, ranking: Ranking, *, users_only: bool) -> list[int]:
    """The turns whose openings are read: those ranked best, and where none are ranked an even spread."""
    turns = np.flatnonzero(history.eligible)
    if users_only:
        turns = turns[[history.roles[int(turn)] == "user" for turn in turns]]
    if len(turns) > MOST_TURNS:
        scores = ranking.turn_scores[turns]
        best = np.argsort(-scores, kind="stable")[: MOST_TURNS // 2]
        even = np.linspace(0, len(turns) - 1, MOST_TURNS // 2).astype(int)
        turns = turns[np.union1d(best, even)]
    return [int(turn) for turn in turns]


def _by_turns(history: History, scores: NDArray[np.float64], turns: Sequence[int]) -> list[int]:
    """The turns, best first, each one taken making those of its session a little less pressing."""
    sessions: dict[int, list[int]] = {}
    for turn in sorted(turns, key=lambda turn: -scores[turn]):
        sessions.setdefault(int(history.sessions[turn]), []).append(turn)
    ordered, weights = [], dict.fromkeys(sessions, 1.0)
    while sessions:
        session = max(sessions, key=lambda s: weights[s] * (FLOOR + scores[sessions[s][0]]))
        ordered.append(sessions[session].pop(0))
        weights[session] *= DECAY
        if not sessions[session]:
            del sessions[session]
    return ordered
