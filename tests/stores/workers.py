"""Many processes that open one store at the same moment: ``python -m stores.workers KIND URL NAME COUNT``."""

from __future__ import annotations

import multiprocessing
import subprocess
import sys
from pathlib import Path

from servers.fixtures import DATABASE
from stores.samples import turn

from llmslim_memory.stores.mongodb import MongoStore
from llmslim_memory.stores.postgres import PostgresStore


def start_at_once(kind: str, url: str, name: str, count: int) -> int:
    """Let ``count`` processes open the store called ``name`` and add one turn each; return the exit code.

    They are forked off a process that has nothing but the imports, which costs little and is free of threads.
    """
    command = [sys.executable, "-m", "stores.workers", kind, url, name, str(count)]
    return subprocess.run(command, cwd=Path(__file__).parents[1], timeout=120, check=False).returncode


def open_store(kind: str, url: str, name: str) -> PostgresStore | MongoStore:
    if kind == "postgres":
        return PostgresStore(url, table=name)
    return MongoStore(url, database=DATABASE, collection=name)


def _open_and_add(kind: str, url: str, name: str, item_id: str) -> None:
    with open_store(kind, url, name) as store:
        store.add([turn(item_id)])


def main(kind: str, url: str, name: str, count: str) -> None:
    context = multiprocessing.get_context("fork")
    calls = [(kind, url, name, str(number)) for number in range(int(count))]
    processes = [context.Process(target=_open_and_add, args=call) for call in calls]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    sys.exit(any(process.exitcode for process in processes))


if __name__ == "__main__":
    main(*sys.argv[1:])
