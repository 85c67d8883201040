"""The database goes away under load: only 503s, then recovery without a restart, and no acknowledged turn lost."""

from __future__ import annotations

import itertools
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest
from servers.postgres import PostgresServer

from tests.server.processes import Served, serving

CLIENTS = 8


@pytest.fixture
def database() -> Iterator[PostgresServer]:
    server = PostgresServer(durable=True)
    server.start()
    yield server
    server.remove()


@pytest.fixture
def served(database: PostgresServer) -> Iterator[Served]:
    url = f"{database.url}?connect_timeout=2"
    with serving(["serve"], LLMSLIM_MEMORY_DB=url) as server:
        yield server


def add_until(done: threading.Event, url: str, number: int) -> tuple[Counter[int], set[str]]:
    answers: Counter[int] = Counter()
    acknowledged: set[str] = set()
    with httpx.Client(base_url=url, timeout=60) as client:
        for turn in itertools.count():
            if done.is_set():
                return answers, acknowledged
            body = {
                "messages": [{"role": "user", "content": f"turn {turn}", "id": f"{number}-{turn}"}],
                "user_id": "ann",
            }
            answer = client.post("/v1/memories", json=body)
            answers[answer.status_code] += 1
            if answer.status_code == 201:
                acknowledged.add(answer.json()["items"][0]["id"])
            else:
                assert answer.json()["type"] == "store_unavailable"
                assert answer.headers["retry-after"] == "5"
                time.sleep(0.1)
    raise AssertionError("unreachable")


def stored(url: str) -> list[str]:
    lines = httpx.get(f"{url}/v1/export?user_id=ann", timeout=60).text.splitlines()[1:]
    return [line.split('"id": "')[1].split('"')[0] for line in lines]


def test_a_killed_database_costs_503s_and_no_acknowledged_turn(database: PostgresServer, served: Served) -> None:
    done = threading.Event()
    with ThreadPoolExecutor(CLIENTS) as pool:
        clients = [pool.submit(add_until, done, served.url, number) for number in range(CLIENTS)]
        time.sleep(1)
        database.kill()
        down = httpx.get(f"{served.url}/readyz", timeout=60)
        alive = httpx.get(f"{served.url}/healthz", timeout=60)
        time.sleep(1)
        database.start()
        back = time.monotonic()
        while httpx.get(f"{served.url}/readyz", timeout=60).status_code != 200:
            assert time.monotonic() - back < 60
            time.sleep(0.2)
        time.sleep(1)
        done.set()
        results = [client.result() for client in clients]
    assert (down.status_code, alive.status_code) == (503, 200)
    assert {status for answers, _ in results for status in answers} == {201, 503}
    acknowledged = set.union(*(ids for _, ids in results))
    there = stored(served.url)
    assert acknowledged <= set(there)
    assert len(there) == len(set(there))
    said = "".join(served.said)
    assert "sesame" not in said
    assert "127.0.0.1:" + str(database.port) not in down.text
