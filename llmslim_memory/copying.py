"""Moves a memory from one store to another: turns, records, and what was deleted."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Protocol

from llmslim_memory.errors import UnsupportedError
from llmslim_memory.types import (
    Batch,
    Edit,
    MemoryItem,
    MemoryStore,
    SupportsChanges,
    SupportsCopy,
    SupportsRecords,
    SupportsScan,
)

PAGE = 500
MAX_CHARS = 4_000_000
"""Most turns, and most characters, in one transaction: MongoDB ends those that take a minute."""

_NEEDED = (SupportsScan, SupportsRecords, SupportsChanges, SupportsCopy)


class CopyableStore(MemoryStore, SupportsScan, SupportsRecords, SupportsChanges, SupportsCopy, Protocol):
    """What both ends of a copy must be; the stores of this library all are."""


@dataclass(frozen=True, slots=True)
class CopyReport:
    """What a copy did: turns added, turns changed because the source's are newer, turns that were there already,
    records written, and turns deleted, or kept from coming back, because the source deleted them."""

    added: int = 0
    edited: int = 0
    unchanged: int = 0
    records: int = 0
    deleted: int = 0


def copy(source: MemoryStore, target: MemoryStore, *, progress: Callable[[int, int], None] | None = None) -> CopyReport:
    """Copy all that ``source`` holds into ``target``: ids, times and the order of adding stay.

    Doing it again adds what has come since, so an interrupted copy is finished by calling it again, and a memory in
    use is moved by copying it, stopping its writers, and copying once more. What only ``target`` holds stays. Where
    both hold a turn, the one changed last wins; where both hold a record, the source's does.

    Args:
        source: The store to read; nothing in it changes.
        target: The store to write to.
        progress: Called with the number of turns seen so far and the number there are.

    Raises:
        UnsupportedError: One of them lacks an ability that this needs.
    """
    origin, goal = _copyable(source, "source"), _copyable(target, "target")
    report = _copy_turns(origin, goal, progress or _silent)
    return replace(report, records=_copy_records(origin, goal), deleted=_copy_deletions(origin, goal))


def _silent(_done: int, _total: int) -> None:
    pass


def _copyable(store: MemoryStore, name: str) -> CopyableStore:
    lacking = [ability.__name__ for ability in _NEEDED if not isinstance(store, ability)]
    if lacking:
        raise UnsupportedError(f"the {name} of the copy, {type(store).__name__}, lacks {', '.join(lacking)}")
    return store  # type: ignore[return-value]


def _copy_turns(source: CopyableStore, target: CopyableStore, progress: Callable[[int, int], None]) -> CopyReport:
    total = sum(scope.turns for scope in source.scopes())
    report, done = CopyReport(), 0
    progress(done, total)
    for page in _pages(source):
        for items in _portions(page):
            report = _copy_some(items, target, report)
        done += len(page)
        progress(done, max(done, total))
    return report


def _copy_some(items: Sequence[MemoryItem], target: CopyableStore, report: CopyReport) -> CopyReport:
    known = target.get_many([item.id for item in items])
    new = [item for item in items if item.id not in known]
    gone = target.tombstones([item.id for item in new])
    new = [item for item in new if item.id not in gone]
    edits = [_edit(item) for item in items if item.id in known and _is_newer(item, known[item.id])]
    if new or edits:
        target.apply(Batch(add=new, edit=edits))
    return replace(
        report,
        added=report.added + len(new),
        edited=report.edited + len(edits),
        unchanged=report.unchanged + len(items) - len(new) - len(edits),
    )


def _copy_records(source: CopyableStore, target: CopyableStore) -> int:
    written = 0
    for kind in source.kinds():
        there = {record.key: record for record in target.records(kind)}
        records = [record for record in source.records(kind) if there.get(record.key) != record]
        for start in range(0, len(records), PAGE):
            target.apply(Batch(put=records[start : start + PAGE]))
        written += len(records)
    return written


def _copy_deletions(source: CopyableStore, target: CopyableStore) -> int:
    deleted, after = 0, None
    while ids := source.deleted_ids(after=after, limit=PAGE):
        after = ids[-1]
        known = target.tombstones(ids)
        unknown = [item_id for item_id in ids if item_id not in known]
        alive = target.get_many(unknown)
        # Only a turn that was there leaves a trace when it is deleted.
        passing = [_placeholder(item_id) for item_id in unknown if item_id not in alive]
        if unknown:
            deleted += target.apply(Batch(add=passing, delete=unknown)).deleted
    return deleted


def _pages(source: CopyableStore) -> Iterator[Sequence[MemoryItem]]:
    after = None
    while True:
        page = source.scan(after=after, limit=PAGE)
        yield page.items
        after = page.next
        if after is None:
            return


def _portions(items: Sequence[MemoryItem]) -> Iterator[Sequence[MemoryItem]]:
    """``items`` in parts of at most ``MAX_CHARS`` characters, or of one turn."""
    portion: list[MemoryItem] = []
    chars = 0
    for item in items:
        if portion and chars + len(item.content) > MAX_CHARS:
            yield portion
            portion, chars = [], 0
        portion.append(item)
        chars += len(item.content)
    if portion:
        yield portion


def _is_newer(item: MemoryItem, known: MemoryItem) -> bool:
    differs = (item.content, dict(item.metadata)) != (known.content, dict(known.metadata))
    return differs and (item.updated_at or item.created_at) > (known.updated_at or known.created_at)


def _edit(item: MemoryItem) -> Edit:
    return Edit(item.id, content=item.content, metadata=item.metadata)


def _placeholder(item_id: str) -> MemoryItem:
    return MemoryItem(item_id, "system", "", datetime(1970, 1, 1, tzinfo=UTC), user_id="default")
