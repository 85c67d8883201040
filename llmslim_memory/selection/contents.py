"""The turns a search looks at, each fetched once."""

from __future__ import annotations

from collections.abc import Iterable

from llmslim_memory.types import MemoryItem
from llmslim_memory.views import Candidate, History


class Contents:
    """Fetches turns from a history in batches, and keeps them for the length of one search."""

    def __init__(self, history: History) -> None:
        self.history = history
        self._items: dict[int, MemoryItem] = {}

    def load(self, turns: Iterable[int]) -> None:
        """Fetch these turns now, in one call."""
        missing = [turn for turn in dict.fromkeys(turns) if turn not in self._items]
        if missing:
            self._items.update(zip(missing, self.history.items(missing), strict=True))

    def item(self, turn: int) -> MemoryItem:
        """The turn, content and metadata included."""
        if turn not in self._items:
            self.load([turn])
        return self._items[turn]

    def text(self, candidate: Candidate) -> str:
        """The passage as it stands in its turn."""
        return self.item(candidate.turn).content[candidate.start : candidate.end]
