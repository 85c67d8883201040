"""Counts how often keys were seen, in a temporary database: an export may hold more of them than memory should."""

from __future__ import annotations

import sqlite3
from types import TracebackType
from typing import Self


class Scratch:
    """Counts keys. What it keeps in memory is bounded, and its file vanishes with it."""

    def __init__(self) -> None:
        # SQLite's name for a private file on disk, which is deleted when it is closed.
        self._db = sqlite3.connect("", isolation_level=None)
        self._db.execute("PRAGMA journal_mode = OFF")
        self._db.execute("PRAGMA synchronous = OFF")
        self._db.execute("CREATE TABLE seen (key TEXT PRIMARY KEY, times INTEGER NOT NULL) WITHOUT ROWID")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._db.close()

    def count(self, key: str) -> int:
        """Note the key once more and say how often it was noted, this time included."""
        row = self._db.execute(
            "INSERT INTO seen VALUES (?, 1) ON CONFLICT DO UPDATE SET times = times + 1 RETURNING times", (key,)
        ).fetchone()
        return int(row[0])
