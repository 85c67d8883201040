"""Whether a process grows while it searches: its memory and the index's bytes over many searches of one history.

    python benchmarks/growth.py [--searches 100000] [--tokens 8000] [--store sqlite]

Every question is new, half of them of words that stand in the history. Takes a few milliseconds a search.
"""

from __future__ import annotations

import argparse
import gc
import random
import tempfile
import time
from pathlib import Path

from histories import WORD, as_message, generated
from rich.console import Console
from rich.table import Table

from llmslim_memory import Memory

MARKS = (1_000, 10_000, 25_000, 50_000, 75_000, 100_000)


def resident_mebibytes() -> float:
    """What the process holds in memory, as Linux counts it."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    raise SystemExit("/proc/self/status names no VmRSS: run this on Linux")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--searches", type=int, default=100_000)
    parser.add_argument("--tokens", type=int, default=8_000)
    parser.add_argument("--store", choices=("sqlite", "memory"), default="sqlite")
    args = parser.parse_args()
    turns = list(generated(args.tokens))
    words = sorted({word for turn in turns for word in WORD.findall(turn.content)})
    rng = random.Random(3)
    table = Table("searches", "resident MiB", "index and turns kept, bytes", "ms a search")
    with tempfile.TemporaryDirectory() as folder:
        memory = Memory(None if args.store == "memory" else Path(folder, "growth.db"))
        memory.add([as_message(turn) for turn in turns], user_id="user")
        start, before = time.perf_counter(), 0
        for number in range(1, args.searches + 1):
            asked = " ".join(rng.sample(words, 3)) + f" {rng.getrandbits(40):x} thing{number}"
            memory.search(f"What about {asked}?", user_id="user", budget=400)
            if number in MARKS or number == args.searches:
                spent = (time.perf_counter() - start) / (number - before) * 1e3
                gc.collect()
                held = sum(memory._indexes._sizes.values())
                table.add_row(f"{number:,}", f"{resident_mebibytes():.1f}", f"{held:,}", f"{spent:.2f}")
                start, before = time.perf_counter(), number
        memory.close()
    Console().print(table)


if __name__ == "__main__":
    main()
