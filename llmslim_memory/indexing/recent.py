"""Turns read lately, so that searches that follow one another do not read the same ones again."""

from __future__ import annotations

import sys
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from threading import Lock
from typing import Any, NamedTuple

from llmslim_memory.pacing import pace
from llmslim_memory.ranking.codec import checksum
from llmslim_memory.types import MemoryItem

RECENT_BYTES = 16 << 20
"""Most memory that the turns kept take."""
LARGEST_SHARE = 16
"""A turn that would take more than one part in so many of this is not kept."""
_BESIDE_CONTENT = 1_000
"""About what a turn takes beside its content, the place where it is kept included."""

Fetch = Callable[[Sequence[str]], dict[str, MemoryItem]]
"""Reads turns by id."""


class Read(NamedTuple):
    """A turn, and the checksum of its content."""

    item: MemoryItem
    checksum: int


class _Kept(NamedTuple):
    revision: int
    read: Read
    size: int


class RecentTurns:
    """Reads turns, and keeps the ones read last for as long as their revision stands; safe to share between threads.

    A turn is shared by all who read it: hand it to a caller only as a copy.
    """

    def __init__(self, fetch: Fetch, *, most: int = RECENT_BYTES) -> None:
        self._fetch = fetch
        self._most = most
        self._kept: OrderedDict[str, _Kept] = OrderedDict()
        self._lock = Lock()
        self.nbytes = 0

    def read(self, ids: Sequence[str], revisions: Sequence[int]) -> dict[str, Read]:
        """The turns with these ids; those that are gone are left out unless kept since this revision was seen."""
        with self._lock:
            found = dict(self._known(ids, revisions))
        if len(found) == len(ids):
            return found
        missing = {item_id: revision for item_id, revision in zip(ids, revisions, strict=True) if item_id not in found}
        with pace.elsewhere():
            items = self._fetch(list(missing))
        fetched = {item_id: Read(item, checksum(item.content)) for item_id, item in items.items()}
        with self._lock:
            for item_id, read in fetched.items():
                self._keep(item_id, missing[item_id], read)
        return found | fetched

    def forget(self, ids: Iterable[str]) -> None:
        """Let go of turns that were changed or deleted."""
        with self._lock:
            for item_id in ids:
                self._drop(item_id)

    def _known(self, ids: Sequence[str], revisions: Sequence[int]) -> Iterable[tuple[str, Read]]:
        for item_id, revision in zip(ids, revisions, strict=True):
            kept = self._kept.get(item_id)
            if kept is not None and kept.revision == revision:
                self._kept.move_to_end(item_id)
                yield item_id, kept.read

    def _keep(self, item_id: str, revision: int, read: Read) -> None:
        self._drop(item_id)
        size = sys.getsizeof(read.item.content) + _size(read.item.metadata) + _BESIDE_CONTENT
        if size * LARGEST_SHARE > self._most:
            return
        self._kept[item_id] = _Kept(revision, read, size)
        self.nbytes += size
        while self.nbytes > self._most:
            self._drop(next(iter(self._kept)))

    def _drop(self, item_id: str) -> None:
        kept = self._kept.pop(item_id, None)
        if kept is not None:
            self.nbytes -= kept.size


def _size(metadata: Mapping[str, Any]) -> int:
    """About what metadata takes in memory: small values weigh some times what they take written out."""
    return 4 * len(repr(metadata)) if metadata else 0
