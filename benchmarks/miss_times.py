"""Whether the time of an answer tells another user's turn from one that does not exist.

    python benchmarks/miss_times.py [--rounds 300]

Starts the application in this process over a new SQLite file, asks in turn, with a token that is not the owner's, for a
turn that exists and for one that does not, and prints both medians and how well a threshold between the times could
tell the two apart: 0.5 is a coin.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from pathlib import Path

from fastapi.testclient import TestClient

from llmslim_memory import Memory
from llmslim_memory.server.app import create_app
from llmslim_memory.server.auth import TokenTable, new_token, token_line


def measure(rounds: int) -> tuple[list[float], list[float]]:
    """Seconds for another's turn, and for no turn."""
    token = new_token()
    with tempfile.TemporaryDirectory() as folder, Memory(Path(folder, "memory.db")) as memory:
        (theirs,) = memory.add({"role": "user", "content": "word " * 2000}, user_id="ben")
        app = create_app(memory, tokens=TokenTable.parse(token_line(token, ["ann"])))
        headers = {"Authorization": f"Bearer {token}"}
        taken: tuple[list[float], list[float]] = ([], [])
        with TestClient(app, base_url="http://localhost", headers=headers) as client:
            for _ in range(rounds):
                for times, name in zip(taken, (theirs.id, "0" * len(theirs.id)), strict=True):
                    start = time.perf_counter()
                    client.get(f"/v1/memories/{name}")
                    times.append(time.perf_counter() - start)
    return taken


def told_apart(one: list[float], other: list[float]) -> float:
    """The share of pairs whose order tells which is which (the area under the ROC curve), at least 0.5."""
    wins = sum((a > b) + (a == b) / 2 for a in one for b in other) / (len(one) * len(other))
    return max(wins, 1 - wins)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=300)
    theirs, none = measure(parser.parse_args().rounds)
    for name, times in (("another's turn", theirs), ("no such turn", none)):
        print(f"{name:15s} median {1e3 * statistics.median(times):.2f} ms")
    print(f"told apart in {told_apart(theirs, none):.3f} of pairs (0.5: not at all)")


if __name__ == "__main__":
    main()
