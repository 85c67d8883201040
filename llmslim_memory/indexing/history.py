"""The turns of a scope as selection reads them: columns from the index, content from the store when it is looked at."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from llmslim_memory.errors import StoreError
from llmslim_memory.indexing.recent import Read
from llmslim_memory.pacing import pace
from llmslim_memory.ranking.snapshot import Snapshot
from llmslim_memory.types import MemoryItem
from llmslim_memory.views import Counted, Mark, Statement


class StaleHistoryError(StoreError):
    """A turn was deleted or edited while it was being searched; search again."""


@dataclass(frozen=True, slots=True, eq=False)
class ScopeHistory:
    """A :class:`~llmslim_memory.views.History` over a snapshot of the index."""

    snapshot: Snapshot
    eligible: NDArray[np.bool_]
    read: Callable[[Sequence[str], Sequence[int]], dict[str, Read]]
    """Reads turns by id and revision."""

    @property
    def ids(self) -> Sequence[str]:
        """Ids of the turns."""
        return self.snapshot.ids

    @property
    def roles(self) -> Sequence[str]:
        """Roles of the turns."""
        return self.snapshot.roles

    @property
    def times(self) -> NDArray[np.int64]:
        """UTC microseconds since 1970."""
        return self.snapshot.times

    @property
    def sessions(self) -> NDArray[np.int32]:
        """Index of each turn's session, in the order in which sessions begin."""
        return self.snapshot.sessions

    @property
    def tokens(self) -> NDArray[np.int32]:
        """Tokens of the content."""
        return self.snapshot.tokens

    @property
    def version(self) -> str:
        """A digest of which turns are eligible, and of what they say and when."""
        snapshot, digest = self.snapshot, blake2b(digest_size=16)
        for column in (snapshot.revisions.astype(np.int64), snapshot.times, snapshot.checksums):
            digest.update(column[self.eligible].tobytes())
        return digest.hexdigest()

    def items(self, turns: Sequence[int]) -> list[MemoryItem]:
        """The turns at these positions, content and metadata included.

        Raises:
            StaleHistoryError: One was deleted, or its content edited, after the history was opened.
        """
        pace.give_way()
        snapshot, rows = self.snapshot, list(turns)
        ids = [snapshot.ids[turn] for turn in rows]
        found = self.read(ids, snapshot.revisions[rows].tolist())
        items = []
        for expected, item_id in zip(snapshot.checksums[rows].tolist(), ids, strict=True):
            read = found.get(item_id)
            if read is None or read.checksum != expected:
                raise StaleHistoryError("a turn was changed while it was being searched: search again")
            items.append(read.item)
        return items

    def passages(self, turn: int) -> list[Counted]:
        """The passages of a turn, in order; the whole content for a short turn."""
        snapshot = self.snapshot
        rows = snapshot.passages[snapshot.first[turn] : snapshot.first[turn + 1]]
        columns = (snapshot.starts[rows], snapshot.ends[rows], snapshot.passage_tokens[rows])
        return list(map(Counted._make, zip(*(column.tolist() for column in columns), strict=True)))

    def marks(self, kinds: Sequence[str]) -> list[Mark]:
        """The statements of these kinds in eligible turns, oldest first."""
        by_kind = self.snapshot.marks
        found = [mark for kind in frozenset(kinds) for mark in by_kind.get(kind, ()) if self.eligible[mark[0]]]
        if len(kinds) > 1:
            found.sort()
        return [Mark(turn, Statement(*statement)) for turn, _, statement in found]
