"""A memory with workers answers as one without, whatever becomes of them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime, timedelta, timezone, tzinfo
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from memories import NOON, say

from llmslim_memory import AsyncMemory, InMemoryStore, Memory, MemoryContext, SQLiteStore
from llmslim_memory.answering import Workers, frames
from llmslim_memory.answering import workers as workers_module
from llmslim_memory.answering.workers import InWorkerError
from llmslim_memory.errors import LLMSlimError, StoreClosedError

PLACES = ["willow", "harbour", "mill", "meadow", "quarry", "orchard", "weir", "chapel"]
QUESTIONS = [
    "Where does the heron nest?",
    "Summarize what we said about the heron",
    "Should I paint the heron at the weir?",
    "What did I say yesterday?",
    "zeppelin",
]


def talk(user: str, turns: int = 60) -> list[dict[str, Any]]:
    said = []
    for n in range(turns):
        place = PLACES[n % len(PLACES)]
        text = f"{user} saw heron {n} near the {place}. Always name the {place} first. I have never fished there."
        role = "user" if n % 2 else "assistant"
        said.append({"role": role, "content": text, "timestamp": NOON - timedelta(hours=turns - n)})
    return said


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Memory, Memory]]:
    """A memory without workers and one with two, over the same file."""
    path = tmp_path_factory.mktemp("workers") / "m.db"
    with Memory(path, clock=lambda: NOON) as here, Memory(path, clock=lambda: NOON, workers=2) as beside:
        for user in ("asha", "ben"):
            here.add(talk(user), user_id=user, run_id="r1")
            here.add(talk(user, 7), user_id=user, run_id="r2")
        yield here, beside


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory(tmp_path / "m.db", workers=1) as memory:
        memory.add(talk("asha"), user_id="asha")
        yield memory


def pids(memory: Memory) -> list[int]:
    """The processes that search for a memory."""
    answerer = memory._answerer
    assert isinstance(answerer, Workers)
    return [worker._process._child.pid for worker in answerer._workers if worker._process is not None]


def timeless(context: MemoryContext) -> MemoryContext:
    return replace(context, elapsed_ms=0.0)


@pytest.mark.parametrize("query", QUESTIONS)
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"explain": True, "budget": 300},
        {"k": 2, "coverage": "always"},
        {"since": NOON - timedelta(hours=20), "until": NOON - timedelta(hours=3), "budget": 150},
        {"exclude_runs": ["r1"], "now": NOON + timedelta(days=1), "preferences": False},
    ],
)
def test_a_search_in_a_worker_gives_what_a_search_here_gives(
    pair: tuple[Memory, Memory], query: str, options: dict[str, Any]
) -> None:
    here, beside = pair
    for user in ("asha", "ben"):
        assert timeless(beside.search(query, user_id=user, **options)) == timeless(
            here.search(query, user_id=user, **options)
        )
    assert len(pids(beside)) == 2


@pytest.mark.parametrize("query", QUESTIONS)
def test_a_ranking_and_a_version_by_a_worker_are_those_made_here(pair: tuple[Memory, Memory], query: str) -> None:
    here, beside = pair
    some = [item.id for item in here.get_all(user_id="asha")][::3]
    for options in ({"k": 3}, {"only": some}, {"exclude": some}):
        assert beside.rank(query, user_id="asha", **options) == here.rank(query, user_id="asha", **options)
    assert beside.version(user_id="asha", exclude=some) == here.version(user_id="asha", exclude=some)
    assert beside.version(user_id="asha") != beside.version(user_id="asha", exclude=some)


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.sampled_from(["add", "update", "delete"]), st.integers(0, 50)), max_size=12))
def test_whatever_is_written_is_seen_by_the_next_search_in_a_worker(
    pair: tuple[Memory, Memory], writes: list[tuple[str, int]]
) -> None:
    here, beside = pair
    user = uuid4().hex
    for at, (what, n) in enumerate([("add", 0), *writes]):
        stored = here.get_all(user_id=user)
        writer = (here, beside)[at % 2]
        if what == "add" or not stored:
            writer.add(say(f"The heron stood near the {PLACES[n % 8]} on stone {n}."), user_id=user)
        elif what == "update":
            writer.update(stored[n % len(stored)].id, f"It was a stork at the {PLACES[n % 8]}.")
        else:
            writer.delete(stored[n % len(stored)].id)
        assert (
            beside.search("heron", user_id=user, budget=60).text == here.search("heron", user_id=user, budget=60).text
        )
        assert beside.version(user_id=user) == here.version(user_id=user)


def test_many_threads_are_each_given_their_own_answer(pair: tuple[Memory, Memory]) -> None:
    here, beside = pair
    asked = [("asha", "ben")[n % 2] for n in range(60)]
    with ThreadPoolExecutor(12) as pool:
        found = list(pool.map(lambda user: beside.search(f"heron {user}", user_id=user, budget=200).text, asked))
    assert all(
        user in text and not {"asha", "ben"} - {user} & set(text.split())
        for user, text in zip(asked, found, strict=True)
    )
    assert found == [here.search(f"heron {user}", user_id=user, budget=200).text for user in asked]


def test_what_a_worker_cannot_be_given_is_answered_here(pair: tuple[Memory, Memory]) -> None:
    here, beside = pair
    calls = []

    def scorer(query: str, texts: Sequence[str]) -> list[float]:
        calls.append(query)
        return [float("weir" in text) for text in texts]

    found = beside.search("heron", user_id="asha", budget=200, relevance=scorer)
    assert timeless(found) == timeless(here.search("heron", user_id="asha", budget=200, relevance=scorer))
    assert calls == ["heron", "heron"]


class OwnZone(tzinfo):
    """A zone that only this module knows."""

    def utcoffset(self, moment: datetime | None) -> timedelta:
        return timedelta(hours=2)

    def dst(self, moment: datetime | None) -> timedelta:
        return timedelta(0)


class UnsentZone(OwnZone):
    def __reduce__(self) -> Any:
        raise TypeError("this stays here")


@pytest.mark.parametrize("zone", [OwnZone(), UnsentZone()])
def test_a_time_zone_of_the_callers_own_shows_the_same_dates(tmp_path: Path, zone: tzinfo) -> None:
    with Memory(tmp_path / "m.db", tz=zone, workers=1) as memory:
        memory.add(talk("asha"), user_id="asha")
        expected = Memory(memory.store, tz=timezone(timedelta(hours=2))).search("heron", user_id="asha", budget=200)
        assert memory.search("heron", user_id="asha", budget=200).text == expected.text


def test_an_error_in_a_worker_is_raised_as_the_same_error(pair: tuple[Memory, Memory]) -> None:
    here, beside = pair
    with pytest.raises(LLMSlimError) as raised_here:
        here.search("heron", user_id="asha", relevance="no/such-model")
    with pytest.raises(LLMSlimError) as raised:
        beside.search("heron", user_id="asha", relevance="no/such-model")
    assert type(raised.value) is type(raised_here.value)
    assert str(raised.value) == str(raised_here.value)
    assert isinstance(raised.value.__cause__, InWorkerError)
    assert "heron" not in str(raised.value.__cause__)


def test_a_worker_that_is_killed_is_replaced_and_no_search_fails(memory: Memory) -> None:
    expected = memory.search("heron weir", user_id="asha", budget=200).text
    for _ in range(3):
        (pid,) = pids(memory)
        os.kill(pid, signal.SIGKILL)
        assert memory.search("heron weir", user_id="asha", budget=200).text == expected
        assert memory.search("heron weir", user_id="asha", budget=200).text == expected
        assert pids(memory) != [pid]


def test_searches_under_way_in_a_worker_that_is_killed_are_answered(memory: Memory) -> None:
    expected = memory.search("heron weir", user_id="asha", budget=200).text
    (pid,) = pids(memory)
    os.kill(pid, signal.SIGSTOP)
    with ThreadPoolExecutor(6) as pool:
        searches = [pool.submit(memory.search, "heron weir", user_id="asha", budget=200) for _ in range(6)]
        time.sleep(0.1)
        assert not any(search.done() for search in searches)
        os.kill(pid, signal.SIGKILL)
        assert [search.result().text for search in searches] == [expected] * 6


def test_a_worker_that_cannot_start_is_done_without(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    tries = []

    def fail(*arguments: str, **options: object) -> None:
        tries.append(arguments)
        raise OSError("no more processes")

    monkeypatch.setattr(workers_module, "start_child", fail)
    for _ in range(3):
        assert "heron" in memory.search("heron", user_id="asha", budget=200).text
    assert len(tries) == 1


def test_a_search_that_is_interrupted_leaves_no_answer_for_the_next_one(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory.add(talk("ben"), user_id="ben")
    memory.search("heron", user_id="asha")

    def interrupted(file: object) -> bytes:
        monkeypatch.undo()
        raise KeyboardInterrupt

    monkeypatch.setattr(frames, "read", interrupted)
    with pytest.raises(KeyboardInterrupt):
        memory.search("heron", user_id="asha", budget=200)
    assert "asha" not in memory.search("heron", user_id="ben", budget=200).text
    assert "ben" in memory.search("heron", user_id="ben", budget=200).text


def test_workers_end_when_the_memory_is_closed(tmp_path: Path) -> None:
    memory = Memory(tmp_path / "m.db", workers=2)
    for user in ("asha", "ben"):
        memory.search("heron", user_id=user)
    running = pids(memory)
    assert len(running) == 2
    memory.close()
    memory.close()
    assert not any(is_running(pid) for pid in running)
    with pytest.raises(StoreClosedError):
        memory.search("heron", user_id="asha")


def test_workers_end_with_the_last_reference_to_a_memory_that_nobody_closes(tmp_path: Path) -> None:
    memory = Memory(tmp_path / "m.db", workers=1)
    memory.search("heron", user_id="asha")
    (pid,) = pids(memory)
    del memory
    assert not is_running(pid)


SEARCH_AND_WAIT = """
import sys, time
from llmslim_memory import Memory
memory = Memory(sys.argv[1], workers=1)
memory.search("heron", user_id="asha")
print(memory._answerer._workers[0]._process._child.pid, flush=True)
time.sleep(60)
"""


def test_workers_end_when_their_parent_is_killed(tmp_path: Path) -> None:
    command = [sys.executable, "-c", SEARCH_AND_WAIT, str(tmp_path / "m.db")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        parent.kill()
    deadline = time.monotonic() + 30
    while is_running(pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not is_running(pid)


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    status = Path(f"/proc/{pid}/stat")
    return not status.exists() or status.read_text().rpartition(")")[2].split()[0] != "Z"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_child_has_workers_of_its_own(memory: Memory) -> None:
    expected = memory.search("heron weir", user_id="asha", budget=200).text
    of_parent = pids(memory)
    child = os.fork()
    if not child:
        same = memory.search("heron weir", user_id="asha", budget=200).text == expected
        own = bool(pids(memory)) and pids(memory) != of_parent
        memory.close()
        os._exit(0 if same and own else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert memory.search("heron weir", user_id="asha", budget=200).text == expected
    assert pids(memory) == of_parent


@pytest.mark.parametrize(
    ("store", "options", "words"),
    [
        (None, {}, "path or URL"),
        (InMemoryStore(), {}, "path or URL"),
        (":memory:", {}, "path of a file"),
        ("m.db", {"encoding": len}, "name of an encoding"),
        ("m.db", {"workers": -1}, "workers"),
        ("m.db", {"workers": True}, "workers"),
        ("m.db", {"workers": "2"}, "workers"),
    ],
)
def test_a_memory_that_workers_cannot_see_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, store: Any, options: dict[str, Any], words: str
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises((ValueError, TypeError), match=words):
        Memory(store, **{"workers": 1, **options})


def test_workers_find_a_file_named_from_a_folder_that_was_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with Memory("sqlite:///m.db", workers=1) as memory:
        memory.add(talk("asha"), user_id="asha")
        (tmp_path / "elsewhere").mkdir()
        monkeypatch.chdir(tmp_path / "elsewhere")
        assert "asha" in memory.search("heron", user_id="asha").text
        assert pids(memory)
    assert not (tmp_path / "elsewhere" / "m.db").exists()


async def test_an_async_memory_searches_in_workers(tmp_path: Path) -> None:
    async with AsyncMemory(tmp_path / "m.db", workers=1) as memory:
        await memory.add(talk("asha"), user_id="asha")
        assert "asha" in (await memory.search("heron", user_id="asha", budget=200)).text
        assert len(pids(memory.open())) == 1


def test_a_sqlite_store_says_which_file_it_is(tmp_path: Path) -> None:
    with Memory(tmp_path / "m.db") as memory:
        assert isinstance(memory.store, SQLiteStore)
        assert memory.store.path == tmp_path / "m.db"
    with Memory(":memory:") as memory:
        assert isinstance(memory.store, SQLiteStore)
        assert memory.store.path is None
