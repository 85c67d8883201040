"""Write the small SQLite store that later releases must still open: one file for each schema, kept for ever.

Run it once when a schema is new, before its release: ``python scripts/make_stored_sqlite.py``.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

from llmslim_memory.stores import SQLiteStore
from llmslim_memory.stores.sqlite_schema import MIGRATIONS
from llmslim_memory.types import Analysis, Batch, MemoryItem, Record, Scope

FOLDER = Path(__file__).parent.parent / "tests" / "data" / "sqlite"
NOON = datetime(2026, 3, 1, 12, 0, 0, 123456, tzinfo=UTC)


def fill(store: SQLiteStore) -> None:
    """Put a turn of every shape into the store."""
    turns = [
        MemoryItem("t1", "user", "I moved to Pune.", NOON, user_id="asha", run_id="s1", metadata={"k": [1, 2.5, None]}),
        MemoryItem("t2", "assistant", "Noted: Pune \U0001f3e1", NOON, user_id="asha", agent_id="bot", run_id="s1"),
        MemoryItem("t3", "tool", "line\r\n" * 2000, NOON + timedelta(days=1), user_id="asha", run_id="s2"),
        MemoryItem("t4", "user", "to be deleted", NOON, user_id="asha"),
        MemoryItem("t5", "user", "to be edited", NOON - timedelta(days=1), user_id="asha", run_id="s1"),
        MemoryItem("t6", "user", "someone else", NOON, user_id="boris"),
    ]
    analyses = {"t1": Analysis(1, b"\x00terms\xff", "o200k_base", 5)}
    store.apply(Batch(add=turns, analyses=analyses))
    store.update("t5", content="edited", metadata={"edited": True})
    store.apply(Batch(put=[Record("event", "e1", {"was": "kept"}, group="g", item_id="t1", user_id="asha")]))
    store.delete("t4")
    store.delete_scope(Scope(user_id="boris"))


def main() -> None:
    """Write the file of the newest schema, unless it is there."""
    path = FOLDER / f"schema-{len(MIGRATIONS)}.db"
    if path.exists():
        raise SystemExit(f"{path} exists already: a stored schema is never written again")
    with SQLiteStore(path) as store:
        fill(store)
    path.chmod(0o644)


if __name__ == "__main__":
    main()
