"""Fills a token budget with passages, best first, and remembers what became of each."""

from __future__ import annotations

from dataclasses import dataclass, field

from llmslim_memory.selection.render import Labels
from llmslim_memory.tokens import TokenCounter
from llmslim_memory.views import Candidate

GAP_TOKENS = 2
"""What an ellipsis beside a passage may take; the text is counted once more as a whole."""
_GAPS = {"turn": 0, "opening": GAP_TOKENS}


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of a candidate: ``"kept"``, ``"clipped"`` or ``"dropped"``, and why if not kept."""

    candidate: Candidate
    pool: str
    rank: int | None
    status: str
    reason: str | None = None


@dataclass(slots=True)
class Packer:
    """Keeps passages while there is room for them and their labels, of at most ``most`` turns."""

    labels: Labels
    count: TokenCounter
    room: int
    most: int | None = None
    kept: dict[int, list[Candidate]] = field(default_factory=dict)
    order: list[Candidate] = field(default_factory=list)
    _label_costs: dict[tuple[str, bool, int], int] = field(default_factory=dict)
    _stamps: set[tuple[int, str]] = field(default_factory=set)
    _places: dict[int, tuple[tuple[int, str], str]] = field(default_factory=dict)

    @property
    def is_full(self) -> bool:
        """Whether as many turns are kept as may be."""
        return self.most is not None and len(self.kept) >= self.most

    def takes(self, candidate: Candidate, room: int) -> bool:
        """Whether this passage may be kept within a room."""
        if candidate.tokens > room or (self.is_full and candidate.turn not in self.kept):
            return False
        return self.cost(candidate) <= room

    def cost(self, candidate: Candidate) -> int:
        """The tokens that keeping this passage takes: its own, and a label or an ellipsis."""
        if candidate.turn in self.kept:
            return candidate.tokens + GAP_TOKENS
        gaps = _GAPS.get(candidate.kind, 2 * GAP_TOKENS)
        # A label's last blank joins the word after it, which makes up for the line break.
        return candidate.tokens + gaps + self._label_cost(candidate.turn)

    def keep(self, candidate: Candidate) -> None:
        """Keep a passage and pay for it."""
        self.room -= self.cost(candidate)
        if candidate.turn not in self.kept:
            self._stamps.add(self._place(candidate.turn)[0])
        self.kept.setdefault(candidate.turn, []).append(candidate)
        self.order.append(candidate)

    def swap(self, turn: int, candidate: Candidate) -> bool:
        """Keep a whole turn in the place of another that says the same; say whether that one was kept whole."""
        passages = self.kept.get(turn, [])
        if [one.kind for one in passages] != ["turn"]:
            return False
        del self.kept[turn]
        self.kept[candidate.turn] = [candidate]
        self.order[self.order.index(passages[0])] = candidate
        return True

    def drop_last(self) -> Candidate:
        """Give up the passage that was kept last, the least of those kept."""
        candidate = self.order.pop()
        passages = self.kept[candidate.turn]
        passages.remove(candidate)
        if not passages:
            del self.kept[candidate.turn]
        return candidate

    def _place(self, turn: int) -> tuple[tuple[int, str], str]:
        """A turn's session and stamp, and its role."""
        place = self._places.get(turn)
        if place is None:
            history = self.labels.history
            place = self._places[turn] = (int(history.sessions[turn]), self.labels.stamp(turn)), history.roles[turn]
        return place

    def _label_cost(self, turn: int) -> int:
        place, role = self._place(turn)
        is_short, stamp = place in self._stamps, place[1]
        key = (role, is_short, len(stamp))
        if key not in self._label_costs:  # one count stands for all labels of a kind: stamps take much the same
            self._label_costs[key] = self.count(self.labels.label(turn, stamp if is_short else None))
        return self._label_costs[key]
