"""The file of a SQLite store: found, created for its owner alone, switched to a write-ahead log, known again."""

from __future__ import annotations

import errno
import logging
import os
import sqlite3
import time
from pathlib import Path

from llmslim_memory.errors import InvalidValueError, StoreUnavailableError

logger = logging.getLogger(__name__)


def create_file(path: Path) -> None:
    """Create an empty file that only its owner may read, and the missing folders above it likewise.

    A file that exists is not opened: closing one lets go of all locks that this process holds on it, SQLite's too.

    Raises:
        InvalidValueError: The path is a folder or a device, or leads through a file.
    """
    try:
        if path.exists() and not path.is_file():
            raise InvalidValueError(f"{str(path)!r} is no file: pass the path of a file that may be written")
        for folder in reversed(path.parents):
            if not folder.exists():
                folder.mkdir(mode=0o700, exist_ok=True)
        if not path.exists():
            os.close(os.open(os.path.realpath(path), os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
        elif not os.access(path, os.R_OK | os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    except FileExistsError:  # another one was just as quick
        return
    except OSError as error:
        raise InvalidValueError(
            f"{str(path)!r} cannot be opened as a database file ({error.strerror}): pass the path of a file that may "
            "be written"
        ) from error


def find_file(path: Path) -> None:
    """Raise unless there is a file at ``path``."""
    if not path.is_file():
        raise InvalidValueError(f"there is no file {str(path)!r} to read: pass the path of a store that exists")


def use_wal(db: sqlite3.Connection, busy_timeout: float) -> None:
    """Switch the file to a write-ahead log; where the file system has none, go on with SQLite's older journal."""
    deadline = time.monotonic() + busy_timeout
    while True:
        try:
            mode = db.execute("PRAGMA journal_mode = WAL").fetchone()[0]
            break
        except sqlite3.OperationalError as error:
            # SQLite does not wait by itself here when another process is just opening the file.
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(0.01)
    if mode != "wal":
        logger.warning("no write-ahead log on this file system: reading waits for writing")


def file_mark(path: Path) -> tuple[int, int]:
    """What tells a file from another one that took its place.

    Raises:
        StoreUnavailableError: There is none any more.
    """
    try:
        found = path.stat()
    except OSError as error:
        raise StoreUnavailableError("the database file is gone: put it back, or open the store again") from error
    return found.st_dev, found.st_ino


def check_mark(path: Path, mark: tuple[int, int]) -> None:
    """Raise if another file took the place of the one with this mark: what SQLite wrote to the old one would be lost.

    Raises:
        StoreUnavailableError: The file was moved, removed or replaced.
    """
    if file_mark(path) != mark:
        raise StoreUnavailableError("the database file was replaced while it was open: open the store again")
