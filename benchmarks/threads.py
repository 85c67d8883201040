"""What threads do to one another: 16 that search different scopes, and a writer among threads that search.

    python benchmarks/threads.py [--seconds 10] [--store sqlite] [--tokens 50000]

**Scaling**: searches a second by 1 and by 16 threads, each of a scope of its own, and by as many processes as there are
cores. What the cores can give while other programs use them, too, is measured beside it with hashing, which needs no
interpreter lock. **Hold-up**: how long one ``add`` takes alone, while threads search, while as many threads work with
numpy, and while processes search. The same interpreter lock holds up any two threads of Python that compute.
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
from collections.abc import Callable
from itertools import cycle
from pathlib import Path

import numpy as np
from histories import generated, questions_about
from rich.console import Console
from rich.table import Table

from llmslim_memory import Memory, MemoryItem

SCOPES = 16
SEARCHING = 4
PAUSE = 0.005
"""How long the writer waits between two writes."""


def fill(memory: Memory, tokens: int) -> list[str]:
    """Give every scope a history, and say what to ask about them."""
    turns = list(generated(tokens))
    for scope in range(SCOPES):
        memory.add([as_message(turn) for turn in turns], user_id=f"user{scope}")
    return questions_about(turns, 40)


def as_message(turn: MemoryItem) -> dict[str, object]:
    return {"role": turn.role, "content": turn.content, "timestamp": turn.created_at}


def rate(threads: int, seconds: float, work: Callable[[int], object]) -> float:
    """How often a second so many threads do some work, each with its number."""
    done = [0] * threads
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
    return sum(done) / (time.perf_counter() - start)


def searching(memory: Memory, questions: list[str]) -> Callable[[int], object]:
    asked = cycle(questions)
    return lambda number: memory.search(next(asked), user_id=f"user{number % SCOPES}")


def hashing(_: int) -> str:
    return hashlib.sha256(_BLOCK).hexdigest()


_BLOCK = bytes(4 << 20)


def sorting(_: int) -> object:
    values = np.random.default_rng(1).random(2_000)
    return [int(np.argsort(values)[0]) for _ in range(20)]


def searched_by_a_process(path: str, questions: list[str], seconds: float, found: multiprocessing.Queue) -> None:  # type: ignore[type-arg]
    with Memory(path) as memory:
        work = searching(memory, questions)
        for number in range(SCOPES):
            work(number)
        found.put(rate(1, seconds, work))


def rate_of_processes(path: str, questions: list[str], seconds: float, count: int) -> float:
    """Searches a second by processes of their own, over the same file."""
    context = multiprocessing.get_context("spawn")
    found = context.Queue()
    running = [
        context.Process(target=searched_by_a_process, args=(path, questions, seconds, found)) for _ in range(count)
    ]
    for process in running:
        process.start()
    for process in running:
        process.join()
    return float(sum(found.get() for _ in running))


def write_times(memory: Memory, seconds: float, work: Callable[[int], object] | None) -> list[float]:
    """Milliseconds that single writes take, ascending, while threads do some work."""
    stop = threading.Event()

    def run(number: int) -> None:
        while not stop.is_set():
            work(number)  # type: ignore[misc]

    running = [threading.Thread(target=run, args=(number,)) for number in range(SEARCHING if work else 0)]
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


def beside_processes(memory: Memory, path: str, questions: list[str], seconds: float) -> list[float]:
    context = multiprocessing.get_context("spawn")
    found = context.Queue()
    process = context.Process(target=searched_by_a_process, args=(path, questions, seconds + 3, found))
    process.start()
    time.sleep(3)
    times = write_times(memory, seconds, None)
    process.join()
    return times


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--tokens", type=int, default=50_000)
    parser.add_argument("--store", choices=("sqlite", "memory"), default="sqlite")
    args = parser.parse_args()
    cores = os.cpu_count() or 1
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder, "threads.db"))
        memory = Memory(path if args.store == "sqlite" else None)
        questions = fill(memory, args.tokens)
        work = searching(memory, questions)
        for number in range(SCOPES):
            work(number)
        scaling = Table("scaling", "1 thread /s", "16 threads /s", "ratio", f"{cores} processes /s", "ratio")
        one, many = rate(1, args.seconds, work), rate(SCOPES, args.seconds, work)
        processes = rate_of_processes(path, questions, args.seconds, cores) if args.store == "sqlite" else 0.0
        scaling.add_row(
            "search", f"{one:.0f}", f"{many:.0f}", f"{many / one:.2f}", f"{processes:.0f}", f"{processes / one:.2f}"
        )
        one, many = rate(1, args.seconds / 2, hashing), rate(SCOPES, args.seconds / 2, hashing)
        scaling.add_row("hashing", f"{one:.0f}", f"{many:.0f}", f"{many / one:.2f}")
        held = Table("one add, ms", "count", "p50", "p95", "p99", "longest")
        for name, times in (
            ("alone", write_times(memory, args.seconds, None)),
            (f"{SEARCHING} threads search", write_times(memory, args.seconds, work)),
            (f"{SEARCHING} threads use numpy", write_times(memory, args.seconds, sorting)),
            *(
                [("a process searches", beside_processes(memory, path, questions, args.seconds))]
                if args.store == "sqlite"
                else []
            ),
        ):
            shown = [statistics.median(times), times[int(0.95 * len(times))], times[int(0.99 * len(times))], times[-1]]
            held.add_row(name, str(len(times)), *(f"{figure:.1f}" for figure in shown))
        memory.close()
    console = Console(width=110)
    console.print(scaling)
    console.print(held)


if __name__ == "__main__":
    main()
