"""Which files a SQLite store opens, creates, upgrades and refuses."""

from __future__ import annotations

import os
import sqlite3
import stat
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from llmslim_memory.errors import InvalidTypeError, InvalidValueError, SchemaError, StoreError, StoreFullError
from llmslim_memory.stores import SQLiteStore, open_store, sqlite_schema
from llmslim_memory.testing.turns import ASHA, contents, turn

STORED = Path(__file__).parent.parent / "data" / "sqlite"


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def state(folder: Path) -> dict[str, tuple[bytes, int]]:
    return {p.name: (p.read_bytes(), p.stat().st_mtime_ns) for p in folder.iterdir()}


def schema_version(path: Path) -> int:
    with closing(sqlite3.connect(path)) as db:
        return int(db.execute("SELECT value FROM llmslim_meta WHERE key = 'schema_version'").fetchone()[0])


class TestCreating:
    def test_the_file_and_the_folders_made_for_it_are_its_owners_alone(self, tmp_path: Path) -> None:
        tmp_path.chmod(0o755)
        path = tmp_path / "a" / "b" / "memory.db"
        with SQLiteStore(path) as store:
            store.add([turn()])
            assert store.list(ASHA)
            for name in ("memory.db", "memory.db-wal", "memory.db-shm"):
                assert mode(path.with_name(name)) == 0o600
        assert (mode(tmp_path / "a"), mode(tmp_path / "a" / "b")) == (0o700, 0o700)
        assert mode(tmp_path) == 0o755

    def test_a_file_that_is_there_keeps_its_mode(self, tmp_path: Path) -> None:
        path = tmp_path / "memory.db"
        path.touch(0o644)
        path.chmod(0o644)
        SQLiteStore(path).close()
        assert mode(path) == 0o644

    @pytest.mark.parametrize(
        "name",
        ["a?b.db", "a#b", "a%20b", "file:x.db", "caf\u00e9 \U0001f40d.db", " spaced ", "quote'\".db", ":memory:.db"],
    )
    def test_a_name_is_taken_as_it_is(self, tmp_path: Path, name: str) -> None:
        with SQLiteStore(tmp_path / name) as store:
            store.add([turn("kept")])
        assert [p.name for p in tmp_path.iterdir()] == [name]
        with open_store(tmp_path / name) as store:  # type: ignore[attr-defined]
            assert contents(store.list(ASHA)) == ["kept"]

    def test_a_relative_path_stays_where_it_was_when_the_folder_changes(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "other").mkdir()
        monkeypatch.chdir(tmp_path)
        with SQLiteStore("file:memory.db") as store:
            monkeypatch.chdir(tmp_path / "other")
            store.add([turn("kept")])
            assert contents(store.list(ASHA)) == ["kept"]
        assert [p.name for p in (tmp_path / "other").iterdir()] == []

    def test_a_tilde_is_the_home_folder(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("HOME", str(tmp_path))
        SQLiteStore("~/memory.db").close()
        assert (tmp_path / "memory.db").exists()

    def test_the_file_is_in_wal_mode_and_closing_leaves_one_file(self, tmp_path: Path) -> None:
        path = tmp_path / "memory.db"
        with SQLiteStore(path) as store:
            store.add([turn()])
            with closing(sqlite3.connect(path)) as db:
                assert db.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert [p.name for p in tmp_path.iterdir()] == ["memory.db"]

    @pytest.mark.parametrize(
        ("path", "kind"),
        [("", InvalidValueError), (" ", InvalidValueError), ("a\x00b", InvalidValueError), (7, InvalidTypeError)],
    )
    def test_what_names_no_file_is_refused(self, path: Any, kind: type[Exception]) -> None:
        with pytest.raises(kind):
            SQLiteStore(path)

    def test_a_folder_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(InvalidValueError, match="pass the path of a file"):
            SQLiteStore(tmp_path)

    @pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
    def test_a_pipe_and_a_device_are_refused_at_once(self, tmp_path: Path) -> None:
        os.mkfifo(tmp_path / "pipe")
        for path in (tmp_path / "pipe", os.devnull):
            with pytest.raises(InvalidValueError, match="is no file"):
                SQLiteStore(path)

    def test_a_path_through_a_file_is_refused(self, tmp_path: Path) -> None:
        (tmp_path / "file").write_text("text")
        with pytest.raises(InvalidValueError, match="pass the path of a file"):
            SQLiteStore(tmp_path / "file" / "memory.db")

    @pytest.mark.parametrize(
        "options",
        [
            {"synchronous": "MAYBE"},
            {"synchronous": "FULL; DROP TABLE x"},
            {"synchronous": None},
            {"busy_timeout": -1},
            {"busy_timeout": float("nan")},
            {"busy_timeout": "5"},
            {"busy_timeout": True},
        ],
        ids=repr,
    )
    def test_unusable_options_are_refused(self, tmp_path: Path, options: dict[str, Any]) -> None:
        with pytest.raises((ValueError, TypeError)):
            SQLiteStore(tmp_path / "memory.db", **options)

    @pytest.mark.parametrize(("name", "number"), [("off", 0), ("NORMAL", 1), ("FULL", 2), ("Extra", 3)])
    def test_synchronous_is_set_on_the_connection_that_writes(self, tmp_path: Path, name: str, number: int) -> None:
        with (
            SQLiteStore(tmp_path / "memory.db", synchronous=name) as store,
            store._connections.writer() as db,
        ):
            assert db.execute("PRAGMA synchronous").fetchone() == (number,)


class TestReadOnly:
    def test_a_file_that_is_opened_read_only_is_read_and_left_as_it_is(self, tmp_path: Path) -> None:
        path = tmp_path / "memory.db"
        with SQLiteStore(path) as store:
            store.add([turn("kept", id="t")])
        before = state(tmp_path)
        with SQLiteStore(path, read_only=True) as store:
            assert contents(store.list(ASHA)) == ["kept"]
            assert store.check() == []
            for write in (lambda: store.add([turn()]), lambda: store.delete("t"), lambda: store.delete_scope(ASHA)):
                with pytest.raises(InvalidValueError, match="read-only"):
                    write()
        assert state(tmp_path) == before

    def test_a_read_only_store_sees_what_others_write(self, tmp_path: Path) -> None:
        with SQLiteStore(tmp_path / "m.db") as writing, SQLiteStore(tmp_path / "m.db", read_only=True) as reading:
            writing.add([turn("new")])
            assert contents(reading.list(ASHA)) == ["new"]

    def test_nothing_is_created_for_reading(self, tmp_path: Path) -> None:
        with pytest.raises(InvalidValueError, match="no file"):
            SQLiteStore(tmp_path / "folder" / "memory.db", read_only=True)
        with pytest.raises(InvalidValueError, match="in memory"):
            SQLiteStore(":memory:", read_only=True)
        assert list(tmp_path.iterdir()) == []

    def test_an_older_schema_is_not_upgraded_for_reading(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        SQLiteStore(tmp_path / "memory.db").close()
        monkeypatch.setattr(sqlite_schema, "MIGRATIONS", (*sqlite_schema.MIGRATIONS, ("CREATE TABLE extra (x)",)))
        with pytest.raises(SchemaError, match="open it once for writing"):
            SQLiteStore(tmp_path / "memory.db", read_only=True)

    def test_a_file_removed_while_open_is_not_created_again(self, tmp_path: Path) -> None:
        with SQLiteStore(tmp_path / "memory.db") as store:
            (tmp_path / "memory.db").unlink()
            with pytest.raises(StoreError, match="is gone"):
                store.list(ASHA)
            assert not (tmp_path / "memory.db").exists()


class TestForeignFiles:
    @pytest.fixture
    def path(self, tmp_path: Path) -> Path:
        (tmp_path / "folder").mkdir()
        return tmp_path / "folder" / "memory.db"

    def refuse(self, path: Path) -> None:
        before = state(path.parent)
        with pytest.raises(SchemaError):
            SQLiteStore(path)
        assert state(path.parent) == before

    @pytest.mark.parametrize("data", [b"# Notes\n", b"\x00" * 4096, b"SQLite format 2\x00" + b"x" * 200, b"S"])
    def test_a_file_that_is_no_database_is_left_as_it_is(self, path: Path, data: bytes) -> None:
        path.write_bytes(data)
        self.refuse(path)

    @pytest.mark.parametrize("wal", [False, True])
    def test_another_programs_database_is_left_as_it_is(self, path: Path, wal: bool) -> None:
        with closing(sqlite3.connect(path)) as db:
            db.execute(f"PRAGMA journal_mode = {'WAL' if wal else 'DELETE'}")
            db.execute("CREATE TABLE bookmarks (url TEXT)")
            db.commit()
        self.refuse(path)

    def test_another_programs_database_with_tables_of_our_names_is_left_as_it_is(self, path: Path) -> None:
        with closing(sqlite3.connect(path)) as db:
            db.execute("CREATE TABLE llmslim_memory (id TEXT PRIMARY KEY, content TEXT)")
            db.execute("CREATE TABLE llmslim_meta (key TEXT PRIMARY KEY, value TEXT)")
            db.execute("INSERT INTO llmslim_meta VALUES ('schema_version', '1')")
            db.commit()
        self.refuse(path)

    def test_an_empty_database_with_another_programs_mark_is_left_as_it_is(self, path: Path) -> None:
        with closing(sqlite3.connect(path)) as db:
            db.execute("PRAGMA application_id = 1234567")
        self.refuse(path)

    @pytest.mark.parametrize("version", [len(sqlite_schema.MIGRATIONS) + 1, 2**40])
    def test_a_newer_schema_is_left_as_it_is(self, path: Path, version: int) -> None:
        SQLiteStore(path).close()
        with closing(sqlite3.connect(path)) as db:
            db.execute("UPDATE llmslim_meta SET value = ? WHERE key = 'schema_version'", (version,))
            db.commit()
        before = state(path.parent)
        with pytest.raises(SchemaError, match="upgrade llmslim-memory"):
            SQLiteStore(path)
        assert state(path.parent) == before

    def test_our_mark_without_our_tables_is_refused(self, path: Path) -> None:
        with closing(sqlite3.connect(path)) as db:
            db.execute(f"PRAGMA application_id = {sqlite_schema.APPLICATION_ID}")
            db.execute("CREATE TABLE x (y)")
            db.commit()
        self.refuse(path)

    def test_an_empty_file_and_an_empty_database_become_stores(self, tmp_path: Path) -> None:
        (tmp_path / "empty").touch()
        with closing(sqlite3.connect(tmp_path / "database")) as db:
            db.execute("PRAGMA journal_mode = WAL")
        for name in ("empty", "database"):
            with SQLiteStore(tmp_path / name) as store:
                store.add([turn("kept")])
                assert contents(store.list(ASHA)) == ["kept"]


class TestCare:
    def test_a_backup_holds_everything_and_opens_as_a_store(self, tmp_path: Path) -> None:
        with SQLiteStore(tmp_path / "memory.db") as store:
            store.add([turn(str(n)) for n in range(50)])
            store.backup(tmp_path / "copies" / "backup.db")
            store.add([turn("later")])
        assert mode(tmp_path / "copies" / "backup.db") == 0o600
        assert [p.name for p in (tmp_path / "copies").iterdir()] == ["backup.db"]
        with SQLiteStore(tmp_path / "copies" / "backup.db") as copy:
            assert contents(copy.list(ASHA)) == [str(n) for n in range(50)]
            assert copy.check() == []

    def test_a_backup_made_while_threads_write_holds_whole_batches(self, tmp_path: Path) -> None:
        with SQLiteStore(tmp_path / "memory.db") as store, ThreadPoolExecutor(3) as pool:
            writers = [pool.submit(lambda: [store.add([turn(), turn(), turn()]) for _ in range(30)]) for _ in range(3)]
            for number in range(4):
                store.backup(tmp_path / f"{number}.db")
            for writer in writers:
                writer.result()
        for number in range(4):
            with SQLiteStore(tmp_path / f"{number}.db") as copy:
                assert len(copy.list(ASHA)) % 3 == 0

    def test_a_backup_never_replaces_a_file(self, tmp_path: Path) -> None:
        with SQLiteStore(tmp_path / "memory.db") as store:
            (tmp_path / "notes.txt").write_text("mine")
            for name in ("notes.txt", "memory.db"):
                with pytest.raises(InvalidValueError, match="exists already"):
                    store.backup(tmp_path / name)
        assert (tmp_path / "notes.txt").read_text() == "mine"

    def test_a_store_in_memory_can_be_backed_up(self, tmp_path: Path) -> None:
        with SQLiteStore(":memory:") as store:
            store.add([turn("kept")])
            store.backup(tmp_path / "backup.db")
            store.add([turn("later")])
        with SQLiteStore(tmp_path / "backup.db") as copy:
            assert contents(copy.list(ASHA)) == ["kept"]

    def test_damage_is_found(self, tmp_path: Path) -> None:
        path = tmp_path / "memory.db"
        with SQLiteStore(path) as store:
            store.add([turn("some text " * 50) for _ in range(200)])
            assert store.check() == []
        data = bytearray(path.read_bytes())
        for start in range(4096 * 20, len(data), 4096 * 5):
            data[start : start + 64] = b"\xa5" * 64
        path.write_bytes(data)
        with SQLiteStore(path) as store:
            assert store.check() != []

    def test_a_full_disk_loses_nothing_acknowledged(self, tmp_path: Path) -> None:
        with SQLiteStore(tmp_path / "memory.db") as store:
            with store._connections.writer() as db:
                pages = db.execute("PRAGMA page_count").fetchone()[0]
            store._connections._writing().execute(f"PRAGMA max_page_count = {pages + 40}")
            acknowledged = 0

            def fill() -> None:
                nonlocal acknowledged
                while True:
                    store.add([turn("x" * 3000, id=f"{acknowledged}-{n}") for n in range(3)])
                    acknowledged += 1

            with pytest.raises(StoreFullError, match="no room"):
                fill()
            assert acknowledged > 0
            assert len(store.list(ASHA)) == acknowledged * 3
            store._connections._writing().execute("PRAGMA max_page_count = 1000000")
            store.add([turn("room again")])
        with SQLiteStore(tmp_path / "memory.db") as store:
            assert len(store.list(ASHA)) == acknowledged * 3 + 1
            assert store.check() == []
