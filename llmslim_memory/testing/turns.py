"""Short ways to say which turns a test needs and what a store holds."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any, Protocol
from uuid import uuid4

from llmslim_memory.types import (
    MemoryItem,
    MemoryStore,
    Scope,
    SupportsAnalysis,
    SupportsChanges,
    SupportsFind,
    SupportsRecords,
    SupportsScan,
)

NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
ASHA = Scope(user_id="asha")
BORIS = Scope(user_id="boris")


class ScanningStore(MemoryStore, SupportsScan, Protocol):
    """A store that can be walked over."""


class FindingStore(MemoryStore, SupportsFind, Protocol):
    """A store that looks for turns itself."""


class RecordingStore(MemoryStore, SupportsRecords, Protocol):
    """A store that keeps records."""


class FollowedStore(MemoryStore, SupportsChanges, Protocol):
    """A store that says what changed."""


class AnalysingStore(MemoryStore, SupportsChanges, SupportsRecords, SupportsAnalysis, Protocol):
    """A store that keeps analyses."""


class ClosableStore(MemoryStore, Protocol):
    """A store that can be closed."""

    def close(self) -> None:
        """Let go of what the store holds open."""


def turn(
    content: str = "hello", *, at: datetime | int = NOON, user_id: str | None = "asha", **fields: Any
) -> MemoryItem:
    """A new turn of the user "asha" at noon, or ``at`` so many seconds after it."""
    moment = at if isinstance(at, datetime) else NOON + timedelta(seconds=at)
    values: dict[str, Any] = {"id": uuid4().hex, "role": "user", "user_id": user_id} | fields
    return MemoryItem(content=content, created_at=moment, **values)


def contents(items: Iterable[MemoryItem]) -> list[str]:
    """The contents of turns, in their order."""
    return [item.content for item in items]


def add_all(store: MemoryStore, *items: MemoryItem) -> list[str]:
    """Add turns and return their ids."""
    store.add(items)
    return [item.id for item in items]
