"""Turns in one SQLite file, through Python's own ``sqlite3``."""

from __future__ import annotations

import builtins
import sqlite3
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any
from weakref import finalize

from llmslim_memory.errors import InvalidValueError
from llmslim_memory.stores import base
from llmslim_memory.stores import sqlite_rows as rows
from llmslim_memory.stores.sqlite_care import back_up, find_damage
from llmslim_memory.stores.sqlite_connections import Connections
from llmslim_memory.stores.sqlite_options import to_path, to_synchronous, to_timeout
from llmslim_memory.stores.sqlite_reading import added_since, find_changes, last_write
from llmslim_memory.stores.sqlite_writing import Write
from llmslim_memory.types import (
    Analysis,
    Applied,
    Batch,
    Changes,
    Edit,
    MemoryItem,
    Page,
    Record,
    Scope,
    ScopeSummary,
    Where,
    check_id,
)

DEFAULT_PATH = "llmslim_memory.db"


class SQLiteStore(base.BatchStore):
    """Turns in one SQLite file. Several threads and processes may use it at once: reading never waits for writing.

    A write is on the disk when the call returns. The file is created for its owner alone, and so are missing folders
    above it. What is deleted or replaced is overwritten in the file and leaves the write-ahead log.

    Args:
        path: The file, created if missing, or ``":memory:"`` for a database of this process alone.
        synchronous: ``"FULL"`` survives a power cut; ``"NORMAL"`` is faster and may then lose the last writes, though
            none in a crash of the process; also ``"EXTRA"`` and ``"OFF"``, as SQLite defines them.
        busy_timeout: Seconds to wait for another process that is writing.
        read_only: Create and upgrade nothing, and refuse to write.

    Raises:
        SchemaError: Another program, or a newer release, wrote the file; it is left as it is.
        InvalidValueError: The path is a folder or cannot be created, or an argument is unusable.
    """

    def __init__(
        self,
        path: str | Path = DEFAULT_PATH,
        *,
        synchronous: str = "FULL",
        busy_timeout: float = 30.0,
        read_only: bool = False,
    ) -> None:
        database = to_path(path)
        if read_only and database is None:
            raise InvalidValueError("a database in memory starts empty: read_only needs the path of a file")
        self._connections = Connections(
            database,
            synchronous=to_synchronous(synchronous),
            busy_timeout=to_timeout(busy_timeout),
            read_only=read_only,
        )
        # A store that nobody closes is closed with its last reference, or at the latest with the process.
        self._close = finalize(self, self._connections.close)

    @property
    def path(self) -> Path | None:
        """The file, by its absolute path; ``None`` for a database in memory."""
        return self._connections.path

    def close(self) -> None:
        """Close the file; any later call raises. Closing again does nothing."""
        self._close()

    # MemoryStore

    def list(self, scope: Scope, *, since: datetime | None = None, until: datetime | None = None) -> list[MemoryItem]:
        inside, ids = rows.in_scope(scope, "t.")
        within, times = rows.in_window(since, until)
        return self._turns(" AND ".join([inside, *within]), [*ids, *times])

    def get(self, item_id: str) -> MemoryItem | None:
        check_id("item_id", item_id)
        with self._connections.reader() as db:
            return _get(db, item_id)

    def update(
        self, item_id: str, *, content: str | None = None, metadata: Mapping[str, Any] | None = None
    ) -> MemoryItem | None:
        edit = Edit(item_id, content, metadata)
        base.check_edit(edit)
        text = None if metadata is None else base.dump_json(metadata)
        with self._connections.writer() as db:
            write = Write(db)
            if write.edit(edit, text):
                write.finish()
                self._connections.erased()
            return _get(db, item_id)

    def delete_scope(self, scope: Scope) -> int:
        with self._connections.writer() as db:
            write = Write(db)
            deleted = write.delete_scope(scope)
            write.finish()
            self._connections.erased()
            return deleted

    # SupportsScan

    def scan(self, *, scope: Scope | None = None, after: str | None = None, limit: int = 500) -> Page:
        last = 0 if after is None else base.parse_cursor(after)[0]
        base.check_limit(limit)
        source, condition, values = added_since(scope, last)
        sql = f"""SELECT {rows.TURN} FROM {source} CROSS JOIN llmslim_content c ON c.seq = t.seq
            WHERE {condition} ORDER BY t.seq LIMIT {min(limit, 1 << 40) + 1}"""
        with self._connections.reader() as db:
            found = [rows.to_item(row) for row in db.execute(sql, values)]
        return Page(found[:limit], str(found[limit - 1].seq) if len(found) > limit else None)

    def scopes(self) -> builtins.list[ScopeSummary]:
        sql = """SELECT user_id, agent_id, run_id, count(*), min(created_at), max(created_at) FROM llmslim_memory
            GROUP BY user_id, agent_id, run_id ORDER BY user_id, agent_id, run_id"""
        with self._connections.reader() as db:
            return [rows.to_summary(row) for row in db.execute(sql)]

    # SupportsFind

    def find(self, where: Where) -> builtins.list[MemoryItem]:
        return self._turns(*rows.meeting(where))

    # SupportsRecords

    def apply(self, batch: Batch) -> Applied:
        ids = base.check_new(batch.add)
        base.check_claims(batch.claim)
        doomed = base.check_ids(batch.delete)
        metadata = [base.dump_json(item.metadata) for item in batch.add]
        for edit in batch.edit:
            base.check_edit(edit)
        edits = [(edit, None if edit.metadata is None else base.dump_json(edit.metadata)) for edit in batch.edit]
        with self._connections.writer() as db:
            write = Write(db)
            if ids:
                write.add(ids, batch.add, metadata)
            edited = sum(write.edit(*edit) for edit in edits)
            deleted = write.delete(doomed) if doomed else 0
            # Each statement lets other threads go first, and most batches hold few kinds of writes.
            if batch.claim or batch.put or batch.drop:
                write.claim(batch.claim)
                write.put(batch.put)
                write.drop(batch.drop)
            if batch.analyses:
                write.analyse(batch.analyses)
            write.finish()
            if edited or deleted or batch.drop:
                self._connections.erased()
            return Applied(len(ids), edited, deleted)

    def records(
        self,
        kind: str,
        *,
        keys: Sequence[str] | None = None,
        group: str | None = None,
        scope: Scope | None = None,
    ) -> builtins.list[Record]:
        tests, values = ["kind = ?"], [kind]
        if keys is not None:
            tests.append("key IN (SELECT value FROM json_each(?))")
            values.append(rows.json_list(keys))
        if group is not None:
            tests.append('"group" = ?')
            values.append(group)
        if scope is not None:
            condition, ids = rows.in_scope(scope)
            tests.append(condition)
            values += ids
        sql = f"SELECT {rows.RECORD} FROM llmslim_record WHERE {' AND '.join(tests)} ORDER BY n"
        with self._connections.reader() as db:
            return [rows.to_record(row) for row in db.execute(sql, values)]

    def tombstones(self, item_ids: Sequence[str]) -> frozenset[str]:
        sql = """SELECT x.id FROM json_each(?) j CROSS JOIN llmslim_change x ON x.id = j.value
            WHERE x.deleted AND NOT EXISTS (SELECT 1 FROM llmslim_memory t WHERE t.id = x.id)"""
        with self._connections.reader() as db:
            found = db.execute(sql, (rows.json_list(base.check_ids(item_ids)),))
            return frozenset(item_id for (item_id,) in found)

    # SupportsCopy

    def kinds(self) -> builtins.list[str]:
        with self._connections.reader() as db:
            return [row[0] for row in db.execute("SELECT DISTINCT kind FROM llmslim_record ORDER BY kind")]

    def deleted_ids(self, *, after: str | None = None, limit: int = 1000) -> builtins.list[str]:
        sql = """SELECT id FROM llmslim_change x WHERE x.deleted AND id > ?
            AND NOT EXISTS (SELECT 1 FROM llmslim_memory t WHERE t.id = x.id) ORDER BY id LIMIT ?"""
        with self._connections.reader() as db:
            return [row[0] for row in db.execute(sql, (after or "", base.check_limit(limit)))]

    # SupportsChanges

    def changes(
        self, scope: Scope, *, after: str | None = None, version: int | None = None, encoding: str | None = None
    ) -> Changes:
        known = None if after is None else base.parse_cursor(after, 2)
        if after is not None:
            with self._connections.reader(once=True) as db:
                if last_write(db) == known:
                    return Changes(after, [], [])
        with self._connections.reader() as db:
            return find_changes(db, scope, known, version=version, encoding=encoding)

    def get_many(self, item_ids: Sequence[str]) -> dict[str, MemoryItem]:
        sql = f"""SELECT {rows.TURN} FROM json_each(?) j CROSS JOIN llmslim_memory t ON t.id = j.value
            CROSS JOIN llmslim_content c ON c.seq = t.seq"""
        with self._connections.reader(once=True) as db:
            found = db.execute(sql, (rows.json_list(base.check_ids(item_ids)),))
            return {row[0]: rows.to_item(row) for row in found}

    # SupportsAnalysis

    def save_analyses(self, analyses: Sequence[tuple[str, int, Analysis]]) -> int:
        sql = f"""INSERT OR REPLACE INTO llmslim_analysis ({rows.ANALYSIS_ROW})
            SELECT seq, ?, ?, ?, ? FROM llmslim_memory WHERE id = ? AND revision = ?"""
        values = [(*rows.analysis_row(kept), item_id, revision) for item_id, revision, kept in analyses]
        with self._connections.writer() as db:
            return db.executemany(sql, values).rowcount if values else 0

    # Care

    def backup(self, path: str | Path) -> None:
        """Write a consistent copy to a new file while reading and writing go on.

        The copy holds no remains of deleted turns. It is complete once it stands under its name.

        Raises:
            InvalidValueError: There is a file already, or it cannot be created.
        """
        back_up(self._connections, path)

    def check(self) -> builtins.list[str]:
        """Read the whole file and return what is wrong with it, in SQLite's words; an empty list is good."""
        with self._connections.reader() as db:
            return find_damage(db)

    def _turns(self, condition: str, values: Sequence[object]) -> builtins.list[MemoryItem]:
        sql = f"SELECT {rows.TURN} FROM {rows.TURNS} WHERE {condition} ORDER BY t.created_at, t.seq"
        with self._connections.reader() as db:
            return [rows.to_item(row) for row in db.execute(sql, values)]


def _get(db: sqlite3.Connection, item_id: str) -> MemoryItem | None:
    row = db.execute(f"SELECT {rows.TURN} FROM {rows.TURNS} WHERE t.id = ?", (item_id,)).fetchone()
    return None if row is None else rows.to_item(row)
