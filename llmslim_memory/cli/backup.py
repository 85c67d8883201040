"""The command that copies a SQLite memory while it is in use."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from llmslim_memory.cli.options import DEFAULT_DB, Db, Json, opened
from llmslim_memory.cli.output import show, show_json
from llmslim_memory.errors import UnsupportedError
from llmslim_memory.stores import SQLiteStore


def backup(
    target: Annotated[Path, typer.Argument(help="The new file.")], db: Db = DEFAULT_DB, as_json: Json = False
) -> None:
    """Write a consistent copy of the memory to a new file, while others go on reading and writing."""
    with opened(db) as memory:
        if not isinstance(memory.store, SQLiteStore):
            raise UnsupportedError("backup copies SQLite files: use your database's own tools (pg_dump, mongodump)")
        memory.store.backup(target)
    size = target.expanduser().stat().st_size
    if as_json:
        show_json({"path": str(target), "bytes": size})
    else:
        show(f"{target}: {size / 1e6:,.1f} MB")
