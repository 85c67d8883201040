"""A program that adds memories through Mem0's API from several threads: ``python adding.py DB NAME THREADS EACH``."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor

from llmslim_memory.mem0 import Memory


def main(db: str, name: str, threads: str, each: str) -> None:
    """Print the ids of what was stored, one a line."""
    with Memory(db=db) as memory, ThreadPoolExecutor(int(threads)) as pool:

        def add(thread: int) -> list[str]:
            said = [f"{name} {thread} says {number}" for number in range(int(each))]
            return [memory.add(text, user_id=name, run_id=f"t{thread}")["results"][0]["id"] for text in said]

        for ids in pool.map(add, range(int(threads))):
            print("\n".join(ids))


if __name__ == "__main__":
    main(*sys.argv[1:])
