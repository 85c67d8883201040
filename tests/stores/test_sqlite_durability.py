"""What a SQLite store keeps through crashes, locks and forks, and what it forgets for good."""

from __future__ import annotations

import gc
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from threading import Event, Thread

import pytest

from llmslim_memory.errors import StoreUnavailableError
from llmslim_memory.stores import SQLiteStore
from llmslim_memory.stores import sqlite_connections as connections
from llmslim_memory.stores.sqlite_files import use_wal
from llmslim_memory.testing.turns import ASHA, add_all, contents, turn
from llmslim_memory.types import Scope

ADD_UNTIL_KILLED = """
import os, sys
from datetime import UTC, datetime
from llmslim_memory.stores import SQLiteStore
from llmslim_memory.types import MemoryItem

def say(word):
    os.write(1, f"{word}\\n".encode())  # in one piece, whenever the end comes

def add(life):
    say(os.getpid())
    store, added, batch = SQLiteStore(sys.argv[1]), 0, 0
    while added < 1000:
        size = batch % 4 + 1
        ids = [f"{life}-{batch}-{n}-{size}" for n in range(size)]
        store.add([MemoryItem(i, "user", "word " * 40, datetime.now(UTC), user_id="asha") for i in ids])
        added += size
        say(batch)
        batch += 1

for line in sys.stdin:
    pid = os.fork()
    if pid == 0:
        add(line.strip())
        os._exit(0)
    say("killed" if os.WIFSIGNALED(os.waitpid(pid, 0)[1]) else "finished")
"""

HOLD_THE_WRITE_LOCK = """
import sqlite3, sys, time
db = sqlite3.connect(sys.argv[1], isolation_level=None)
db.execute("BEGIN IMMEDIATE")
print("held", flush=True)
time.sleep(float(sys.argv[2]))
db.execute("COMMIT")
"""


@contextmanager
def child(script: str, *args: object) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-c", script, *map(str, args)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"


class TestCrashes:
    def test_twenty_kills_lose_no_acknowledged_turn_and_leave_no_half_batch(self, path: Path) -> None:
        acknowledged: dict[int, int] = {}
        with child(ADD_UNTIL_KILLED, path) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            for life in range(20):
                print(life, file=process.stdin, flush=True)
                pid = int(process.stdout.readline())
                acknowledged[life] = int(process.stdout.readline())
                time.sleep(random.uniform(0, 0.08))
                os.kill(pid, signal.SIGKILL)
                while (line := process.stdout.readline()) != "killed\n":
                    acknowledged[life] = int(line)
        with SQLiteStore(path) as store:
            assert store.check() == []
            batches: Counter[tuple[int, int, int]] = Counter()
            for item in store.list(ASHA):
                life, batch, _, size = map(int, item.id.split("-"))
                batches[life, batch, size] += 1
        assert all(count == size for (_, _, size), count in batches.items())
        kept = {(life, batch) for life, batch, _ in batches}
        for life, last in acknowledged.items():
            assert {(life, batch) for batch in range(last + 1)} <= kept

    def test_stores_on_one_file_in_one_process_keep_their_locks_from_one_another(self, path: Path) -> None:
        # SQLite takes the write-ahead log away when the last one closes the file, and knows by locks who is left.
        with SQLiteStore(path) as store:
            store.add([turn("first")])
            for _ in range(2):
                SQLiteStore(path).close()
                SQLiteStore(path, read_only=True).close()
                open_and_close = "import sys; from llmslim_memory import SQLiteStore; SQLiteStore(sys.argv[1]).close()"
                subprocess.run([sys.executable, "-c", open_and_close, path], check=True)
                assert path.with_name(path.name + "-wal").exists()
            store.add([turn("second")])
            found = (
                "import sys; from llmslim_memory import SQLiteStore; print(len(SQLiteStore(sys.argv[1]).scan().items))"
            )
            seen = subprocess.run([sys.executable, "-c", found, path], check=True, capture_output=True, text=True)
            assert seen.stdout.strip() == "2"

    def test_a_write_that_is_interrupted_leaves_nothing(self, path: Path) -> None:
        with SQLiteStore(path) as store:
            store.add([turn("before")])

            def interrupted() -> None:
                with store._connections.writer() as db:
                    db.execute("DELETE FROM llmslim_memory")
                    raise KeyboardInterrupt

            with pytest.raises(KeyboardInterrupt):
                interrupted()
            assert contents(store.list(ASHA)) == ["before"]
            store.add([turn("after")])
            assert contents(store.list(ASHA)) == ["before", "after"]


class TestLocks:
    def test_a_write_waits_for_another_program_that_is_writing(self, path: Path) -> None:
        with SQLiteStore(path) as store, child(HOLD_THE_WRITE_LOCK, path, 0.4) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == "held\n"
            assert store.list(ASHA) == []
            store.add([turn("waited")])
            assert process.wait(10) == 0
            assert contents(store.list(ASHA)) == ["waited"]

    def test_a_write_that_waited_too_long_says_so_and_stores_nothing(self, path: Path) -> None:
        with SQLiteStore(path, busy_timeout=0.05) as store, child(HOLD_THE_WRITE_LOCK, path, 60) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == "held\n"
            with pytest.raises(StoreUnavailableError, match="busy_timeout") as caught:
                store.add([turn("a secret")])
            assert isinstance(caught.value.__cause__, sqlite3.OperationalError)
            assert "secret" not in str(caught.value)
            assert store.list(ASHA) == []
            process.kill()
            process.wait()
            store.add([turn("free again")])
            assert contents(store.list(ASHA)) == ["free again"]

    def test_reading_goes_on_while_a_write_is_open(self, path: Path) -> None:
        with SQLiteStore(path) as store:
            store.add([turn("before")])
            with store._connections.writer() as db:
                db.execute("UPDATE llmslim_content SET content = 'unfinished'")
                assert contents(store.list(ASHA)) == ["before"]
                with ThreadPoolExecutor(4) as pool:
                    assert list(pool.map(lambda _: contents(store.list(ASHA)), range(8))) == [["before"]] * 8

    def test_a_reader_sees_one_moment(self, path: Path) -> None:
        with SQLiteStore(path) as store:
            store.add([turn("a")])
            with store._connections.reader() as db:
                count = "SELECT count(*) FROM llmslim_memory"
                assert db.execute(count).fetchone() == (1,)
                store.add([turn("b")])
                assert db.execute(count).fetchone() == (1,)

    def test_readers_beyond_the_pool_are_closed_again(self, path: Path) -> None:
        with SQLiteStore(path) as store:
            opened = connections.MAX_IDLE_READERS + 8
            ready, go = [Event() for _ in range(opened)], Event()

            def hold(number: int) -> None:
                with store._connections.reader():
                    ready[number].set()
                    go.wait(10)

            with ThreadPoolExecutor(opened) as pool:
                running = [pool.submit(hold, number) for number in range(opened)]
                assert all(event.wait(10) for event in ready)
                go.set()
                for each in running:
                    each.result()
            assert len(store._connections._idle) == connections.MAX_IDLE_READERS

    def test_closing_lets_a_reader_finish(self, path: Path) -> None:
        store = SQLiteStore(path)
        store.add([turn("a")])
        with store._connections.reader() as db:
            store.close()
            assert db.execute("SELECT content FROM llmslim_content").fetchone() == ("a",)
        assert store._connections._idle == []


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
class TestForks:
    @staticmethod
    def in_child(work: object) -> int:
        pid = os.fork()
        if pid == 0:
            try:
                work()  # type: ignore[operator]
                os._exit(0)
            except BaseException:  # noqa: BLE001
                os._exit(1)
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

    def test_a_forked_child_and_its_parent_both_go_on(self, path: Path) -> None:
        with SQLiteStore(path) as store:
            store.add([turn("before")])
            assert store.list(ASHA)

            def work() -> None:
                assert contents(store.list(ASHA)) == ["before"]
                store.add([turn("child")])
                assert contents(store.list(ASHA)) == ["before", "child"]
                store.close()

            assert self.in_child(work) == 0
            store.add([turn("parent")])
            assert contents(store.list(ASHA)) == ["before", "child", "parent"]
            assert store.check() == []

    def test_no_connection_is_carried_into_the_child(self, path: Path) -> None:
        with SQLiteStore(path) as store:
            store.add([turn("before")])
            assert store.list(ASHA)

            def work() -> None:
                assert store._connections._writer is None
                assert store._connections._idle == []

            assert self.in_child(work) == 0

    def test_a_child_can_write_although_threads_were_writing_when_it_was_forked(self, path: Path) -> None:
        with SQLiteStore(path) as store:
            stop = Event()

            def write() -> None:
                while not stop.is_set():
                    store.add([turn("parent")])
                    store.list(ASHA)

            threads = [Thread(target=write) for _ in range(3)]
            for thread in threads:
                thread.start()
            try:
                codes = [self.in_child(lambda: store.add([turn("child", user_id="child")])) for _ in range(5)]
            finally:
                stop.set()
                for thread in threads:
                    thread.join()
            assert codes == [0] * 5
            assert contents(store.list(Scope(user_id="child"))) == ["child"] * 5
            assert store.check() == []

    def test_a_store_in_memory_is_copied_with_the_process(self) -> None:
        with SQLiteStore(":memory:") as store:
            store.add([turn("before")])

            def work() -> None:
                store.add([turn("child")])
                assert contents(store.list(ASHA)) == ["before", "child"]

            assert self.in_child(work) == 0
            assert contents(store.list(ASHA)) == ["before"]


class TestWithoutAWriteAheadLog:
    def test_a_place_without_one_is_told_in_the_log(self, caplog: pytest.LogCaptureFixture) -> None:
        with closing(sqlite3.connect(":memory:")) as db:  # has none either
            use_wal(db, 1.0)
        assert "reading waits for writing" in caplog.text

    def test_threads_write_read_and_erase_all_the_same(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(connections, "use_wal", lambda db, busy_timeout: None)

        def work(number: int) -> None:
            scope = Scope(user_id=f"user {number}")
            for n in range(8):
                [item_id] = add_all(store, turn(f"canary {n}", user_id=scope.user_id))
                assert contents(store.list(scope)) == [f"canary {n}"]
                assert store.delete(item_id)

        with SQLiteStore(path) as store:
            with ThreadPoolExecutor(6) as pool:
                list(pool.map(work, range(6)))
            assert store.scopes() == []
            assert b"canary" not in path.read_bytes()
            assert [p.name for p in path.parent.iterdir()] == ["memory.db"]


class TestFilesThatMove:
    @pytest.mark.parametrize("move", ["remove", "replace"])
    def test_nothing_is_written_to_a_file_that_lost_its_place(self, path: Path, move: str) -> None:
        with SQLiteStore(path) as store, SQLiteStore(path.with_name("other.db")) as other:
            store.add([turn("before")])
            other.add([turn("restored")])
            other.backup(path.with_name("backup.db"))
            if move == "remove":
                path.unlink()
            else:
                path.with_name("backup.db").replace(path)
            with pytest.raises(StoreUnavailableError, match="open the store again"):
                store.add([turn("would be lost")])
            with pytest.raises(StoreUnavailableError, match="open the store again"):
                store.list(ASHA)


class TestForgottenStores:
    def test_a_store_that_nobody_holds_is_closed(self, path: Path) -> None:
        store = SQLiteStore(path)
        store.add([turn("kept")])
        assert len(list(path.parent.iterdir())) == 3
        del store
        gc.collect()
        assert [p.name for p in path.parent.iterdir()] == ["memory.db"]

    def test_a_store_that_is_open_at_the_end_of_the_process_is_closed(self, path: Path) -> None:
        script = (
            "import sys; from llmslim_memory.stores import SQLiteStore; from llmslim_memory.types import Scope;"
            "store = SQLiteStore(sys.argv[1]); store.delete_scope(Scope('asha'))"
        )
        subprocess.run([sys.executable, "-W", "error", "-c", script, path], check=True)
        assert [p.name for p in path.parent.iterdir()] == ["memory.db"]
