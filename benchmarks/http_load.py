"""Load on the HTTP server from a second process: many clients adding and searching, and no acknowledged turn lost.

    python benchmarks/http_load.py --clients 200 --seconds 60 [--db URL-or-path]

Starts `llmslim-memory serve` on a free loopback port (or uses --url), runs a bounded number of clients for a bounded
time, prints rates and latencies, and then counts that every acknowledged turn is stored once. While the database is
away, answers of 503 are counted apart: they are what the server promises then.
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
from dataclasses import dataclass, field
from pathlib import Path

import httpx

WORDS = ["heron", "stork", "river", "tea", "train", "garden", "violin", "bread", "lamp", "winter", "harbour", "letter"]


@dataclass
class Tally:
    """What came back."""

    seconds: dict[str, list[float]] = field(default_factory=lambda: {"add": [], "search": []})
    answers: Counter[str] = field(default_factory=Counter)
    acknowledged: set[str] = field(default_factory=set)
    unavailable: list[float] = field(default_factory=list)


async def client(number: int, http: httpx.AsyncClient, until: float, tally: Tally) -> None:
    choose = random.Random(number)
    user = f"user-{number}"
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
        tally.seconds[kind].append(time.perf_counter() - start)
        tally.answers[f"{kind} {answer.status_code}"] += 1
        if answer.status_code == 503:
            tally.unavailable.append(time.monotonic())
            await asyncio.sleep(0.2)


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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clients", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--db")
    parser.add_argument("--url")
    given = parser.parse_args()
    if given.url:
        report(asyncio.run(run(given.url, given.clients, given.seconds)), given.seconds)
        return
    with tempfile.TemporaryDirectory() as folder:
        db = given.db or str(Path(folder, "memory.db"))
        command = [sys.executable, "-m", "llmslim_memory", "serve", "--db", db, "--port", "0"]
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:
            assert server.stderr is not None
            try:
                url = next(found[1] for line in server.stderr if (found := re.search(r"on (http://\S+)", line)))
                # The server logs each request, and a pipe that nobody reads would stop it.
                threading.Thread(target=list, args=(server.stderr,), daemon=True).start()
                report(asyncio.run(run(url, given.clients, given.seconds)), given.seconds)
            finally:
                server.terminate()


if __name__ == "__main__":
    main()
