"""How files of older schemas are opened: step by step, whole steps only, beside programs that have them open."""

from __future__ import annotations

import shutil
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from stores.samples import check_stored

from llmslim_memory.errors import StoreError
from llmslim_memory.stores import SQLiteStore, sqlite_schema
from llmslim_memory.testing.turns import ASHA, contents, turn

STORED = Path(__file__).parent.parent / "data" / "sqlite"


def schema_version(path: Path) -> int:
    with closing(sqlite3.connect(path)) as db:
        return int(db.execute("SELECT value FROM llmslim_meta WHERE key = 'schema_version'").fetchone()[0])


class TestUpgrading:
    def test_every_schema_has_a_stored_file(self) -> None:
        names = [f"schema-{n}.db" for n in range(1, len(sqlite_schema.MIGRATIONS) + 1)]
        assert sorted(p.name for p in STORED.glob("*.db")) == names

    @pytest.mark.parametrize("stored", sorted(STORED.glob("*.db")), ids=lambda p: p.stem)
    def test_a_stored_file_opens_and_holds_what_was_put_in(self, tmp_path: Path, stored: Path) -> None:
        path = tmp_path / "memory.db"
        shutil.copy(stored, path)
        with SQLiteStore(path) as store:
            assert store.check() == []
            check_stored(store)
            store.add([turn("new", id="t7")])
            assert store.list(ASHA)[-2].id == "t7" or store.get("t7") is not None
        assert schema_version(path) == len(sqlite_schema.MIGRATIONS)

    @pytest.fixture
    def next_schema(self, monkeypatch: pytest.MonkeyPatch) -> None:
        step = ("ALTER TABLE llmslim_memory ADD COLUMN mood TEXT", "CREATE INDEX by_mood ON llmslim_memory (mood)")
        monkeypatch.setattr(sqlite_schema, "MIGRATIONS", (*sqlite_schema.MIGRATIONS, step))

    def test_opening_takes_the_steps_that_are_missing(self, tmp_path: Path, request: pytest.FixtureRequest) -> None:
        path = tmp_path / "memory.db"
        with SQLiteStore(path) as store:
            store.add([turn("kept")])
        before = schema_version(path)
        request.getfixturevalue("next_schema")
        SQLiteStore(path).close()
        assert schema_version(path) == before + 1
        with closing(sqlite3.connect(path)) as db:
            assert db.execute("SELECT count(*), max(mood) FROM llmslim_memory").fetchone() == (1, None)

    def test_a_step_that_fails_leaves_nothing_of_itself(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        path = tmp_path / "memory.db"
        with SQLiteStore(path) as store:
            store.add([turn("kept")])
        good = sqlite_schema.MIGRATIONS
        monkeypatch.setattr(sqlite_schema, "MIGRATIONS", (*good, ("CREATE TABLE extra (x)", "CREATE TABLE extra (x)")))
        with pytest.raises(StoreError):
            SQLiteStore(path)
        assert schema_version(path) == len(good)
        monkeypatch.setattr(sqlite_schema, "MIGRATIONS", good)
        with SQLiteStore(path) as store:
            assert contents(store.list(ASHA)) == ["kept"]
            assert store.check() == []

    @pytest.mark.usefixtures("next_schema")
    def test_many_that_open_at_once_take_each_step_once(self, tmp_path: Path) -> None:
        path = tmp_path / "memory.db"

        def use(number: int) -> None:
            with SQLiteStore(path) as store:
                store.add([turn(str(number))])

        with ThreadPoolExecutor(12) as pool:
            list(pool.map(use, range(24)))
        with SQLiteStore(path) as store:
            assert len(store.list(ASHA)) == 24

    def test_a_store_that_is_open_works_on_beside_a_newer_release(
        self, tmp_path: Path, request: pytest.FixtureRequest
    ) -> None:
        path = tmp_path / "memory.db"
        with SQLiteStore(path) as old:
            old.add([turn("before")])
            request.getfixturevalue("next_schema")
            with SQLiteStore(path) as new:
                old.add([turn("old, after")])
                new.add([turn("new, after")])
                expected = ["before", "old, after", "new, after"]
                assert contents(old.list(ASHA)) == contents(new.list(ASHA)) == expected
