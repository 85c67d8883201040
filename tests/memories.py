"""A memory over each kind of store, and short ways to say what is added to it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from llmslim_memory import (
    InMemoryStore,
    Memory,
    MemoryItem,
    Scope,
    SQLiteStore,
)

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


class BareStore:
    """The six methods and nothing else, as a user would write them."""

    def __init__(self) -> None:
        self._inner = InMemoryStore()

    def add(self, items: Sequence[MemoryItem]) -> None:
        self._inner.add(items)

    def list(self, scope: Scope, *, since: datetime | None = None, until: datetime | None = None) -> list[MemoryItem]:
        return self._inner.list(scope, since=since, until=until)

    def get(self, item_id: str) -> MemoryItem | None:
        return self._inner.get(item_id)

    def update(
        self, item_id: str, *, content: str | None = None, metadata: Mapping[str, Any] | None = None
    ) -> MemoryItem | None:
        return self._inner.update(item_id, content=content, metadata=metadata)

    def delete(self, item_id: str) -> bool:
        return self._inner.delete(item_id)

    def delete_scope(self, scope: Scope) -> int:
        return self._inner.delete_scope(scope)


@pytest.fixture(params=["in_memory", "sqlite", "bare"])
def memory(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Memory]:
    stores = {"in_memory": InMemoryStore, "sqlite": lambda: SQLiteStore(tmp_path / "m.db"), "bare": BareStore}
    store = stores[request.param]()
    yield Memory(store, clock=lambda: NOON, encoding=lambda text: len(text.split()))
    if hasattr(store, "close"):
        store.close()


def say(content: str, **rest: Any) -> dict[str, Any]:
    return {"role": "user", "content": content, **rest}


def contents(items: Sequence[MemoryItem]) -> list[str]:
    return [item.content for item in items]
