"""What a SQLite store forgets, it forgets for good: no byte of it stays in any file."""

from __future__ import annotations

import random
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from llmslim_memory.stores import SQLiteStore
from llmslim_memory.stores import sqlite_connections as connections
from llmslim_memory.testing.turns import ASHA, add_all, turn
from llmslim_memory.types import Analysis, Batch, MemoryItem, Record, Scope


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"


class TestErasure:
    TURNS = 120
    CANARY = "canary-7d1f"

    def remains(self, path: Path) -> list[str]:
        return [p.name for p in path.parent.iterdir() if self.CANARY.encode() in p.read_bytes()]

    def canary_turn(self, number: int, size: int) -> MemoryItem:
        return turn(
            f"{self.CANARY} {'x' * size}",
            id=f"t{number}",
            run_id=f"run {number % 5}",
            metadata={"note": self.CANARY},
        )

    def fill(self, store: SQLiteStore) -> None:
        rng = random.Random(7)
        for number in range(self.TURNS):
            doomed = self.canary_turn(number, rng.choice([0, 10, 200, 900, 3000, 9000]))
            store.apply(
                Batch(
                    add=[doomed, turn("stays " * rng.randrange(400), user_id="boris")],
                    analyses={doomed.id: Analysis(1, self.CANARY.encode() * rng.randrange(1, 99), "o200k_base", 3)},
                    put=[Record("event", doomed.id, {"was": self.CANARY}, item_id=doomed.id)],
                )
            )

    def test_a_deleted_scope_leaves_no_trace_while_the_store_is_open_or_after(self, path: Path) -> None:
        with SQLiteStore(path) as store:
            self.fill(store)
            assert self.remains(path)
            assert store.delete_scope(ASHA) == self.TURNS
            assert self.remains(path) == []
            assert len(store.list(Scope(user_id="boris"))) == self.TURNS
        assert self.remains(path) == []

    def test_turns_deleted_one_by_one_leave_no_trace(self, path: Path) -> None:
        with SQLiteStore(path) as store:
            self.fill(store)
            order = list(range(self.TURNS))
            random.Random(8).shuffle(order)
            for number in order:
                assert store.delete(f"t{number}")
            assert self.remains(path) == []
        assert self.remains(path) == []

    def test_an_edit_leaves_no_trace_of_what_it_replaced(self, path: Path) -> None:
        with SQLiteStore(path) as store:
            self.fill(store)
            for number in range(self.TURNS):
                store.update(f"t{number}", content="removed", metadata={})
            store.apply(Batch(drop=[("event", f"t{number}") for number in range(self.TURNS)]))
            assert self.remains(path) == []

    def test_what_a_reader_holds_open_is_gone_after_a_later_write(
        self, path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(connections, "ERASE_RETRY_SECONDS", 0.0)
        with SQLiteStore(path) as store:
            [item_id] = add_all(store, self.canary_turn(1, 100))
            with store._connections.reader() as db:
                assert db.execute("SELECT count(*) FROM llmslim_memory").fetchone() == (1,)
                assert store.delete(item_id)
                assert store.get(item_id) is None
            store.add([turn("next")])
            assert self.remains(path) == []

    def test_writes_do_not_wait_for_a_long_reader_to_let_go_of_erased_text(self, path: Path) -> None:
        with SQLiteStore(path) as store:
            ids = add_all(store, *(self.canary_turn(n, 10) for n in range(3)))
            with store._connections.reader() as db:
                assert db.execute("SELECT count(*) FROM llmslim_memory").fetchone() == (3,)
                store.delete(ids[0])
                tries: list[str] = []
                store._connections._writing().set_trace_callback(tries.append)
                for item_id in ids[1:]:
                    store.delete(item_id)
                store.add([turn("next")])
            assert [sql for sql in tries if "checkpoint" in sql] == []

    def test_what_another_program_holds_open_is_gone_when_the_store_closes(self, path: Path) -> None:
        store = SQLiteStore(path)
        [item_id] = add_all(store, self.canary_turn(1, 100))
        with closing(sqlite3.connect(path)) as other:
            other.execute("BEGIN")
            assert other.execute("SELECT count(*) FROM llmslim_memory").fetchone() == (1,)
            assert store.delete(item_id)
            other.rollback()
            store.close()
            assert self.remains(path) == []
