"""Connections to one SQLite file: one writer behind a lock, readers of their own, none carried over a fork."""

from __future__ import annotations

import logging
import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Condition, Lock, RLock
from weakref import WeakSet

from llmslim_memory.errors import InvalidValueError, StoreClosedError
from llmslim_memory.stores.sqlite_errors import translated
from llmslim_memory.stores.sqlite_files import check_mark, create_file, file_mark, find_file, use_wal
from llmslim_memory.stores.sqlite_schema import check_header, check_version, migrate

logger = logging.getLogger(__name__)

MAX_IDLE_READERS = 8
ERASE_WAIT_MS = 250
ERASE_RETRY_SECONDS = 1.0


class Connections:
    """The writer and the readers of one database; ``path`` is ``None`` for one in memory, which has one connection."""

    def __init__(self, path: Path | None, *, synchronous: str, busy_timeout: float, read_only: bool) -> None:
        self._path = path
        self._read_only = read_only
        self._synchronous = synchronous
        self._busy_timeout = busy_timeout
        self._closed = False
        self._remains = False  # the write-ahead log may hold what was erased
        self._next_try = 0.0
        self._mark = (0, 0)
        self._writer: sqlite3.Connection | None = None
        self._new_locks()
        with _registry_lock:
            _registry.add(self)
        with _opening, self._write_lock, translated():
            if path is not None:
                find_file(path) if read_only else create_file(path)
                self._find(path)
            self._writer = self._connect(read_only=read_only)
            try:
                self._prepare(self._writer)
            except BaseException:
                self._closed = True
                self._close_all()
                raise

    def _find(self, path: Path) -> None:
        """Look at the file, unless this process has it open: closing it would let go of the locks of that connection,
        and the next process to close the file would take the write-ahead log away under its hands."""
        mark = file_mark(path)
        if not any(other._mark == mark and not other._closed for other in list(_registry)):
            check_header(path)
        self._mark = mark

    @property
    def path(self) -> Path | None:
        """The file; ``None`` for a database in memory."""
        return self._path

    def _new_locks(self) -> None:
        self._write_lock = RLock()
        self._gate = Condition()
        self._forking = False
        self._in_use = 0
        self._idle: list[sqlite3.Connection] = []

    def _prepare(self, db: sqlite3.Connection) -> None:
        if self._read_only:
            check_version(db)
            return
        # The schema is written before WAL is switched on, so that the mark in the header is in the file itself, where
        # the next one to open it looks.
        migrate(db)
        if self._path is not None:
            use_wal(db, self._busy_timeout)

    def _connect(self, *, read_only: bool = False) -> sqlite3.Connection:
        # As a URI, so that SQLite never creates a file of its own accord.
        name = ":memory:" if self._path is None else f"{self._path.as_uri()}?mode=rw"
        db = sqlite3.connect(name, uri=True, timeout=self._busy_timeout, isolation_level=None, check_same_thread=False)
        writing = ("secure_delete = ON", "foreign_keys = ON", f"synchronous = {self._synchronous}")
        try:
            for setting in ("trusted_schema = OFF", *(("query_only = ON",) if read_only else writing)):
                db.execute(f"PRAGMA {setting}")
        except BaseException:
            db.close()
            raise
        return db

    @contextmanager
    def writer(self) -> Iterator[sqlite3.Connection]:
        """A write transaction, committed at the end or rolled back as a whole."""
        with self._write_lock, translated():
            db = self._writing()
            if self._read_only:
                raise InvalidValueError("this SQLiteStore was opened read-only: open it without read_only to write")
            db.execute("BEGIN IMMEDIATE")
            try:
                yield db
                db.execute("COMMIT")
            except BaseException:
                if db.in_transaction:
                    db.execute("ROLLBACK")
                raise
            self._drop_remains(db)

    def erased(self) -> None:
        """Say, inside a write transaction, that text was deleted or replaced: it then leaves the log as well."""
        self._remains = True

    def _writing(self) -> sqlite3.Connection:
        self._check_usable()
        if self._writer is None:
            self._writer = self._connect(read_only=self._read_only)
        return self._writer

    def _check_usable(self) -> None:
        if self._closed:
            raise StoreClosedError("this SQLiteStore was closed: open a new one")
        if self._path is not None:
            check_mark(self._path, self._mark)

    def _drop_remains(self, db: sqlite3.Connection, *, at_last: bool = False) -> None:
        """Empty the write-ahead log if it may hold erased text.

        A reader that is at it for long puts this off; later writes then try again, once a second and without waiting.
        """
        if not self._remains or self._path is None or (time.monotonic() < self._next_try and not at_last):
            return
        wait = 0 if self._next_try and not at_last else ERASE_WAIT_MS
        db.execute(f"PRAGMA busy_timeout = {wait}")
        try:
            self._remains = bool(db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0])
        except sqlite3.OperationalError:  # the write itself is done and must not be reported as failed
            logger.warning("erased turns are still in the write-ahead log: it could not be emptied yet", exc_info=True)
        finally:
            db.execute(f"PRAGMA busy_timeout = {int(self._busy_timeout * 1000)}")
        self._next_try = time.monotonic() + ERASE_RETRY_SECONDS if self._remains else 0.0

    @contextmanager
    def reader(self, *, once: bool = False) -> Iterator[sqlite3.Connection]:
        """A read transaction: everything read in it is of one moment.

        To read ``once``, with a single statement, takes none: a statement is of one moment by itself.
        """
        if self._path is None:
            with self._write_lock, translated():
                yield self._writing()
            return
        with translated():
            db = self._take()
            try:
                db = db or self._connect(read_only=True)
                if not once:
                    db.execute("BEGIN")
                yield db
            finally:
                if db is not None and db.in_transaction:
                    db.rollback()
                self._give_back(db)

    def _take(self) -> sqlite3.Connection | None:
        with self._gate:
            self._gate.wait_for(lambda: not self._forking)
            self._check_usable()
            self._in_use += 1
            return self._idle.pop() if self._idle else None

    def _give_back(self, db: sqlite3.Connection | None) -> None:
        with self._gate:
            if db is not None and not self._closed and not self._forking and len(self._idle) < MAX_IDLE_READERS:
                self._idle.append(db)
            elif db is not None:
                db.close()
            self._in_use -= 1
            self._gate.notify_all()

    def copy_into(self, path: Path) -> None:
        """Write all that is stored, without free pages, into an empty file."""
        with self.reader() as db:
            db.rollback()  # VACUUM takes a snapshot of its own
            db.execute("PRAGMA query_only = OFF")
            try:
                db.execute("VACUUM INTO ?", (str(path),))
            finally:
                db.execute(f"PRAGMA query_only = {'OFF' if self._path is None else 'ON'}")

    def close(self) -> None:
        """Close every connection; readers in other threads finish first. Closing again does nothing."""
        with self._write_lock, translated():
            if not self._closed and self._writer is not None:
                self._drop_remains(self._writer, at_last=True)
            self._closed = True
            self._close_all()

    def _close_all(self) -> None:
        with self._gate:
            while self._idle:
                self._idle.pop().close()
        if self._writer is not None:
            self._writer.close()
            self._writer = None

    # SQLite must not be carried into a child process: the child would believe that it holds the parent's locks, and
    # its writes would be lost. So every connection is closed before a fork, and opened anew by whichever side needs it.
    # A database in memory is copied with the process.

    def before_fork(self) -> None:
        """Wait for calls in progress, close the connections, and hold further calls back."""
        self._write_lock.acquire()
        self._gate.acquire()
        self._forking = True
        if self._path is not None:
            self._gate.wait_for(lambda: self._in_use == 0)
            self._close_all()

    def after_fork_in_parent(self) -> None:
        """Let calls go on."""
        self._forking = False
        self._gate.notify_all()
        self._gate.release()
        self._write_lock.release()

    def after_fork_in_child(self) -> None:
        """Start with fresh locks: the threads that could release the old ones do not exist here."""
        self._new_locks()


_registry: WeakSet[Connections] = WeakSet()
_registry_lock = Lock()
_opening = Lock()
"""Held while a file is opened, from the look at what it is to the connection."""


def _before_fork() -> None:
    _opening.acquire()
    _registry_lock.acquire()
    for connections in list(_registry):
        connections.before_fork()


def _after_fork_in_parent() -> None:
    for connections in list(_registry):
        connections.after_fork_in_parent()
    _registry_lock.release()
    _opening.release()


def _after_fork_in_child() -> None:
    for connections in list(_registry):
        connections.after_fork_in_child()
    _registry_lock.release()
    _opening.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_after_fork_in_parent, after_in_child=_after_fork_in_child)
