"""The local stores that Mem0 OSS leaves on disk: qdrant's SQLite files and faiss' pickled or JSON docstores."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import quote

from llmslim_memory.errors import HistoryImportError
from llmslim_memory.importers.documents import Document
from llmslim_memory.importers.limits import ImportLimits
from llmslim_memory.importers.outcomes import MALFORMED, TOO_LARGE
from llmslim_memory.importers.records import Record
from llmslim_memory.importers.unpickle import unpickle

_SQLITE = b"SQLite format 3\x00"
_PICKLE = b"\x80"
_OWN_COLLECTIONS = ("mem0migrations", "_entities")
_STEPS = 50_000_000
_STEP_EVERY = 10_000


def is_store(document: Document) -> bool:
    """Whether the file is a SQLite database or a pickle, which Mem0's local stores are."""
    if document.path is None:
        return False
    with closing(document.opener()) as file:
        try:
            head = file.read(len(_SQLITE))
        except OSError as error:
            raise HistoryImportError(f"it cannot be read: {error.strerror or type(error).__name__}") from error
    return head == _SQLITE or (head[:1] == _PICKLE and document.name.endswith(".pkl"))


def read_store(document: Document, limits: ImportLimits) -> Iterator[Record]:
    """Yield every memory of a local store.

    Raises:
        HistoryImportError: It is no store of Mem0's, or damaged.
    """
    document.check_size()
    if document.path is not None:
        read = _faiss if document.name.endswith(".pkl") else _qdrant
        yield from read(document.path, limits)


def _faiss(path: Path, limits: ImportLimits) -> Iterator[Record]:
    size = path.stat().st_size
    if size > limits.max_record_bytes:
        raise HistoryImportError(
            f"the docstore has {size:,} bytes, more than max_record_bytes ({limits.max_record_bytes:,})"
        )
    try:
        value = unpickle(path.read_bytes(), most=limits.max_record_bytes // 8)
    except (ValueError, OSError) as error:
        raise HistoryImportError(f"it is not a docstore of Mem0's: {error}") from error
    if not (isinstance(value, list) and len(value) == 2 and isinstance(value[0], dict)):
        raise HistoryImportError("it is not a docstore of Mem0's: a pair of mappings was expected")
    for key, payload in value[0].items():
        yield Record({"id": key, "payload": payload}, where=f"memory {key}")


def _qdrant(path: Path, limits: ImportLimits) -> Iterator[Record]:
    if path.parent.name.endswith(_OWN_COLLECTIONS):
        return
    try:
        connection = sqlite3.connect(f"file:{quote(str(path.resolve()))}?mode=ro", uri=True)
        try:
            yield from _points(connection, limits)
        finally:
            connection.close()
    except sqlite3.Error as error:
        raise HistoryImportError(f"it cannot be read as a qdrant collection: {type(error).__name__}") from error


def _points(connection: sqlite3.Connection, limits: ImportLimits) -> Iterator[Record]:
    _distrust(connection)
    table = connection.execute("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'points'").fetchone()
    if table is None:
        raise HistoryImportError("it is a database, but not a qdrant collection: it has no table of points")
    # An older client may leave several rows of one point; the newest counts.
    newest = "SELECT id, max(rowid) AS row FROM points GROUP BY id ORDER BY row"
    for key, row in connection.execute(newest).fetchall():
        size, kind = connection.execute(
            "SELECT length(point), typeof(point) FROM points WHERE rowid = ?", (row,)
        ).fetchone()
        where = f"row {row:,}"
        if kind != "blob" or size > limits.max_record_bytes:
            yield Record(problem=MALFORMED if kind != "blob" else TOO_LARGE, where=where)
            continue
        (blob,) = connection.execute("SELECT point FROM points WHERE rowid = ?", (row,)).fetchone()
        yield _point(key, blob, where, limits)


def _distrust(connection: sqlite3.Connection) -> None:
    """A database is input too: no functions from its schema, no endless query."""
    connection.execute("PRAGMA trusted_schema = OFF")
    steps = 0

    def step() -> bool:
        nonlocal steps
        steps += _STEP_EVERY
        return steps > _STEPS

    connection.set_progress_handler(step, _STEP_EVERY)


def _point(key: Any, blob: bytes, where: str, limits: ImportLimits) -> Record:
    try:
        value = unpickle(blob, most=max(1, limits.max_record_bytes // 8))
    except ValueError:
        return Record(problem=MALFORMED, where=where)
    if not isinstance(value, dict) or not isinstance(value.get("payload"), dict):
        return Record(problem=MALFORMED, where=where)
    return Record({"id": value.get("id", str(key)), "payload": value["payload"]}, where=where)
