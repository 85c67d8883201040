"""How long ``add`` and ``search`` take through Mem0's API, here and in ``mem0ai``, in one run on one machine.

    python benchmarks/mem0.py [--turns 1000] [--searches 100]

Both store the same generated turns one call at a time, with ``infer=False``, on disk, and answer the same questions
after one that warms them up. ``mem0ai`` gets an embedder that hashes words and takes next to no time: a real one adds
its own time to every add and every search. Times are wall-clock milliseconds; ``mem0ai`` is left out where it is not
installed.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
import zlib
from collections.abc import Callable, Iterable
from pathlib import Path
from random import Random
from typing import Any

from rich.console import Console
from rich.table import Table

from llmslim_memory.mem0 import Memory

DIMENSIONS = 384
USER = "ann"
THINGS = (
    "ferry",
    "greenhouse",
    "invoice",
    "sourdough",
    "piano lesson",
    "landlord",
    "bicycle",
    "vet",
    "passport",
    "tap",
)
PLACES = ("Bergen", "Pune", "Lisbon", "Porto", "Oslo", "Goa", "Turin", "Leeds", "Ghent", "Kyoto")
VERBS = ("fixed", "paid for", "forgot", "talked about", "moved", "cancelled", "found", "sold", "painted", "asked about")


class HashEmbedder:
    """Words hashed into a vector: deterministic, and as good as free."""

    def embed(self, text: str, *_: Any, **__: Any) -> list[float]:
        vector = [0.0] * DIMENSIONS
        for word in text.lower().split():
            vector[zlib.crc32(word.encode()) % DIMENSIONS] += 1.0
        return vector

    def embed_batch(self, texts: Iterable[str], *_: Any, **__: Any) -> list[list[float]]:
        return [self.embed(text) for text in texts]


def generated(count: int) -> list[str]:
    random = Random(7)
    return [
        f"On day {n} I {random.choice(VERBS)} the {random.choice(THINGS)} in {random.choice(PLACES)} for "
        f"{random.randint(2, 900)} euros, and it took {random.randint(1, 9)} hours."
        for n in range(count)
    ]


def questions(count: int) -> list[str]:
    random = Random(8)
    return [f"What did I do with the {random.choice(THINGS)} in {random.choice(PLACES)}?" for _ in range(count)]


def timed(action: Callable[[str], object], texts: Iterable[str]) -> list[float]:
    """How long each call takes."""
    found = []
    for text in texts:
        start = time.perf_counter()
        action(text)
        found.append((time.perf_counter() - start) * 1e3)
    return found


def open_peer(folder: Path) -> Any:
    """``mem0ai`` on disk, without telemetry; ``None`` where it is not installed."""
    os.environ |= {"MEM0_TELEMETRY": "False", "MEM0_DIR": str(folder), "OPENAI_API_KEY": "unused"}
    here = str(Path(__file__).parent)
    sys.path[:] = [path for path in sys.path if path != here]  # this file has the name of the package
    try:
        from mem0 import Memory as Peer
    except ImportError:
        return None
    store = {"path": str(folder / "qdrant"), "on_disk": True, "embedding_model_dims": DIMENSIONS}
    peer = Peer.from_config(
        {
            "vector_store": {"provider": "qdrant", "config": store},
            "history_db_path": str(folder / "history.db"),
        }
    )
    peer.embedding_model = HashEmbedder()
    return peer


def measure(memory: Any, turns: list[str], asked: list[str]) -> dict[str, float]:
    """Median times of the adds, of the last tenth of them, and of the searches."""
    adds = timed(lambda text: memory.add(text, user_id=USER, infer=False), turns)
    memory.search(asked[0], filters={"user_id": USER}, top_k=10)
    searches = timed(lambda text: memory.search(text, filters={"user_id": USER}, top_k=10), asked)
    return {
        "add p50": statistics.median(adds),
        "add p95": statistics.quantiles(adds, n=20)[-1],
        "last adds p50": statistics.median(adds[-max(len(adds) // 10, 1) :]),
        "search p50": statistics.median(searches),
        "search p95": statistics.quantiles(searches, n=20)[-1],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=1000)
    parser.add_argument("--searches", type=int, default=100)
    arguments = parser.parse_args()
    turns, asked = generated(arguments.turns), questions(arguments.searches)
    rows = {}
    with tempfile.TemporaryDirectory() as folder:
        with Memory(db=str(Path(folder) / "memory.db")) as ours:
            rows["here"] = measure(ours, turns, asked)
        peer = open_peer(Path(folder))
        if peer is not None:
            rows["mem0ai"] = measure(peer, turns, asked)
            peer.close()
    table = Table("ms", *next(iter(rows.values())), title=f"{arguments.turns} turns, {arguments.searches} searches")
    for name, figures in rows.items():
        table.add_row(name, *(f"{figure:.2f}" for figure in figures.values()))
    Console().print(table)


if __name__ == "__main__":
    main()
