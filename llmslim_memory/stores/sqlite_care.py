"""Care for a SQLite store: copies made while it is in use, and damage found."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

from llmslim_memory.errors import InvalidValueError
from llmslim_memory.stores.sqlite_connections import Connections
from llmslim_memory.stores.sqlite_files import create_file


def back_up(connections: Connections, path: str | Path) -> None:
    """Write a consistent copy under a name of its own first, and give it its name when it is on the disk.

    Raises:
        InvalidValueError: There is a file already, or it cannot be created.
    """
    target = Path(path).expanduser().absolute()
    if target.exists():
        raise InvalidValueError(f"{str(target)!r} exists already: pass the path of a new file")
    partial = target.with_name(target.name + ".partial")
    partial.unlink(missing_ok=True)
    create_file(partial)
    try:
        connections.copy_into(partial)
        _sync(partial)
        os.replace(partial, target)
    finally:
        partial.unlink(missing_ok=True)


def find_damage(db: sqlite3.Connection) -> list[str]:
    """What is wrong with the whole file, in SQLite's words; an empty list is good."""
    return _damage(db) or _strays(db)


def _damage(db: sqlite3.Connection) -> list[str]:
    try:
        return [line for (line,) in db.execute("PRAGMA integrity_check") if line != "ok"]
    except sqlite3.DatabaseError as error:
        if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_CORRUPT:
            raise
        return [str(error)]


def _strays(db: sqlite3.Connection) -> list[str]:
    tables = {row[0] for row in db.execute("PRAGMA foreign_key_check")}
    return [f"rows in {table} belong to no turn" for table in sorted(tables)]


def _sync(path: Path) -> None:
    with path.open("rb") as file:
        os.fsync(file.fileno())
