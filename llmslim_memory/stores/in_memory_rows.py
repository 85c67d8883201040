"""What an in-memory store keeps of a turn and of a record, and which of them a question means."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from llmslim_memory.stores import base
from llmslim_memory.types import Analysis, MemoryItem, Record, Scope, TurnHead, Where


@dataclass(slots=True)
class Turn:
    """A stored turn; its metadata is kept as text, so that what callers hold and what is stored cannot mix."""

    item: MemoryItem
    metadata: str
    revision: int
    analysis: Analysis | None = None

    def read(self) -> MemoryItem:
        """The turn, with metadata of its own."""
        item = self.item
        return MemoryItem(
            item.id,
            item.role,
            item.content,
            item.created_at,
            item.seq,
            item.user_id,
            item.agent_id,
            item.run_id,
            {} if self.metadata == "{}" else base.load_json(self.metadata),
            item.updated_at,
        )

    def head(self, version: int | None, encoding: str | None) -> TurnHead:
        """All but content and metadata, with the analysis and token count that are of the kind asked for."""
        item, kept = self.item, self.analysis
        return TurnHead(
            item.id,
            item.role,
            item.created_at,
            item.seq,
            item.user_id,
            item.agent_id,
            item.run_id,
            self.revision,
            kept.data if kept is not None and kept.version == version else None,
            kept.tokens if kept is not None and kept.encoding == encoding else None,
        )


@dataclass(frozen=True, slots=True)
class Kept:
    """A stored record."""

    record: Record
    value: str

    def read(self) -> Record:
        """The record, with a value of its own."""
        return replace(self.record, value=base.load_json(self.value))


def in_scope(scope: Scope, held: MemoryItem | Record) -> bool:
    """Whether a turn or record lies in a scope."""
    return scope.matches(held.user_id, held.agent_id, held.run_id)


def places(item: MemoryItem) -> list[tuple[str, str]]:
    """The ids of a scope that a turn is found under."""
    ids = (("user_id", item.user_id), ("agent_id", item.agent_id), ("run_id", item.run_id))
    return [(name, value) for name, value in ids if value is not None]


def in_utc(item: MemoryItem) -> MemoryItem:
    """A turn with its times in UTC."""
    updated_at = None if item.updated_at is None else base.to_utc(item.updated_at)
    return replace(item, created_at=base.to_utc(item.created_at), updated_at=updated_at)


def within(item: MemoryItem, since: datetime | None, until: datetime | None) -> bool:
    """Whether a turn was said at or after ``since`` and before ``until``, both in UTC."""
    return (since is None or item.created_at >= since) and (until is None or item.created_at < until)


def meets(turn: Turn, where: Where, marks: Mapping[str, Sequence[str]]) -> bool:
    """Whether a turn is wanted; ``marks`` are those of ``where``."""
    item = turn.item
    asked = (
        (item.user_id, where.user_ids),
        (item.agent_id, where.agent_ids),
        (item.run_id, where.run_ids),
        (item.role, where.roles),
    )
    return (
        all(wanted is None or value in wanted for value, wanted in asked)
        and within(item, where.since, where.until)
        and all(key in turn.metadata and any(text in turn.metadata for text in texts) for key, texts in marks.items())
    )


def in_order(turns: Iterable[Turn]) -> list[MemoryItem]:
    """Turns oldest first, ties in the order of adding."""
    return [turn.read() for turn in sorted(turns, key=lambda turn: (turn.item.created_at, turn.item.seq))]
