"""How many turns a second each store takes, and how long it takes to read them back.

::

    python benchmarks/stores.py memory: sqlite: postgresql: mongodb: postgresql://localhost/bench

``memory:`` is the store in this process, ``sqlite:`` a new file in a temporary folder, ``postgresql:``, ``mongodb:`` (a
replica set) and ``mongodb-standalone:`` the test suite's own servers, durable; anything else is a path or URL for
`open_store`, which should name an empty database. Every store takes the same made-up turns. Writes go through
``Memory.add``, so analysing the text is part of the figure; ``--raw`` leaves it out and times the store alone.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime, timedelta
from importlib import import_module
from pathlib import Path
from typing import Any
from uuid import uuid4

from rich.console import Console
from rich.table import Table

from llmslim_memory import (
    Analysis,
    Batch,
    InMemoryStore,
    Memory,
    MemoryItem,
    MongoStore,
    PostgresStore,
    Scope,
    SQLiteStore,
    open_store,
)
from llmslim_memory.indexing.turns import VERSION

START = datetime(2026, 1, 1, tzinfo=UTC)
SYLLABLES = ["ba", "de", "fi", "go", "lu", "ma", "ne", "po", "ra", "si", "tu", "ve", "wa", "yo", "ker", "lin", "mor"]
FILL = 50
WRITES = ((1, 1, 500), (1, 8, 1000), (500, 1, 10_000), (500, 8, 10_000))
"""Batch, threads and turns of each timed load."""
RAW = 0  # no analyser has this version
SERVERS: dict[str, tuple[Any, ...]] = {
    "postgresql:": ("postgres", "PostgresServer", ("durable", True)),
    "mongodb:": ("mongodb", "MongoServer"),
    "mongodb-standalone:": ("mongodb", "MongoServer", ("standalone", True)),
}


def words(rng: random.Random, count: int) -> str:
    """Made-up words of one to three syllables, the short ones often."""
    return " ".join("".join(rng.choices(SYLLABLES, k=min(3, int(rng.expovariate(1)) + 1))) for _ in range(count))


def make_turns(count: int, users: int, block: int, seed: int) -> list[MemoryItem]:
    """Turns of 10 to 120 words: a run of ``block`` turns of one user, then one of the next."""
    rng = random.Random(seed)
    return [
        MemoryItem(
            uuid4().hex,
            "assistant" if n % 2 else "user",
            words(rng, rng.randint(10, 120)),
            START + timedelta(minutes=n),
            user_id=f"user-{n // block % users}",
            run_id=f"run-{n // block}",
        )
        for n in range(count)
    ]


@contextmanager
def opened(name: str) -> Iterator[Any]:
    """The store that an argument names."""
    with ExitStack() as stack:
        if name == "memory:":
            yield stack.enter_context(InMemoryStore())
        elif name == "sqlite:":
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            yield stack.enter_context(SQLiteStore(folder / "memory.db"))
        else:
            store = open_store(stack.enter_context(served(name)) if name in SERVERS else name)
            stack.callback(store.close)
            yield store


@contextmanager
def served(name: str) -> Iterator[str]:
    """The URL of a server of our own."""
    sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
    module, kind, *options = SERVERS[name]
    server = getattr(import_module(f"servers.{module}"), kind)(**dict(options))
    server.start()
    try:
        # Retryable writes make SecantusDB ten times slower, unlike MongoDB.
        yield server.url + ("?retryWrites=false" if module == "mongodb" else "")
    finally:
        server.remove()


def stored_bytes(store: Any) -> int:
    """What the store takes on disk, indexes included; 0 where it has no disk."""
    if isinstance(store, SQLiteStore):
        path = store._connections._path
        return 0 if path is None else path.stat().st_size
    if isinstance(store, PostgresStore):
        names = [store._tables.name + suffix for suffix in ("", "_deleted", "_records")]
        query = b"SELECT sum(pg_total_relation_size(n::regclass)) FROM unnest(%s::text[]) AS n"
        [(size,)] = store._db.run(query, [names])
        return int(size)
    if isinstance(store, MongoStore):
        return int(store._in.turns.database.command("dbStats").get("totalSize", 0))
    return 0


def writer(store: Any, raw: bool) -> Callable[[Sequence[MemoryItem]], object]:
    """What adds a batch: the store with an analysis of a usual size, or `Memory`'s own way."""
    if not raw:
        memory = Memory(store)
        return lambda items: [
            memory.add(
                [{"role": i.role, "content": i.content, "timestamp": i.created_at} for i in items],
                user_id=items[0].user_id,
                run_id=items[0].run_id,
            )
        ]
    blob = os.urandom(600)
    return lambda items: store.apply(
        Batch(add=items, analyses={i.id: Analysis(RAW, blob, "o200k_base", 90) for i in items})
    )


def per_second(
    add: Callable[[Sequence[MemoryItem]], object], turns: list[MemoryItem], size: int, threads: int
) -> float:
    """Turns a second, added in batches of ``size`` from ``threads`` threads."""
    batches = [turns[n : n + size] for n in range(0, len(turns), size)]
    started = time.perf_counter()
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(add, batches))
    return len(turns) / (time.perf_counter() - started)


def milliseconds(call: Callable[[int], object], times: int, threads: int = 1) -> tuple[float, float]:
    """The median and the 99th percentile of a call, from so many threads at once."""

    def timed(n: int) -> float:
        started = time.perf_counter()
        call(n)
        return (time.perf_counter() - started) * 1000

    with ThreadPoolExecutor(threads) as pool:
        taken = sorted(pool.map(timed, range(times)))
    return taken[times // 2], taken[int(times * 0.99)]


def measure(name: str, options: argparse.Namespace) -> dict[str, str]:
    """Every figure of one store."""
    figures = {}
    with opened(name) as store:
        add = writer(store, options.raw)
        for size, threads, count in options.writes:
            turns = make_turns(count, options.users, size, seed=size * 10 + threads)
            rate = per_second(add, turns, size, threads)
            figures[f"turns/s, {threads} thread{'s' * (threads > 1)}, {size} at a time"] = f"{rate:,.0f}"
        per_second(add, make_turns(options.turns, options.users, FILL, seed=0), FILL, 1)
        written = options.turns + sum(count for *_, count in options.writes)
        figures["bytes a turn"] = f"{stored_bytes(store) / written:,.0f}"
        figures |= reading(store, options)
    return figures


def reading(store: Any, options: argparse.Namespace) -> dict[str, str]:
    """How long it takes to list, follow and search one user's turns among all."""
    scopes = [Scope(user_id=f"user-{n % options.users}") for n in range(200)]
    cursors = {scope: store.changes(scope).cursor for scope in scopes}
    version = RAW if options.raw else VERSION
    calls: dict[str, Callable[[int], object]] = {
        "list one user": lambda n: store.list(scopes[n]),
        "changes, all": lambda n: store.changes(scopes[n], version=version, encoding="o200k_base"),
        "changes, nothing new": lambda n: store.changes(scopes[n], after=cursors[scopes[n]]),
    }
    if not options.raw:
        memory, rng = Memory(store), random.Random(1)
        calls["first search"] = lambda n: memory.search(words(rng, 8), user_id=scopes[n % len(scopes)].user_id)
        calls["search again"] = calls["first search"]
    taken = {name: milliseconds(call, 200) for name, call in calls.items()}
    if not options.raw:
        taken["search again, 8 threads"] = milliseconds(calls["search again"], 400, threads=8)
    return {f"{name}, ms p50 / p99": "{:.2f} / {:.2f}".format(*times) for name, times in taken.items()}


def main() -> None:
    """Measure the stores named and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("stores", nargs="*", default=["memory:", "sqlite:"])
    parser.add_argument("--turns", type=int, default=100_000, help="turns stored before reading")
    parser.add_argument("--users", type=int, default=1000)
    parser.add_argument("--adds", type=float, default=1, help="share of the usual 21,500 adds to time before")
    parser.add_argument("--raw", action="store_true", help="time the stores without analysing text")
    options = parser.parse_args()
    options.writes = [(size, threads, max(size, int(count * options.adds))) for size, threads, count in WRITES]
    results = {name.partition(":")[0]: measure(name, options) for name in options.stores}
    table = Table("", *results, title=f"{options.turns:,} turns of {options.users:,} users")
    for figure in next(iter(results.values())):
        table.add_row(figure, *(figures[figure] for figures in results.values()))
    Console().print(table)


if __name__ == "__main__":
    main()
