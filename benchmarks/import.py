"""How fast ChatGPT-shaped JSON is imported into SQLite, by stage, and how much memory that takes.

    python benchmarks/import.py                      # 20 MB, made up
    python benchmarks/import.py --megabytes 1024 --stage reading
    python benchmarks/import.py --texts FILE.jsonl   # with the contents of your own messages

Stages add up: reading (cut, decode, pick what was said), redaction, analysis (terms and token counts), and writing
(SQLite, a commit that survives a power cut for each batch). Each runs in a process of its own; what the one before took
is taken off, and for writing the calls into the store are timed. At last all of it once more with a helper, as a large
import has one: where two cores are free, the busier of the two processes says how long it takes.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from llmslim_memory import InMemoryStore, Memory, SQLiteStore, import_history

STAGES = ("reading", "redaction", "analysis", "writing", "helped")
WORDS = """
the a we you server client token cache database query index memory session prompt model answer question deploy build
test branch merge review schedule meeting budget recipe train ticket garden light window garage invoice customer python
rust function class module error stack trace deadline week month yesterday tomorrow always never prefer because however
""".split()  # noqa: SIM905  # a word list reads better


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--megabytes", type=int, default=20)
    parser.add_argument("--texts", type=Path, help="JSONL whose `content` fields are used instead of made-up words")
    parser.add_argument("--stage", choices=STAGES, help="only up to this stage")
    parser.add_argument("--file", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.file:
        run_stage(options.file, options.stage)
        return
    with TemporaryDirectory() as folder:
        path = Path(folder, "conversations.json")
        said = write_export(path, options.megabytes * 1_000_000, texts(options.texts))
        size = path.stat().st_size
        print(f"{size / 1e6:,.1f} MB of JSON, {said / size:.0%} of it what was said")
        stages = STAGES[: STAGES.index(options.stage) + 1] if options.stage else STAGES
        before = 0.0
        for stage in stages:
            command = [sys.executable, __file__, "--file", str(path), "--stage", stage]
            done = json.loads(subprocess.run(command, capture_output=True, check=True, text=True).stdout)
            if stage == "helped":
                busier = max(done["cpu"], done["helper"])
                print(
                    f"    helped: {done['cpu']:7.2f} CPU-s here, {done['helper']:.2f} in the helper: "
                    f"{size / 1e6 / busier:.1f} MB/s by the busier; {size / 1e6 / done['wall']:.1f} MB/s, "
                    f"peak {done['peak']:.0f} MB here, {done['helper_peak']:.0f} MB there"
                )
                continue
            own = done["store"] if stage == "writing" else done["cpu"] - before
            print(
                f"{stage:>10}: {own:7.2f} CPU-s of its own ({size / 1e6 / max(own, 1e-9):7.1f} MB/s); up to here "
                f"{size / 1e6 / done['cpu']:6.1f} MB/CPU-s, {size / 1e6 / done['wall']:6.1f} MB/s, "
                f"{done['turns']:,} turns, peak {done['peak']:.0f} MB"
            )
            before = done["cpu"]


def run_stage(path: Path, stage: str) -> None:
    """Import as far as ``stage`` and print what it took."""
    database = path.with_name(f"{stage}.db")
    store = Timed(database) if stage in ("writing", "helped") else Discarding()
    memory = None if stage in ("reading", "redaction") else Memory(store)
    if memory is not None:
        memory.counter("the vocabulary is loaded before the clock starts")
    wall, cpu = time.perf_counter(), time.process_time()
    report = import_history(
        path, memory, dry_run=memory is None, redact=stage != "reading", helpers=int(stage == "helped")
    )
    took = {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu, "turns": report.imported}
    took["store"] = getattr(store, "seconds", 0.0)
    helper = resource.getrusage(resource.RUSAGE_CHILDREN)
    took |= {"helper": helper.ru_utime + helper.ru_stime, "helper_peak": helper.ru_maxrss / 1024}
    print(json.dumps(took | {"peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}))


class Timed(SQLiteStore):
    """Says how much CPU time writing took."""

    seconds = 0.0

    def apply(self, batch):  # type: ignore[no-untyped-def]
        start = time.process_time()
        try:
            return super().apply(batch)
        finally:
            self.seconds += time.process_time() - start


class Discarding(InMemoryStore):
    """Takes turns with their analyses and forgets them."""

    def apply(self, batch):  # type: ignore[no-untyped-def]
        return (len(batch.add), 0, 0)


def texts(path: Path | None) -> Callable[[], str]:
    if path is None:
        chance = random.Random(1)
        return lambda: " ".join(chance.choices(WORDS, k=chance.randint(8, 260))).capitalize() + "."
    contents = [json.loads(line)["content"] for line in path.open(encoding="utf-8")]
    position = iter(range(1 << 60))
    return lambda: contents[next(position) % len(contents)]


def write_export(path: Path, size: int, text: Callable[[], str]) -> int:
    """Write a ``conversations.json`` of about this size and say how many of its bytes are what was said."""
    said = written = 0
    with path.open("w", encoding="utf-8") as file:
        file.write("[")
        for number, conversation in enumerate(conversations(text)):
            data = json.dumps(conversation)
            file.write(", " * (number > 0) + data)
            written += len(data)
            nodes = conversation["mapping"].values()
            said += sum(
                len(json.dumps(node["message"]["content"]["parts"][0])) - 2 for node in nodes if node["message"]
            )
            if written > size:
                break
        file.write("]")
    return said


def conversations(text: Callable[[], str]) -> Iterator[dict]:  # type: ignore[type-arg]
    number = 0
    while True:
        number += 1
        keys = [f"{number:08d}-{turn:04d}-4000-8000-000000000000" for turn in range(32)]
        mapping = {"root": {"id": "root", "message": None, "parent": None, "children": keys[:1]}}
        for turn, key in enumerate(keys):
            parent = keys[turn - 1] if turn else "root"
            mapping[key] = node(key, parent, keys[turn + 1 : turn + 2], ("user", "assistant")[turn % 2], text())
        yield {
            "id": f"c{number}",
            "conversation_id": f"c{number}",
            "title": f"Talk {number}",
            "create_time": 1_767_349_800.25 + number,
            "update_time": 1_767_350_000.5 + number,
            "current_node": keys[-1],
            "mapping": mapping,
        }


def node(key: str, parent: str, children: list[str], role: str, text: str) -> dict:  # type: ignore[type-arg]
    metadata = {"model_slug": "gpt-5", "citations": [], "content_references": [], "finish_details": {"type": "stop"}}
    message = {
        "id": key,
        "author": {"role": role, "name": None, "metadata": {}},
        "create_time": 1_767_349_800.25,
        "update_time": None,
        "content": {"content_type": "text", "parts": [text]},
        "status": "finished_successfully",
        "end_turn": True,
        "weight": 1.0,
        "metadata": metadata | {"request_id": key, "message_type": "next", "timestamp_": "absolute", "can_save": True},
        "recipient": "all",
        "channel": None,
    }
    return {"id": key, "message": message, "parent": parent, "children": children}


if __name__ == "__main__":
    main()
