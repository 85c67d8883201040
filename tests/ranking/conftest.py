"""Turns, stores and indexes that the tests of ranking share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta

import pytest

from llmslim_memory import InMemoryStore
from llmslim_memory.indexing import ScopeIndexes
from llmslim_memory.tokens import make_counter
from llmslim_memory.types import Hit, MemoryItem, Scope

SCOPE = Scope(user_id="ann")
START = datetime(2026, 1, 1, 9, tzinfo=UTC)


def turn(
    number: int, content: str, *, role: str = "user", run: str | None = "r1", minutes: int | None = None
) -> MemoryItem:
    said = START + timedelta(minutes=number if minutes is None else minutes)
    return MemoryItem(id=f"t{number}", role=role, content=content, created_at=said, user_id="ann", run_id=run)


def words(text: str) -> int:
    return len(text.split())


class BareStore:
    """A store of six methods and no more."""

    def __init__(self) -> None:
        self._inner = InMemoryStore()
        for name in ("add", "list", "get", "update", "delete", "delete_scope"):
            setattr(self, name, getattr(self._inner, name))


@pytest.fixture
def find() -> Callable[..., list[Hit]]:
    """Hits for a question among contents, each a turn of its own session unless turns are given."""

    def search(contents: Sequence[str | MemoryItem], question: str, k: int = 10) -> list[Hit]:
        store = InMemoryStore()
        store.add([turn(n, c, run=f"r{n}") if isinstance(c, str) else c for n, c in enumerate(contents)])
        indexes = ScopeIndexes(store, make_counter(words), cache_bytes=1 << 20)
        history = indexes.open(SCOPE)
        now = START + timedelta(days=30)
        ranking = indexes.rank(history, question, now=now, tz=UTC, relevance="lexical")
        return indexes.hits(history, ranking, k)

    return search
