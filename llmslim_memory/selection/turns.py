"""Picks turns and parts of replies for a question: two pools, room reserved for the user's own turns."""

from __future__ import annotations

from dataclasses import dataclass, field

from llmslim_memory.selection.contents import Contents
from llmslim_memory.selection.duplicates import Seen
from llmslim_memory.selection.packing import GAP_TOKENS, Packer, Verdict
from llmslim_memory.views import Candidate, Ranking

USER_SHARE = 0.6
"""The part of the room that replies cannot take while user turns want it."""
USER_TURN_CAP = 0.5
"""The most of the user turns' room that one of them may take whole; a longer one is clipped."""
LEAST_ROOM = 8
MISSES = 40
"""After so many passages in a row that did not fit, the rest are not tried."""


@dataclass(slots=True)
class TurnPicker:
    """Fills a packer from the two pools of a ranking."""

    contents: Contents
    packer: Packer
    above: frozenset[int] = frozenset()
    seen: Seen = field(default_factory=Seen)
    user_room: int = 0
    user_turn_cap: int = 0
    verdicts: dict[tuple[str, int, int], Verdict] = field(default_factory=dict)

    def pick(self, ranking: Ranking) -> None:
        """Keep user turns in their room, replies in what is left, then whatever still fits."""
        self.user_room = int(self.packer.room * USER_SHARE)
        self.user_turn_cap = int(self.user_room * USER_TURN_CAP)
        self._fill("user", ranking, self.user_room)
        self._fill("reply", ranking, self.packer.room)
        self._fill("user", ranking, self.packer.room)

    def _fill(self, pool: str, ranking: Ranking, room: int) -> None:
        candidates = ranking.user if pool == "user" else ranking.reply
        floor, misses = self.packer.room - room, 0
        for index, candidate in enumerate(candidates):
            if self.packer.room - floor < LEAST_ROOM or misses > MISSES:
                break
            self.contents.ahead(candidates, index)
            if (pool, candidate.turn, candidate.part) in self.verdicts:
                continue
            verdict = self._weigh(pool, candidate, ranking, index + 1, self.packer.room - floor)
            if verdict is None:
                misses += 1
            else:
                misses = 0
                self.verdicts[pool, candidate.turn, candidate.part] = verdict

    def _weigh(self, pool: str, candidate: Candidate, ranking: Ranking, rank: int, room: int) -> Verdict | None:
        """What becomes of a candidate; ``None`` if it found no room, so that it may be tried again."""
        if candidate.turn in self.above:
            return Verdict(candidate, pool, rank, "dropped", "in_section")
        text = self.contents.text(candidate)
        if self.seen.repeats(text):
            return Verdict(candidate, pool, rank, "dropped", "duplicate")
        if pool == "user" and candidate.kind == "turn" and candidate.tokens > self.user_turn_cap:
            return self._clip(candidate, ranking, rank, min(room, self.user_turn_cap))
        if self.packer.cost(candidate) > room:
            return None
        self.seen.add(text)
        self.packer.keep(candidate)
        return Verdict(candidate, pool, rank, "kept")

    def _clip(self, candidate: Candidate, ranking: Ranking, rank: int, room: int) -> Verdict | None:
        """Keep the best parts of a turn that is too long to be kept whole."""
        left, kept = room, False
        for window in ranking.windows(candidate.turn):
            cost = self.packer.cost(window)
            if cost <= left:
                self.packer.keep(window)
                left, kept = left - cost, True
            if left < LEAST_ROOM + GAP_TOKENS:
                break
        return Verdict(candidate, "user", rank, "clipped", "turn_cap") if kept else None
