"""The command that imports a chat history from a file."""

from __future__ import annotations

import hashlib
import json
import sys
from collections import Counter
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from llmslim_memory.cli.options import DEFAULT_DB, DEFAULT_USER, Agent, Db, Json, opened
from llmslim_memory.cli.output import amount, console, show, show_json
from llmslim_memory.errors import HistoryImportError

BATCH = 500


def import_file(
    source: Annotated[Path, typer.Argument(help="A JSONL file: one message with role and content a line.")],
    user: Annotated[str | None, typer.Option("--user", "-u", help="Store all under this user.")] = None,
    agent: Agent = None,
    db: Db = DEFAULT_DB,
    as_json: Json = False,
) -> None:
    """Import messages from a JSONL file; importing it again adds only what is new."""
    messages = list(_read(source))
    imported = 0
    with opened(db, new=True) as memory, _progress() as progress:
        task = progress.add_task("importing", total=len(messages))
        for (owner, run), group in groupby(messages, key=lambda m: (user or m["user_id"], m["session_id"])):
            turns = list(group)
            for start in range(0, len(turns), BATCH):
                batch = turns[start : start + BATCH]
                before = {memory.item_id(m["id"], user_id=owner, agent_id=agent, run_id=run) for m in batch}
                known = sum(memory.get(item_id) is not None for item_id in before)
                memory.add(batch, user_id=owner, agent_id=agent, run_id=run, on_conflict="keep")
                imported += len(before) - known
                progress.advance(task, len(batch))
    if as_json:
        show_json({"imported": imported, "duplicates": len(messages) - imported})
    else:
        show(f"{amount(imported, 'turn')} imported, {len(messages) - imported:,} there already")


def _progress() -> Progress:
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    return Progress(*columns, console=console(sys.stderr), transient=True, disable=not sys.stderr.isatty())


def _read(source: Path) -> Iterator[dict[str, Any]]:
    seen: Counter[str] = Counter()
    with source.expanduser().open(encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            if line.strip():
                yield _message(source, number, line, seen)


def _message(source: Path, number: int, line: str, seen: Counter[str]) -> dict[str, Any]:
    try:
        record = json.loads(line)
        message = {name: record[name] for name in ("role", "content")}
    except (ValueError, TypeError, KeyError, RecursionError):
        raise HistoryImportError(
            f'{source} line {number} is no message: each line is an object like {{"role": "user", "content": "..."}}'
        ) from None
    message |= {"user_id": record.get("user_id") or DEFAULT_USER, "session_id": record.get("session_id")}
    if record.get("timestamp") is not None:
        message["timestamp"] = record["timestamp"]
    message["id"] = str(record.get("id") or _derived_id(message, seen))
    return message


def _derived_id(message: dict[str, Any], seen: Counter[str]) -> str:
    digest = hashlib.blake2b(json.dumps(message, sort_keys=True).encode(), digest_size=12).hexdigest()
    seen[digest] += 1
    return f"jsonl-{digest}-{seen[digest]}"
