"""Processes that help an import: they change how long it takes and nothing else, whatever becomes of them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from llmslim_memory import InMemoryStore, Memory, SQLiteStore, import_history
from llmslim_memory.history import work
from llmslim_memory.indexing import beside
from llmslim_memory.indexing.beside import Analysts
from llmslim_memory.indexing.turns import VERSION, TurnAnalyser
from llmslim_memory.tokens import make_counter
from llmslim_memory.types import Scope
from tests.importers.helpers import imported, lines, message

JOBS = [(("user", "assistant")[n % 2], f"Turn {n} about the {n * 7919} boats. " * (1 + n % 5)) for n in range(200)]


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[subprocess.Popen[bytes]]]:
    """The helpers that a test started; none is left at its end."""
    found: list[subprocess.Popen[bytes]] = []
    make = beside.start_child

    def helper(*arguments: str) -> subprocess.Popen[bytes]:
        found.append(make(*arguments))
        return found[-1]

    monkeypatch.setattr(beside, "start_child", helper)
    yield found
    assert all(process.poll() is not None for process in found)


def check(analysts: Analysts) -> None:
    own = TurnAnalyser(make_counter())
    for batch in (JOBS[:120], JOBS[120:]):
        for job in batch:
            analysts.expect(*job)
        assert [analysts.analyse(*job) for job in batch] == [own.pack(*job) for job in batch]
        analysts.forget()


@pytest.mark.parametrize("count", [0, 1, 3])
def test_what_helpers_work_out_is_what_one_process_would(count: int, started: list[Any]) -> None:
    with Analysts(make_counter(), count) as analysts:
        check(analysts)
    assert len(started) == count


def test_what_is_there_already_is_analysed_for_one_batch_at_most(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected: list[str] = []
    source = lines(tmp_path / "a.jsonl", [message(f"turn {n} about boats") for n in range(1_200)])
    with Memory(tmp_path / "memory.db") as memory:
        assert import_history(source, memory).imported == 1_200
        monkeypatch.setattr(Analysts, "expect", lambda _, role, content: expected.append(content))
        assert import_history(source, memory, helpers=1).duplicates == 1_200
    assert len(expected) == work.BATCH_TURNS


def test_a_helper_that_is_killed_costs_no_turn(started: list[subprocess.Popen[bytes]]) -> None:
    with Analysts(make_counter(), 1) as analysts:
        for job in JOBS:
            analysts.expect(*job)
        while not started:
            time.sleep(0.01)
        started[0].kill()
        check(analysts)


def test_a_helper_that_answers_nonsense_costs_no_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    def nonsense(*_: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-c", "print('no pickle')"]
        return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    monkeypatch.setattr(beside, "start_child", nonsense)
    with Analysts(make_counter(), 1) as analysts:
        check(analysts)


def test_a_helper_that_cannot_be_started_costs_no_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/no/such/python")
    with Analysts(make_counter(), 2) as analysts:
        check(analysts)


def test_a_counter_that_is_a_function_is_counted_with_here(started: list[Any]) -> None:
    with Analysts(make_counter(len), 2) as analysts:
        analysts.expect("user", "words")
        assert analysts.analyse("user", "words").tokens == 5
    assert started == []


@pytest.mark.parametrize("source", ["new", "known", "half known"])
def test_an_import_with_helpers_stores_what_one_without_does(tmp_path: Path, source: str, started: list[Any]) -> None:
    path = lines(tmp_path / "a.jsonl", [message(text, role) for role, text in JOBS] * 4)
    stored = []
    for count in (0, 2):
        with SQLiteStore(tmp_path / f"{count}.db") as store, Memory(store) as memory:
            if source != "new":
                imported(path, memory, limit=800 if source == "known" else 300, helpers=0)
            report = imported(path, memory, helpers=count)
            assert report.imported + report.duplicates == 800
            heads = store.changes(Scope("default"), version=VERSION, encoding=memory.counter.name).heads
            assert all(head.analysis for head in heads)
            stored.append([(head.id, head.analysis, head.tokens) for head in heads])
    assert stored[0] == stored[1]
    assert len(started) == 2


@pytest.mark.parametrize(
    ("size", "cores", "options", "expected"),
    [(1, 2, {}, 1), (1, 1, {}, 0), (1, 2, {"helpers": 0}, 0), (1 << 40, 2, {}, 0), (1 << 40, 1, {"helpers": 2}, 2)],
)
def test_only_a_large_import_has_a_helper_unless_asked_for(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    started: list[Any],
    size: int,
    cores: int,
    options: dict[str, int],
    expected: int,
) -> None:
    monkeypatch.setattr(work, "HELPED_BYTES", size)
    monkeypatch.setattr(os, "cpu_count", lambda: cores)
    path = lines(tmp_path / "a.jsonl", [message("words")])
    for dry_run in (True, False):
        import_history(path, Memory(InMemoryStore()), dry_run=dry_run, **options)
    assert len(started) == expected


@pytest.mark.parametrize("value", [-1, True, "2", 1.5])
def test_a_number_of_helpers_that_is_none_is_named(tmp_path: Path, value: Any) -> None:
    with pytest.raises((ValueError, TypeError), match="helpers"):
        import_history(lines(tmp_path / "a.jsonl", [message("x")]), Memory(), helpers=value)


# A program's whole text, without a main guard; it heeds Ctrl-C even if the tests run where that is ignored.
PROGRAM = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
from llmslim_memory import Memory, import_history
from llmslim_memory.indexing import beside
make = beside.start_child
def helper(*arguments):
    process = make(*arguments)
    print("helper", process.pid, flush=True)
    return process
beside.start_child = helper
print("program", flush=True)
print(import_history(sys.argv[1], sys.argv[2], helpers=1).imported, flush=True)
"""


def program(tmp_path: Path, count: int, **options: Any) -> subprocess.Popen[str]:
    script = tmp_path / "program.py"
    script.write_text(PROGRAM, encoding="utf-8")
    path = lines(tmp_path / "a.jsonl", [message(f"turn {n} " + "words and more words " * 40) for n in range(count)])
    command = [sys.executable, str(script), str(path), str(tmp_path / "memory.db")]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)


def test_a_program_without_a_main_guard_runs_once(tmp_path: Path) -> None:
    out, err = program(tmp_path, 40).communicate(timeout=60)
    assert err == ""
    assert [line.split()[0] for line in out.splitlines()] == ["program", "helper", "40"]


@pytest.mark.skipif(not hasattr(os, "killpg"), reason="there are process groups on POSIX alone")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_an_import_that_is_stopped_leaves_no_helper_and_goes_on_later(tmp_path: Path, number: signal.Signals) -> None:
    running = program(tmp_path, 20_000, start_new_session=True)
    assert running.stdout is not None
    assert running.stdout.readline() == "program\n"
    helper = int(running.stdout.readline().split()[1])
    while not (tmp_path / "memory.db").exists():
        time.sleep(0.01)
    if number == signal.SIGINT:
        os.killpg(running.pid, number)  # as a terminal does
    else:
        running.send_signal(number)
    running.communicate(timeout=60)
    assert running.returncode != 0
    until = time.monotonic() + 30
    while is_running(helper) and time.monotonic() < until:
        time.sleep(0.02)
    assert not is_running(helper)
    with SQLiteStore(tmp_path / "memory.db") as store, Memory(store) as memory:
        assert imported(tmp_path / "a.jsonl", memory, limit=500).duplicates % 500 == 0


def is_running(pid: int) -> bool:
    """Whether there is such a process, other than one whose end nobody asked about."""
    done = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False)
    return bool(done.stdout.strip()) and not done.stdout.startswith("Z")
