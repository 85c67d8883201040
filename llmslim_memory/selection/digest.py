"""Answers an overview question from the openings of turns, spread over the whole period."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from llmslim_memory.selection.contents import Contents
from llmslim_memory.selection.duplicates import Seen
from llmslim_memory.selection.kinship import kinship
from llmslim_memory.selection.openings import LONG, REPLY, USER, Length, opening
from llmslim_memory.selection.packing import Packer, Verdict
from llmslim_memory.views import Candidate, History, Ranking

MOST_TURNS = 600
"""So many turns are looked at, the best and an even spread."""
BATCH = 32
"""So many turns are read at once."""
DECAY = 0.9
"""What each opening kept lowers the others of its session by, so that every session gets its say."""
FLOOR = 0.05
LATE, LATE_IN_ORDER = 0.45, 0.6
"""What a turn at the very end of its session loses in prominence, more where the order of first mentions is asked for."""
SHORT = 4
FEW = 1500
"""With less room than this few turns are shown, and the user's open at length."""
OPENINGS_FIRST = 1600
DETAIL_SHARE = 0.8
"""Of the room beyond so many tokens, this part goes into showing the best user turns whole."""
LONGEST_REST = 300
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
    topic: str
    users_only: bool
    left_out: Mapping[int, str]
    seen: Seen = field(default_factory=Seen)
    ordered: list[int] = field(default_factory=list)
    verdicts: dict[tuple[str, int, int], Verdict] = field(default_factory=dict)
    lengths: Mapping[str, Length] = field(init=False)

    def __post_init__(self) -> None:
        self.lengths = {"user": LONG if self.packer.room < FEW else USER, "reply": REPLY}

    def pick(self, ranking: Ranking) -> None:
        """Keep openings while there is room."""
        history = self.contents.history
        turns = _worth_reading(history, ranking, users_only=self.users_only)
        self.ordered = _by_turns(history, turns, self._interest(turns, ranking))
        self._fill(ranking, reserve=int(max(0, self.packer.room - OPENINGS_FIRST) * DETAIL_SHARE))
        self._complete()
        self._fill(ranking, reserve=0)

    def refill(self, ranking: Ranking, room: int) -> bool:
        """Use the room that the text, once counted, turned out to leave; say whether more was kept."""
        kept, self.packer.room = len(self.packer.order), room
        if kept and room >= LEAST_ROOM:
            self._fill(ranking, reserve=0)
            self._complete()
        return len(self.packer.order) > kept

    def _interest(self, turns: Sequence[int], ranking: Ranking) -> NDArray[np.float64]:
        """How much each turn is worth: how well it fits, how early in its session it stands, how much there is to it."""
        scores = ranking.turn_scores[turns]
        scores = scores / max(float(scores.max(initial=0.0)), 1e-9)
        weight = self._prominence(turns) * _substance(self.contents.history, turns)
        return (scores + self._kinship(turns, scores * weight)) * weight if ranking.matched else weight

    def _kinship(self, turns: Sequence[int], likely: NDArray[np.float64]) -> NDArray[np.float64]:
        """What the user's turns have in common with the likeliest of them; a reply belongs to what it replies to."""
        history = self.contents.history
        users = [place for place, turn in enumerate(turns) if history.roles[turn] == "user"]
        self.contents.load(turns[place] for place in users)
        texts = [self.contents.item(turns[place]).content for place in users]
        found = dict(zip(users, kinship(self.topic, texts, likely[users]).tolist(), strict=True))
        return np.array([found.get(place, 0.0) for place in _asked_at(history, turns)])

    def _fill(self, ranking: Ranking, *, reserve: int) -> None:
        for rank, turn in enumerate(self.ordered, start=1):
            if self.packer.room - reserve < LEAST_ROOM:
                break
            if rank % BATCH == 1:
                self.contents.load(self.ordered[rank - 1 : rank - 1 + BATCH])
            self._try(turn, rank, float(ranking.turn_scores[turn]))

    def _complete(self) -> None:
        """Show the best of the user's turns whole instead of opened, while there is room."""
        for candidate in [one for one in self.packer.order if len(self.packer.kept[one.turn]) == 1]:
            content = self.contents.item(candidate.turn).content
            rest = (candidate.end, len(content))
            if self.contents.history.roles[candidate.turn] != "user" or not content[slice(*rest)].strip():
                continue
            more = replace(
                candidate,
                part=1,
                start=rest[0],
                end=rest[1],
                kind="window",
                tokens=self.packer.count(content[slice(*rest)]),
            )
            if more.tokens <= min(self.packer.room, LONGEST_REST):
                self.packer.keep(more)

    def _prominence(self, turns: Sequence[int]) -> NDArray[np.float64]:
        """How early each turn stands in its session: what a session is about comes up early."""
        late = LATE_IN_ORDER if self.users_only else LATE
        return 1 - late * _places(self.contents.history)[list(turns)]

    def _try(self, turn: int, rank: int, score: float) -> None:
        pool = "user" if self.contents.history.roles[turn] == "user" else "reply"
        known = self.verdicts.get((pool, turn, 0))
        if known is not None and known.reason != "budget":
            return
        content = self.contents.item(turn).content
        span = opening(content, self.lengths[pool])
        if span is None or turn in self.left_out:
            return
        text = content[slice(*span)]
        candidate = Candidate(turn, 0, *span, "opening", score, self.packer.count(text))
        status, reason = "dropped", "budget"
        if self.packer.takes(candidate, self.packer.room):
            if self.seen.add(content):
                self.packer.keep(candidate)
                status, reason = "kept", ""
            else:
                reason = "duplicate"
        self.verdicts[pool, turn, 0] = Verdict(candidate, pool, rank, status, reason or None)


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


def _asked_at(history: History, turns: Sequence[int]) -> list[int]:
    """For each turn the place of the user turn that it is or replies to, -1 where there is none."""
    last: dict[int, int] = {}
    places = []
    for place, turn in enumerate(turns):
        session = int(history.sessions[turn])
        if history.roles[turn] == "user":
            last[session] = place
        places.append(last.get(session, -1))
    return places


def _places(history: History) -> NDArray[np.float64]:
    """Where each eligible turn stands among those of its session, from 0 for the first towards 1 for the last."""
    sessions = history.sessions[history.eligible]
    order = np.argsort(sessions, kind="stable")
    ordered = sessions[order]
    first = np.searchsorted(ordered, ordered)
    length = np.searchsorted(ordered, ordered, side="right") - first
    places = np.empty(len(sessions))
    places[order] = (np.arange(len(sessions)) - first) / length
    everywhere = np.zeros(len(history.eligible))
    everywhere[history.eligible] = places
    return everywhere


def _substance(history: History, turns: Sequence[int]) -> NDArray[np.float64]:
    """How much there is to each turn, from its length: "Sounds good!" opens nothing."""
    length = np.log(np.maximum(SHORT, history.tokens[list(turns)]))
    return 0.5 + 0.5 * np.asarray(length / length.max(initial=1.0))


def _by_turns(history: History, turns: Sequence[int], interest: NDArray[np.float64]) -> list[int]:
    """The turns, best first, each one taken making those of its session a little less pressing."""
    sessions: dict[int, list[int]] = {}
    worth = dict(zip(turns, interest.tolist(), strict=True))
    for turn in sorted(turns, key=lambda turn: -worth[turn]):
        sessions.setdefault(int(history.sessions[turn]), []).append(turn)
    ordered, weights = [], dict.fromkeys(sessions, 1.0)
    while sessions:
        session = max(sessions, key=lambda s: weights[s] * (FLOOR + worth[sessions[s][0]]))
        ordered.append(sessions[session].pop(0))
        weights[session] *= DECAY
        if not sessions[session]:
            del sessions[session]
    return ordered
