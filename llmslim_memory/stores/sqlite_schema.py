"""The tables of a SQLite store, how they came about step by step, and whose file it is."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path

from llmslim_memory.errors import SchemaError

APPLICATION_ID = 0x6C6C736D
"""Stands in the file's header and says that this library wrote it ("llsm" in ASCII)."""

# Heads, contents and analyses are tables of their own: a cold start reads heads and analyses and never the text. `seq`
# is the rowid, so every index ends in it; the plain index on an id of the scope therefore gives what was added since.
_SCHEMA_1 = (
    f"PRAGMA application_id = {APPLICATION_ID}",
    "CREATE TABLE llmslim_meta (key TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID",
    "CREATE TABLE llmslim_counter (seq INTEGER NOT NULL, revision INTEGER NOT NULL)",
    "INSERT INTO llmslim_counter VALUES (0, 0)",
    """CREATE TABLE llmslim_memory (
        seq INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        role TEXT NOT NULL,
        created_at TEXT NOT NULL,
        updated_at TEXT,
        user_id TEXT,
        agent_id TEXT,
        run_id TEXT,
        revision INTEGER NOT NULL
    )""",
    "CREATE INDEX llmslim_user_time ON llmslim_memory (user_id, created_at) WHERE user_id IS NOT NULL",
    "CREATE INDEX llmslim_agent_time ON llmslim_memory (agent_id, user_id, created_at) WHERE agent_id IS NOT NULL",
    "CREATE INDEX llmslim_run_time ON llmslim_memory (run_id, user_id, created_at) WHERE run_id IS NOT NULL",
    "CREATE INDEX llmslim_user ON llmslim_memory (user_id) WHERE user_id IS NOT NULL",
    "CREATE INDEX llmslim_agent ON llmslim_memory (agent_id) WHERE agent_id IS NOT NULL",
    "CREATE INDEX llmslim_run ON llmslim_memory (run_id) WHERE run_id IS NOT NULL",
    """CREATE TABLE llmslim_content (
        seq INTEGER PRIMARY KEY REFERENCES llmslim_memory (seq) ON DELETE CASCADE,
        metadata TEXT NOT NULL,
        content TEXT NOT NULL
    )""",
    """CREATE TABLE llmslim_analysis (
        seq INTEGER PRIMARY KEY REFERENCES llmslim_memory (seq) ON DELETE CASCADE,
        version INTEGER NOT NULL,
        encoding TEXT NOT NULL,
        tokens INTEGER NOT NULL,
        data BLOB NOT NULL
    )""",
    """CREATE TABLE llmslim_change (
        id TEXT PRIMARY KEY,
        revision INTEGER NOT NULL,
        deleted INTEGER NOT NULL
    ) WITHOUT ROWID""",
    "CREATE INDEX llmslim_change_revision ON llmslim_change (revision)",
    """CREATE TABLE llmslim_record (
        n INTEGER PRIMARY KEY,
        kind TEXT NOT NULL,
        key TEXT NOT NULL,
        value TEXT NOT NULL,
        "group" TEXT,
        item_id TEXT,
        user_id TEXT,
        agent_id TEXT,
        run_id TEXT,
        UNIQUE (kind, key)
    )""",
    'CREATE INDEX llmslim_record_group ON llmslim_record (kind, "group") WHERE "group" IS NOT NULL',
    "CREATE INDEX llmslim_record_item ON llmslim_record (item_id) WHERE item_id IS NOT NULL",
    "CREATE INDEX llmslim_record_user ON llmslim_record (user_id) WHERE user_id IS NOT NULL",
    "CREATE INDEX llmslim_record_agent ON llmslim_record (agent_id) WHERE agent_id IS NOT NULL",
    "CREATE INDEX llmslim_record_run ON llmslim_record (run_id) WHERE run_id IS NOT NULL",
)

MIGRATIONS: tuple[Sequence[str], ...] = (_SCHEMA_1,)
"""Step n takes a store from schema n to n + 1. Append; never change a step that was released."""

VERSION_KEY = "schema_version"


def read_version(db: sqlite3.Connection) -> int:
    """The schema number of an open file: 0 for an empty one.

    Raises:
        SchemaError: Another program wrote it, or a newer release.
    """
    tables = {name for (name,) in db.execute("SELECT name FROM sqlite_master")}
    if not tables:
        return 0
    if db.execute("PRAGMA application_id").fetchone()[0] != APPLICATION_ID or "llmslim_meta" not in tables:
        raise foreign()
    version = int(db.execute("SELECT value FROM llmslim_meta WHERE key = ?", (VERSION_KEY,)).fetchone()[0])
    if version > len(MIGRATIONS):
        raise SchemaError(
            f"the file has schema {version}, and this release reads up to {len(MIGRATIONS)}: upgrade llmslim-memory"
        )
    return version


def check_version(db: sqlite3.Connection) -> None:
    """Raise unless an open file has the newest schema."""
    version = read_version(db)
    if version < len(MIGRATIONS):
        raise SchemaError(
            f"the file has schema {version}, and this release reads {len(MIGRATIONS)}: open it once for writing"
        )


def migrate(db: sqlite3.Connection) -> None:
    """Bring an open file up to the newest schema; every step commits together with its number.

    Several processes may do this at once: each step is decided on inside its own write transaction.
    """
    while read_version(db) < len(MIGRATIONS):
        db.execute("BEGIN IMMEDIATE")
        try:
            version = read_version(db)
            if version < len(MIGRATIONS):
                for statement in MIGRATIONS[version]:
                    db.execute(statement)
                db.execute("INSERT OR REPLACE INTO llmslim_meta (key, value) VALUES (?, ?)", (VERSION_KEY, version + 1))
        except BaseException:
            db.execute("ROLLBACK")
            raise
        db.execute("COMMIT")


def check_header(path: Path) -> None:
    """Refuse a file that is visibly not ours, from its first 100 bytes, before SQLite opens and touches it.

    Raises:
        SchemaError: It is no SQLite file, or carries another program's mark.
    """
    with path.open("rb") as file:
        head = file.read(100)
    if head and not head.startswith(b"SQLite format 3\x00"):
        raise foreign()
    if head and int.from_bytes(head[68:72], "big") not in (0, APPLICATION_ID):
        raise foreign()


def foreign() -> SchemaError:
    """The error for a file that another program wrote."""
    return SchemaError("the file was written by another program and is left as it is: pass another path")
