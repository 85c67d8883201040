"""Turns for the tests of the stores."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

from llmslim_memory.stores import SQLiteStore
from llmslim_memory.stores.mongodb import MongoStore
from llmslim_memory.stores.postgres import PostgresStore
from llmslim_memory.types import Changes, MemoryItem, Record, Scope

START = datetime(2026, 1, 1, 9, 0, 0, 123457, tzinfo=UTC)
ASHA = Scope(user_id="asha")


def turn(name: str, minutes: int = 0, **fields: Any) -> MemoryItem:
    """A turn of Asha's, its id and content after ``name``."""
    values: dict[str, Any] = {
        "id": name,
        "role": "user",
        "content": f"This is {name}.",
        "created_at": START + timedelta(minutes=minutes),
        "user_id": "asha",
    }
    return MemoryItem(**(values | fields))


def ids(items: Iterable[Any]) -> list[str]:
    return [item.id for item in items]


def check_stored(store: SQLiteStore | PostgresStore | MongoStore) -> Changes:
    """Compare a store with what ``scripts/make_stored_sqlite.py`` puts into one; return what is in it."""
    first, second, third, last = store.list(ASHA)
    assert (first.id, first.content, first.metadata) == ("t5", "edited", {"edited": True})
    assert first.updated_at is not None
    assert (second.id, second.role, second.content) == ("t1", "user", "I moved to Pune.")
    assert (second.user_id, second.agent_id, second.run_id) == ("asha", None, "s1")
    assert second.metadata == {"k": [1, 2.5, None]}
    assert second.created_at == datetime(2026, 3, 1, 12, 0, 0, 123456, tzinfo=UTC)
    assert (third.agent_id, third.content) == ("bot", "Noted: Pune \U0001f3e1")
    assert last.content == "line\r\n" * 2000
    assert store.list(Scope(user_id="boris")) == []
    assert store.tombstones(["t1", "t4", "t6"]) == {"t4", "t6"}
    assert store.records("event") == [Record("event", "e1", {"was": "kept"}, "g", "t1", "asha")]
    seen = store.changes(ASHA, version=1, encoding="o200k_base")
    heads = {head.id: head for head in seen.heads}
    assert (heads["t1"].analysis, heads["t1"].tokens) == (b"\x00terms\xff", 5)
    return seen
