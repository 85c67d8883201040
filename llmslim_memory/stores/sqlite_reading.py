"""Reading what is new in a SQLite store: from where, and by which index."""

from __future__ import annotations

import sqlite3
from typing import Any

from llmslim_memory.stores import sqlite_rows as rows
from llmslim_memory.types import Changes, Scope


def last_write(db: sqlite3.Connection) -> tuple[int, ...]:
    """The seq and the revision given last."""
    last: tuple[int, ...] = db.execute("SELECT seq, revision FROM llmslim_counter").fetchone()
    return last


def find_changes(
    db: sqlite3.Connection, scope: Scope, known: tuple[int, ...] | None, *, version: int | None, encoding: str | None
) -> Changes:
    """What changed in ``scope`` since the seq and the revision in ``known``; ``None``: all its turns.

    New turns are found by their seq, in the scope's index; edits and deletions, which are few, in the log of changes.
    """
    cursor = "{}-{}".format(*last_write(db))
    seq, revision = known or (0, 0)
    columns, join, asked = _analysis(version, encoding)
    source, condition, values = added_since(scope, seq)
    found = db.execute(f"SELECT {columns} FROM {source} {join} WHERE {condition}", [*asked, *values])
    heads = {row[0]: rows.to_head(row) for row in found}
    if known is None:
        return Changes(cursor, list(heads.values()), [])
    condition, values = rows.in_scope(scope, "t.")
    edited = db.execute(
        f"""SELECT {columns} FROM llmslim_change x CROSS JOIN llmslim_memory t ON t.id = x.id {join}
        WHERE x.revision > ? AND {condition}""",
        [*asked, revision, *values],
    )
    heads |= {row[0]: rows.to_head(row) for row in edited}
    deleted = db.execute("SELECT id FROM llmslim_change WHERE revision > ? AND deleted", (revision,))
    return Changes(cursor, list(heads.values()), [item_id for (item_id,) in deleted if item_id not in heads])


def added_since(scope: Scope | None, seq: int) -> tuple[str, str, list[Any]]:
    """Table, condition and values for the turns of ``scope`` added after ``seq``."""
    if scope is None:
        return "llmslim_memory t", "t.seq > ?", [seq]
    condition, values = rows.in_scope(scope, "t.")
    given = scope.given()
    if not seq and len(given) > 1:
        return "llmslim_memory t", condition, values
    # SQLite would weigh two ids against one id and the seq without knowing how many turns each leaves. This index is
    # in the order of adding, so the rows are read from the file one after the other.
    narrow = next(name for name in ("run_id", "user_id", "agent_id") if name in given)
    index = "llmslim_" + narrow.removesuffix("_id")
    return f"llmslim_memory t INDEXED BY {index}", f"{condition} AND t.seq > ?", [*values, seq]


def _analysis(version: int | None, encoding: str | None) -> tuple[str, str, list[Any]]:
    """Columns, join and values for heads with the analysis asked for."""
    if version is None and encoding is None:
        return rows.HEAD, "", []
    asked = "CASE WHEN a.version = ? THEN a.data END, CASE WHEN a.encoding = ? THEN a.tokens END"
    return f"{rows.HEAD}, {asked}", "LEFT JOIN llmslim_analysis a ON a.seq = t.seq", [version, encoding]
