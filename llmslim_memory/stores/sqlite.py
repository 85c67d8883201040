"""Turns in one SQLite file, through Python's own ``sqlite3``."""

from __future__ import annotations

import builtins
import os
import sqlite3
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from weakref import finalize

from llmslim_memory.errors import InvalidTypeError, InvalidValueError
from llmslim_memory.stores import base
from llmslim_memory.stores import sqlite_rows as rows
from llmslim_memory.stores.sqlite_connections import SYNCHRONOUS, Connections
from llmslim_memory.stores.sqlite_errors import translated
from llmslim_memory.stores.sqlite_files import create_file
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
    check_id,
)

DEFAULT_PATH = "llmslim_memory.db"


class SQLiteStore:
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
        database = _database(path)
        if read_only and database is None:
            raise InvalidValueError("a database in memory starts empty: read_only needs the path of a file")
        self._connections = Connections(
            database,
            synchronous=_synchronous(synchronous),
            busy_timeout=_timeout(busy_timeout),
            read_only=read_only,
        )
        # A store that nobody closes is closed with its last reference, or at the latest with the process.
        self._close = finalize(self, self._connections.close)

    def close(self) -> None:
        """Close the file; any later call raises. Closing again does nothing."""
        self._close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # MemoryStore

    def add(self, items: Sequence[MemoryItem]) -> None:
        self.apply(Batch(add=items))

    def list(self, scope: Scope, *, since: datetime | None = None, until: datetime | None = None) -> list[MemoryItem]:
        condition, values = rows.in_scope(scope, "t.")
        for moment, test in ((since, "t.created_at >= ?"), (until, "t.created_at < ?")):
            if moment is not None:
                condition += f" AND {test}"
                values.append(rows.to_text(moment))
        sql = f"SELECT {rows.TURN} FROM {rows.TURNS} WHERE {condition} ORDER BY t.created_at, t.seq"
        with self._connections.reader() as db:
            return [rows.to_item(row) for row in db.execute(sql, values)]

    def get(self, item_id: str) -> MemoryItem | None:
        check_id("item_id", item_id)
        with self._connections.reader() as db:
            return _get(db, item_id)

    def update(
        self, item_id: str, *, content: str | None = None, metadata: Mapping[str, Any] | None = None
    ) -> MemoryItem | None:
        edit = Edit(check_id("item_id", item_id), content, metadata)
        text = None if metadata is None else base.dump_json(metadata)
        with self._connections.writer() as db:
            write = Write(db)
            if write.edit(edit, text):
                write.finish()
                self._connections.erased()
            return _get(db, item_id)

    def delete(self, item_id: str) -> bool:
        return self.apply(Batch(delete=[item_id])).deleted == 1

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
        source, condition, values = _since(scope, last)
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

    # SupportsRecords

    def apply(self, batch: Batch) -> Applied:
        ids = base.check_new(batch.add)
        base.check_claims(batch.claim)
        doomed = base.check_ids(batch.delete)
        metadata = [base.dump_json(item.metadata) for item in batch.add]
        edits = [(edit, None if edit.metadata is None else base.dump_json(edit.metadata)) for edit in batch.edit]
        with self._connections.writer() as db:
            write = Write(db)
            if ids:
                write.add(ids, batch.add, metadata)
            edited = sum(write.edit(*edit) for edit in edits)
            deleted = write.delete(doomed) if doomed else 0
            write.claim(batch.claim)
            write.put(batch.put)
            write.drop(batch.drop)
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
        seq, revision = (0, 0) if after is None else base.parse_cursor(after, 2)
        with self._connections.reader() as db:
            cursor = "{}-{}".format(*db.execute("SELECT seq, revision FROM llmslim_counter").fetchone())
            if cursor == after:
                return Changes(cursor, [], [])
            columns, join, asked = _analysis(version, encoding)
            source, condition, values = _since(scope, seq)
            found = db.execute(f"SELECT {columns} FROM {source} {join} WHERE {condition}", [*asked, *values])
            heads = {row[0]: rows.to_head(row) for row in found}
            if after is None:
                return Changes(cursor, list(heads.values()), [])
            touched = db.execute("SELECT id, deleted FROM llmslim_change WHERE revision > ?", (revision,)).fetchall()
            condition, values = rows.in_scope(scope, "t.")
            found = db.execute(
                f"""SELECT {columns} FROM llmslim_change x CROSS JOIN llmslim_memory t ON t.id = x.id {join}
                WHERE x.revision > ? AND {condition}""",
                [*asked, revision, *values],
            )
            heads |= {row[0]: rows.to_head(row) for row in found}
        return Changes(cursor, list(heads.values()), [i for i, deleted in touched if deleted and i not in heads])

    def get_many(self, item_ids: Sequence[str]) -> dict[str, MemoryItem]:
        sql = f"""SELECT {rows.TURN} FROM json_each(?) j CROSS JOIN llmslim_memory t ON t.id = j.value
            CROSS JOIN llmslim_content c ON c.seq = t.seq"""
        with self._connections.reader() as db:
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
        target = Path(path).expanduser().absolute()
        if target.exists():
            raise InvalidValueError(f"{str(target)!r} exists already: pass the path of a new file")
        partial = target.with_name(target.name + ".partial")
        partial.unlink(missing_ok=True)
        create_file(partial)
        try:
            self._connections.copy_into(partial)
            _sync(partial)
            os.replace(partial, target)
        finally:
            partial.unlink(missing_ok=True)

    def check(self) -> builtins.list[str]:
        """Read the whole file and return what is wrong with it, in SQLite's words; an empty list is good."""
        with self._connections.reader() as db:
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


def _get(db: sqlite3.Connection, item_id: str) -> MemoryItem | None:
    row = db.execute(f"SELECT {rows.TURN} FROM {rows.TURNS} WHERE t.id = ?", (item_id,)).fetchone()
    return None if row is None else rows.to_item(row)


def _since(scope: Scope | None, seq: int) -> tuple[str, str, list[Any]]:
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


def _database(path: str | Path) -> Path | None:
    if not isinstance(path, str | Path):
        raise InvalidTypeError(f"path must be a string or a Path, not {type(path).__name__}")
    if str(path) == ":memory:":
        return None
    if not str(path).strip() or "\x00" in str(path):
        raise InvalidValueError(f"{str(path)!r} names no file: pass a path, or ':memory:'")
    return Path(path).expanduser().absolute()


def _synchronous(value: str) -> str:
    if not isinstance(value, str) or value.upper() not in SYNCHRONOUS:
        raise InvalidValueError(f"synchronous is {value!r}: pass one of {', '.join(SYNCHRONOUS)}")
    return value.upper()


def _timeout(seconds: float) -> float:
    if isinstance(seconds, bool) or not isinstance(seconds, int | float):
        raise InvalidTypeError(f"busy_timeout must be a number of seconds, not {type(seconds).__name__}")
    if not 0 <= seconds <= 86400:
        raise InvalidValueError(f"busy_timeout is {seconds}: pass seconds from 0 to 86400")
    return float(seconds)


def _sync(path: Path) -> None:
    with translated(), path.open("rb") as file:
        os.fsync(file.fileno())
