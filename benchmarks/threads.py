"""What threads do to one another: 16 that search different scopes, and a writer among threads that search.

    python benchmarks/threads.py [--seconds 10] [--store sqlite] [--tokens 50000]

**Scaling**: searches a second, and the processor time of each in this process, by 1 thread that goes round all scopes,
by 16 threads, each of a scope of its own, by these with a worker for each core, and by as many processes as there are
cores. What the cores can give while other programs use them, too, is measured beside it with hashing, which needs no
interpreter lock. **Hold-up**: how long one ``add`` takes alone, while threads search, while as many threads work with
numpy or compute in Python, and while a process searches. Threads of Python that compute hold one another up, whatever
they compute: what searches add is what ``add`` takes longer than beside those.
"""

from __future__ import annotations

import argparse
import hashlib
import multiprocessing
import os
import statistics
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from itertools import count, cycle
from pathlib import Path
from typing import NamedTuple

import numpy as np
from histories import as_message, generated, questions_about
from rich.console import Console
from rich.table import Table

from llmslim_memory import Memory

SCOPES = 16
SLICE = 0.5
"""Seconds that a rate is measured at a time."""
PAUSE = 0.005
"""How long the writer waits between two writes."""


def fill(memory: Memory, tokens: int) -> list[str]:
    """Give every scope a history, and say what to ask about them."""
    turns = list(generated(tokens))
    for scope in range(SCOPES):
        memory.add([as_message(turn) for turn in turns], user_id=f"user{scope}")
    return questions_about(turns, 40)


class Rate(NamedTuple):
    """How often a second something was done, and the milliseconds of processor time that it took each time."""

    count: float
    cpu: float


def rate(threads: int, seconds: float, work: Callable[[int], object]) -> Rate:
    """How often so many threads do some work, each with its number."""
    done = [0] * threads
    spent = time.process_time()
    end = time.perf_counter() + seconds

    def run(number: int) -> None:
        while time.perf_counter() < end:
            work(number)
            done[number] += 1

    running = [threading.Thread(target=run, args=(number,)) for number in range(threads)]
    start = time.perf_counter()
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    took = time.perf_counter() - start
    return Rate(sum(done) / took, (time.process_time() - spent) / sum(done) * 1e3)


def searching(memory: Memory, questions: list[str]) -> Callable[[int], object]:
    asked = cycle(questions)
    return lambda number: memory.search(next(asked), user_id=f"user{number % SCOPES}")


def hashing(_: int) -> str:
    return hashlib.sha256(_BLOCK).hexdigest()


_BLOCK = bytes(4 << 20)


def sorting(_: int) -> object:
    values = np.random.default_rng(1).random(2_000)
    return [int(np.argsort(values)[0]) for _ in range(20)]


def computing(_: int) -> int:
    return len({str(number): number for number in range(5_000)})


def searched_by_a_process(path: str, questions: list[str], seconds: float, found: multiprocessing.Queue) -> None:  # type: ignore[type-arg]
    with Memory(path) as memory:
        work = searching(memory, questions)
        for number in range(SCOPES):
            work(number)
        found.put(rate(1, seconds, work))


def rate_of_processes(path: str, questions: list[str], seconds: float, many: int) -> Rate:
    """The searches of so many processes over the same file."""
    context = multiprocessing.get_context("spawn")
    found = context.Queue()
    running = [
        context.Process(target=searched_by_a_process, args=(path, questions, seconds, found)) for _ in range(many)
    ]
    for process in running:
        process.start()
    rates = [found.get() for _ in running]
    for process in running:
        process.join()
    return Rate(sum(each.count for each in rates), statistics.mean(each.cpu for each in rates))


def write_times(memory: Memory, seconds: float, threads: int, work: Callable[[int], object]) -> list[float]:
    """Milliseconds that single writes take, ascending, while threads do some work."""
    stop = threading.Event()

    def run(number: int) -> None:
        while not stop.is_set():
            work(number)

    running = [threading.Thread(target=run, args=(number,)) for number in range(threads)]
    for thread in running:
        thread.start()
    times = []
    end = time.perf_counter() + seconds
    try:
        while time.perf_counter() < end:
            start = time.perf_counter()
            memory.add({"role": "user", "content": f"Note {len(times)}: the kettle is in Oslo."}, user_id="writer")
            times.append((time.perf_counter() - start) * 1e3)
            time.sleep(PAUSE)
    finally:
        stop.set()
        for thread in running:
            thread.join()
    return sorted(times)


def beside_a_process(memory: Memory, path: str, questions: list[str], seconds: float) -> list[float]:
    """The same while another process searches."""
    context = multiprocessing.get_context("spawn")
    found = context.Queue()
    process = context.Process(target=searched_by_a_process, args=(path, questions, seconds + 3, found))
    process.start()
    time.sleep(3)
    times = write_times(memory, seconds, 0, sorting)
    process.join()
    return times


class Case(NamedTuple):
    """What so many threads do, and the case that it is held against."""

    name: str
    threads: int
    work: Callable[[int], object]
    base: str


def scaling(memory: Memory, path: str | None, questions: list[str], seconds: float) -> Table:
    """Searches a second by threads and by processes, and what the cores give to work without an interpreter lock."""
    cores = os.cpu_count() or 1
    work, numbers = searching(memory, questions), count()
    one, alone = "searches, 1 thread", "hashes, 1 thread"
    cases = [
        Case(one, 1, lambda _: work(next(numbers)), one),
        Case(f"searches, {SCOPES} threads", SCOPES, work, one),
        Case(alone, 1, hashing, alone),
        Case(f"hashes, {SCOPES} threads", SCOPES, hashing, alone),
    ]
    if not path:
        return shown(cases, in_turn(cases, seconds))
    with Memory(path, workers=cores) as beside:
        by_workers = searching(beside, questions)
        for number in range(SCOPES):
            by_workers(number)
        cases.insert(2, Case(f"searches, {SCOPES} threads, {cores} workers", SCOPES, by_workers, one))
        rates = in_turn(cases, seconds)
    cases.append(Case(f"searches, {cores} processes", 1, work, one))
    return shown(cases, [*rates, rate_of_processes(path, questions, seconds, cores)])


def in_turn(cases: Sequence[Case], seconds: float) -> list[Rate]:
    """The median rate of each case, measured in turn in short slices: what else runs then slows all of them alike."""
    slices = [[rate(case.threads, SLICE, case.work) for case in cases] for _ in range(max(1, round(seconds / SLICE)))]
    columns = zip(*slices, strict=True)
    return [Rate(*(statistics.median(figures) for figures in zip(*rates, strict=True))) for rates in columns]


def shown(cases: Sequence[Case], rates: Sequence[Rate]) -> Table:
    found = Table("", "a second", "ratio", "processor ms each, here")
    counts = {case.name: each.count for case, each in zip(cases, rates, strict=True)}
    for case, each in zip(cases, rates, strict=True):
        found.add_row(case.name, f"{each.count:.0f}", f"{each.count / counts[case.base]:.2f}", f"{each.cpu:.2f}")
    return found


def hold_up(memory: Memory, path: str | None, questions: list[str], seconds: float, threads: Sequence[int]) -> Table:
    """How long single writes take, and beside what."""
    found = Table("one add, ms", "count", "p50", "p95", "p99", "longest")
    works = (
        ("threads that search", searching(memory, questions)),
        ("threads that use numpy", sorting),
        ("threads that compute", computing),
    )

    def note(name: str, times: list[float]) -> None:
        shown = [statistics.median(times), times[int(0.95 * len(times))], times[int(0.99 * len(times))], times[-1]]
        found.add_row(name, str(len(times)), *(f"{figure:.1f}" for figure in shown))

    note("alone", write_times(memory, seconds, 0, sorting))
    if path:
        with Memory(path, workers=os.cpu_count() or 1) as workers:
            searching(workers, questions)(0)
            note("4 threads that search by workers", write_times(workers, seconds, 4, searching(workers, questions)))
    for many in threads:
        for name, work in works:
            note(f"{name}: {many}", write_times(memory, seconds, many, work))
    if path:
        note("a process that searches", beside_a_process(memory, path, questions, seconds))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--tokens", type=int, default=50_000)
    parser.add_argument("--store", choices=("sqlite", "memory"), default="sqlite")
    parser.add_argument("--searching", default="1,4", help="how many threads work beside the writer")
    args = parser.parse_args()
    console = Console(width=110)
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder, "threads.db")) if args.store == "sqlite" else None
        memory = Memory(path)
        questions = fill(memory, args.tokens)
        for scope in range(SCOPES):
            memory.search(questions[0], user_id=f"user{scope}")
        console.print(scaling(memory, path, questions, args.seconds))
        threads = [int(count) for count in args.searching.split(",")]
        console.print(hold_up(memory, path, questions, args.seconds, threads))
        memory.close()


if __name__ == "__main__":
    main()
