"""Load on the HTTP server from a second process: many clients adding and searching, and no acknowledged turn lost.

    python benchmarks/http_load.py --clients 200 --seconds 60 [--db URL-or-path]
    python benchmarks/http_load.py --db postgresql: --kill

Starts `llmslim-memory serve` on a free loopback port (or uses --url), runs a bounded number of clients for a bounded
time, prints rates and latencies, and then counts that every acknowledged turn is stored once. ``--db postgresql:`` is
the test suite's own server, durable; ``--kill`` ends that one with SIGKILL after a third of the time, starts it again
``--down`` seconds later, and prints how long the clients then waited. While the database is away, answers of 503 are
counted apart: they are what the server promises then.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import random
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

WORDS = ["heron", "stork", "river", "tea", "train", "garden", "violin", "bread", "lamp", "winter", "harbour", "letter"]
OWN = "postgresql:"
STORE_WAIT = 2
"""Seconds that the server waits for a database that is away, before it says 503."""


@dataclass
class Tally:
    """What came back; moments are those of `time.monotonic`."""

    seconds: dict[str, list[float]] = field(default_factory=lambda: {"add": [], "search": []})
    answers: Counter[str] = field(default_factory=Counter)
    acknowledged: set[str] = field(default_factory=set)
    unavailable: list[float] = field(default_factory=list)
    successes: dict[int, list[float]] = field(default_factory=dict)


@dataclass
class Outage:
    """When the database was killed, and when it answered again."""

    killed: float = 0.0
    back: float = 0.0


async def client(number: int, http: httpx.AsyncClient, until: float, tally: Tally) -> None:
    choose = random.Random(number)
    user = f"user-{number}"
    succeeded = tally.successes.setdefault(number, [])
    for turn in itertools.count():
        if time.monotonic() >= until:
            return
        words = " ".join(choose.choices(WORDS, k=12))
        kind = "add" if choose.random() < 0.5 else "search"
        start = time.perf_counter()
        try:
            if kind == "add":
                key = f"{number}-{turn}"
                body = {"messages": [{"role": "user", "content": words, "id": key}], "user_id": user}
                answer = await http.post("/v1/memories", json=body)
                if answer.status_code == 201:
                    tally.acknowledged.add(answer.json()["items"][0]["id"])
            else:
                answer = await http.post("/v1/search", json={"query": words, "user_id": user, "budget": 200})
        except httpx.HTTPError as error:
            tally.answers[f"{kind} {type(error).__name__}"] += 1
            continue
        tally.answers[f"{kind} {answer.status_code}"] += 1
        if answer.status_code == 503:
            tally.unavailable.append(time.monotonic())
            await asyncio.sleep(0.2)
            continue
        tally.seconds[kind].append(time.perf_counter() - start)
        succeeded.append(time.monotonic())


async def one(number: int, url: str, until: float, tally: Tally) -> None:
    # A client of its own each: one shared pool of 200 connections would be slower than the server.
    async with httpx.AsyncClient(base_url=url, timeout=60, verify=False) as http:
        await client(number, http, until, tally)


async def run(url: str, clients: int, seconds: float) -> Tally:
    tally = Tally()
    until = time.monotonic() + seconds
    await asyncio.gather(*(one(number, url, until, tally) for number in range(clients)))
    async with httpx.AsyncClient(base_url=url, timeout=60, verify=False) as http:
        stored: Counter[str] = Counter()
        for number in range(clients):
            cursor: str | None = None
            while True:
                query = {"user_id": f"user-{number}", "limit": 1000} | ({"cursor": cursor} if cursor else {})
                page = (await http.get("/v1/memories", params=query)).json()
                stored.update(item["id"] for item in page["items"])
                cursor = page["next_cursor"]
                if cursor is None:
                    break
    lost = tally.acknowledged - stored.keys()
    doubled = [name for name, count in stored.items() if count > 1]
    tally.answers["acknowledged"] = len(tally.acknowledged)
    tally.answers["lost"] = len(lost)
    tally.answers["doubled"] = len(doubled)
    return tally


def report(tally: Tally, seconds: float) -> None:
    for kind, times in tally.seconds.items():
        times.sort()
        if times:
            p50, p99 = times[len(times) // 2], times[int(0.99 * len(times))]
            print(f"{kind:7s} {len(times) / seconds:8.0f}/s   p50 {1e3 * p50:7.1f} ms   p99 {1e3 * p99:7.1f} ms")
    if tally.unavailable:
        print(f"503 over {tally.unavailable[-1] - tally.unavailable[0]:.1f} s")
    print(", ".join(f"{name}: {count}" for name, count in sorted(tally.answers.items())))


def report_outage(tally: Tally, outage: Outage) -> None:
    """How long after the database answered again the clients got answers."""
    waited = sorted(
        next((moment - outage.back for moment in moments if moment > outage.back), float("inf"))
        for moments in tally.successes.values()
    )
    last = max((moment - outage.back for moment in tally.unavailable), default=0.0)
    print(
        f"database away for {outage.back - outage.killed:.1f} s; after it answered again: first success {waited[0]:.1f}"
        f" s, median client {waited[len(waited) // 2]:.1f} s, last client {waited[-1]:.1f} s, last 503 {last:.1f} s"
    )


def kill_and_restart(server: Any, outage: Outage, after: float, down: float) -> None:
    time.sleep(after)
    outage.killed = time.monotonic()
    server.kill()
    time.sleep(down)
    server.start()
    outage.back = time.monotonic()


@contextmanager
def own_postgresql() -> Iterator[Any]:
    """The test suite's PostgreSQL server, waiting for the disk at each commit."""
    sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
    from servers.postgres import PostgresServer

    server = PostgresServer(durable=True)
    server.start()
    try:
        yield server
    finally:
        server.remove()


@contextmanager
def serving(db: str) -> Iterator[str]:
    """`llmslim-memory serve` over ``db``; its URL."""
    command = [sys.executable, "-m", "llmslim_memory", "serve", "--db", db, "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None
        try:
            url = next(found[1] for line in server.stderr if (found := re.search(r"on (http://\S+)", line)))
            # The server logs each request, and a pipe that nobody reads would stop it.
            threading.Thread(target=list, args=(server.stderr,), daemon=True).start()
            yield url
        finally:
            server.terminate()


def measure(given: argparse.Namespace) -> None:
    with ExitStack() as stack:
        server = stack.enter_context(own_postgresql()) if given.db == OWN else None
        if server is not None:
            db = f"{server.url}?connect_timeout={STORE_WAIT}"
        else:
            db = given.db or str(Path(stack.enter_context(tempfile.TemporaryDirectory()), "memory.db"))
        url = given.url or stack.enter_context(serving(db))
        outage = Outage()
        killer = threading.Thread(target=kill_and_restart, args=(server, outage, given.seconds / 3, given.down))
        if given.kill:
            killer.start()
            stack.callback(killer.join)
        tally = asyncio.run(run(url, given.clients, given.seconds))
        report(tally, given.seconds)
        if given.kill:
            report_outage(tally, outage)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clients", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--db")
    parser.add_argument("--url")
    parser.add_argument("--kill", action="store_true", help=f"kill the database in the midst; needs --db {OWN}")
    parser.add_argument("--down", type=float, default=3, help="seconds that it stays away")
    given = parser.parse_args()
    if given.kill and (given.db != OWN or given.url):
        parser.error(f"--kill needs --db {OWN} and no --url: it ends only a server of its own")
    measure(given)


if __name__ == "__main__":
    main()
