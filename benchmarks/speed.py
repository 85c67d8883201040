"""How long searches and writes take at 10 thousand to 10 million tokens, warm and cold, per store and beside peers.

    python benchmarks/speed.py [FOLDER] [--sizes 10000,100000,1000000] [--stores memory,sqlite] [--plot speed.png]

Histories are those of FOLDER, varied until they are long enough, or generated. Times are milliseconds, by the clock and
("cpu") of processor time, which other programs disturb less; the tokenizer is loaded before the clock starts.
``bm25s`` is the scoring of one question alone, ``llmslim`` a whole search.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from histories import WORD, as_message, generated, questions_about, varied
from rich.console import Console
from rich.table import Table

from llmslim_memory import Memory, MemoryItem

BATCH = 500
QUESTIONS = 40
PEER_QUESTIONS = 5
ADDS = 40
PEER_LIMIT = 1_200_000
COLD = """
import sys, time
from llmslim_memory import Memory
memory = Memory(sys.argv[1])
memory.counter("load the vocabulary")
memory.search("x", user_id="nobody")
start = time.perf_counter()
memory.search(sys.argv[2], user_id="user")
print((time.perf_counter() - start) * 1e3)
"""


@dataclass(frozen=True, slots=True)
class Row:
    """What was measured for one history in one store; milliseconds, ``None`` where there is no such figure."""

    tokens: int
    system: str
    warm_p50: float | None = None
    warm_p95: float | None = None
    warm_cpu: float | None = None
    cold: float | None = None
    add_p50: float | None = None
    add_cpu: float | None = None
    index_bytes_per_char: float | None = None


@dataclass(frozen=True, slots=True)
class Times:
    """How long some calls took, each by the clock, ascending, and the median of their processor time."""

    wall: list[float]
    cpu: float

    @property
    def p50(self) -> float:
        return statistics.median(self.wall)

    @property
    def p95(self) -> float:
        return self.wall[int(0.95 * len(self.wall))]


def timed(actions: Iterable[Callable[[], object]]) -> Times:
    """How long each call takes."""
    wall, cpu = [], []
    for action in actions:
        start, spent = time.perf_counter(), time.process_time()
        action()
        wall.append((time.perf_counter() - start) * 1e3)
        cpu.append((time.process_time() - spent) * 1e3)
    return Times(sorted(wall), statistics.median(cpu))


def asked(search: Callable[[str], object], questions: Iterable[str]) -> Iterator[Callable[[], object]]:
    """A call for each question."""
    return (partial(search, question) for question in questions)


def measure(store: str, turns: list[MemoryItem], tokens: int, folder: Path) -> Row:
    """Fill a store, search it warm and cold, and add single turns while the index is kept fresh."""
    path = folder / f"{tokens}.db"
    with Memory(None if store == "memory" else str(path)) as memory:
        for at in range(0, len(turns), BATCH):
            memory.add([as_message(turn) for turn in turns[at : at + BATCH]], user_id="user")
        questions = questions_about(turns, QUESTIONS)
        search = partial(memory.search, user_id="user")
        search(questions[0])
        warm = timed(asked(search, questions))
        adds = timed(kept_fresh(memory, turns[:ADDS]))
        held = next(iter(memory._indexes._sizes.values()))
    chars = sum(len(turn.content) for turn in turns)
    cold = cold_search(path, questions[1]) if store == "sqlite" else None
    return Row(tokens, store, warm.p50, warm.p95, warm.cpu, cold, adds.p50, adds.cpu, held / chars)


def kept_fresh(memory: Memory, turns: Iterable[MemoryItem]) -> Iterator[Callable[[], object]]:
    """A call that adds each turn; a search after it brings the index up to date."""
    for turn in turns:
        message = {"role": "user", "content": turn.content[:400]}
        yield partial(memory.add, message, user_id="user", run_id="new")
        memory.search("anything new", user_id="user", budget=50)


def cold_search(path: Path, question: str) -> float:
    """The first search of a new process."""
    runs = [
        float(subprocess.run([sys.executable, "-c", COLD, str(path), question], check=True, capture_output=True).stdout)
        for _ in range(3)
    ]
    return statistics.median(runs)


def measure_bm25s(turns: list[MemoryItem], tokens: int) -> Row | None:
    """The floor: scoring alone, over an index that is in memory."""
    try:
        import bm25s
    except ImportError:
        return None
    index = bm25s.BM25()
    index.index([WORD.findall(turn.content.lower()) for turn in turns], show_progress=False)
    questions = questions_about(turns, QUESTIONS)
    warm = timed(asked(lambda question: index.get_scores(WORD.findall(question.lower())), questions))
    return Row(tokens, "bm25s (scoring alone)", warm.p50, warm.p95, warm.cpu)


def measure_llmslim(turns: list[MemoryItem], tokens: int) -> Row | None:
    """The peer library, through its public interface, on the sizes it can bear."""
    try:
        from llmslim.memory import Memory as PeerMemory
    except ImportError:
        return None
    if tokens > PEER_LIMIT:
        return None
    peer = PeerMemory()
    for at in range(0, len(turns), BATCH):
        peer.add([as_message(turn) for turn in turns[at : at + BATCH]], user_id="user")
    warm = timed(asked(partial(peer.search, user_id="user"), questions_about(turns, PEER_QUESTIONS)))
    return Row(tokens, "llmslim", warm.p50, warm.p95, warm.cpu)


def table(rows: list[Row]) -> Table:
    """The rows, each beside the last store of the same size, by the clock and by processor time."""
    names = ("warm p50 ms", "p95", "cpu", "cold ms", "add p50 ms", "cpu", "index bytes/char", "ratio", "cpu")
    found = Table("tokens", "system", *names)
    bases = {row.tokens: row for row in rows if row.system in ("sqlite", "memory")}
    for row in rows:
        base = bases.get(row.tokens, row)
        ratios = ((row.warm_p50 or 0) / (base.warm_p50 or 1), (row.warm_cpu or 0) / (base.warm_cpu or 1))
        warm, add = (row.warm_p50, row.warm_p95, row.warm_cpu), (row.add_p50, row.add_cpu)
        figures = (*warm, row.cold, *add, row.index_bytes_per_char)
        shown = ["" if figure is None else f"{figure:.2f}" for figure in figures]
        found.add_row(f"{row.tokens:,}", row.system, *shown, *(f"{ratio:.2f}x" for ratio in ratios))
    return found


def plot(rows: list[Row], path: Path) -> None:
    """Draw searches over the size of the history, both axes logarithmic: warm ones by processor time."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7, 4.2))
    for system in dict.fromkeys(row.system for row in rows):
        points = [(row.tokens, row.warm_cpu) for row in rows if row.system == system and row.warm_cpu]
        axes.plot(*zip(*points, strict=True), marker="o", label=system)
        cold = [(row.tokens, row.cold) for row in rows if row.system == system and row.cold]
        if cold:
            axes.plot(
                *zip(*cold, strict=True),
                marker="s",
                linestyle="--",
                label=f"{system}, first of a process",
            )
    axes.set(xscale="log", yscale="log", xlabel="tokens in the history", ylabel="milliseconds a search (median)")
    axes.grid(alpha=0.3)
    axes.legend(loc="upper left", bbox_to_anchor=(1, 1), title="processor time;\ndashed: by the clock")
    figure.savefig(path, dpi=140, bbox_inches="tight")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--sizes", default="10000,100000,1000000")
    parser.add_argument("--stores", default="memory,sqlite")
    parser.add_argument("--plot", type=Path)
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    rows: list[Row] = []
    for tokens in map(int, args.sizes.split(",")):
        turns = list(varied(args.folder, tokens) if args.folder else generated(tokens))
        with tempfile.TemporaryDirectory() as folder:
            rows += [measure(store, turns, tokens, Path(folder)) for store in args.stores.split(",")]
        rows += [row for row in (measure_bm25s(turns, tokens), measure_llmslim(turns, tokens)) if row is not None]
        Console(width=140).print(table(rows))
    if args.json:
        args.json.write_text(
            json.dumps([{name: getattr(row, name) for name in row.__slots__} for row in rows], indent=1)
        )
    if args.plot:
        plot(rows, args.plot)


if __name__ == "__main__":
    main()
