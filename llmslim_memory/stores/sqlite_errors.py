"""What SQLite's errors mean for callers: each is translated once, here."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from llmslim_memory.errors import InvalidValueError, SchemaError, StoreError, StoreFullError, StoreUnavailableError

_NO_ROOM = {sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_SHMSIZE}
_MEANINGS: dict[int, tuple[type[StoreError], str]] = {
    sqlite3.SQLITE_BUSY: (
        StoreUnavailableError,
        "another process holds the database for longer than busy_timeout: try again, or raise it",
    ),
    sqlite3.SQLITE_LOCKED: (StoreUnavailableError, "the database is locked: try again"),
    sqlite3.SQLITE_PROTOCOL: (StoreUnavailableError, "too many processes opened the database at once: try again"),
    sqlite3.SQLITE_CANTOPEN: (
        StoreUnavailableError,
        "the database file cannot be opened: check that its folder exists and may be written",
    ),
    sqlite3.SQLITE_IOERR: (StoreUnavailableError, "the disk failed to read or write the database file"),
    sqlite3.SQLITE_READONLY: (
        StoreError,
        "the database file or its folder may not be written: change its permissions, or pass another path",
    ),
    sqlite3.SQLITE_CORRUPT: (StoreError, "the database file is damaged: restore a backup"),
    sqlite3.SQLITE_NOTADB: (SchemaError, "the file is not a SQLite database: pass another path"),
    sqlite3.SQLITE_TOOBIG: (StoreError, "a value is larger than SQLite stores: split it"),
}


def translate(error: sqlite3.Error) -> StoreError:
    """Return the error to raise for one of the driver's; its message repeats nothing that SQLite said."""
    code = getattr(error, "sqlite_errorcode", None) or 0
    if code in _NO_ROOM or code & 0xFF in _NO_ROOM:
        return StoreFullError("there is no room left to write: free some; what was stored before is kept")
    kind, meaning = _MEANINGS.get(code & 0xFF, (StoreError, f"SQLite refused ({type(error).__name__})"))
    return kind(meaning)


@contextmanager
def translated() -> Iterator[None]:
    """Raise this library's errors in place of the driver's, which stay attached."""
    try:
        yield
    except sqlite3.Error as error:
        raise translate(error) from error
    except UnicodeEncodeError:
        raise InvalidValueError("the text holds lone surrogates, which SQLite cannot store: replace them") from None
