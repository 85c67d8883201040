"""Where a PostgreSQL store's connections come from: its own pool, a pool it was given, or one connection.

Nothing is kept in a session between two statements (no SET, no prepared statement, no session lock), so that a proxy
may give each transaction another server connection.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from selectors import EVENT_READ, DefaultSelector
from threading import RLock
from typing import Any

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.rows import tuple_row
from psycopg_pool import ConnectionPool, PoolTimeout

from llmslim_memory.errors import InvalidTypeError, InvalidValueError, StoreClosedError, StoreUnavailableError
from llmslim_memory.stores.postgres_errors import translate_login, translated

Row = tuple[Any, ...]
Connection = psycopg.Connection[Any]
Parameters = Mapping[str, object] | Sequence[object]

# A server that vanished without a word is noticed within half a minute.
_KEEPALIVES = {"keepalives_idle": 15, "keepalives_interval": 5, "keepalives_count": 3, "tcp_user_timeout": 30_000}


class Transaction:
    """Runs statements on one connection."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def run(self, statement: bytes, parameters: Parameters = ()) -> list[Row]:
        """Run one statement and return its rows."""
        cursor = self._execute(statement, parameters)
        return cursor.fetchall() if cursor.description is not None else []

    def count(self, statement: bytes, parameters: Parameters = ()) -> int:
        """Run one statement and return how many rows it wrote."""
        return self._execute(statement, parameters).rowcount

    def _execute(self, statement: bytes, parameters: Parameters) -> psycopg.Cursor[Row]:
        cursor = self._connection.cursor(row_factory=tuple_row, binary=True)
        return cursor.execute(statement, parameters, prepare=False)


class Connections:
    """Lends connections, and turns what goes wrong into the library's errors.

    Args:
        source: A URL (or libpq connection string), a ``ConnectionPool``, or an autocommit ``Connection``.
        max_size: Most connections in the pool opened for a URL.
        connect_timeout: Seconds to wait for a server or a free connection.
        statement_timeout: Seconds a statement may take; ``None`` leaves it to the server's setting.
    """

    def __init__(
        self, source: object, *, max_size: int, connect_timeout: float, statement_timeout: float | None
    ) -> None:
        self._closed = False
        self._timeout = _limit_statement(statement_timeout)
        self._single: Connection | None = None
        self._pool: ConnectionPool[Connection] | None = None
        self._owned = isinstance(source, str)
        self._lock = RLock()
        if isinstance(source, str):
            self._pool = _own_pool(source, max_size, connect_timeout)
        elif isinstance(source, ConnectionPool):
            self._pool = source
        elif isinstance(source, psycopg.Connection):
            self._single = _require_autocommit(source)
        else:
            raise InvalidTypeError(
                f"conninfo must be a URL, a psycopg_pool.ConnectionPool or a psycopg.Connection, not"
                f" {type(source).__name__}"
            )

    @contextmanager
    def lend(self) -> Iterator[Connection]:
        """A connection for the length of the block."""
        if self._closed:
            raise StoreClosedError("the store was closed: open a new one")
        with translated(), self._borrowed() as connection:
            yield connection

    def _borrowed(self) -> AbstractContextManager[Connection]:
        if self._pool is not None:
            return _borrow(self._pool)
        assert self._single is not None  # noqa: S101 - one of the two is set
        return _lock_around(self._single, self._lock)

    @contextmanager
    def transaction(self) -> Iterator[Transaction]:
        """Several statements, all of them or none."""
        with self.lend() as connection, connection.transaction():
            if self._timeout:
                connection.execute(self._timeout, prepare=False)
            yield Transaction(connection)

    @contextmanager
    def statement(self) -> Iterator[Transaction]:
        """Statements that each stand alone: no BEGIN and COMMIT to wait for, unless a timeout has to be set."""
        if self._timeout:
            with self.transaction() as transaction:
                yield transaction
        else:
            with self.lend() as connection:
                yield Transaction(connection)

    def run(self, statement: bytes, parameters: Parameters = ()) -> list[Row]:
        """Run one statement by itself and return its rows."""
        with self.statement() as alone:
            return alone.run(statement, parameters)

    def count(self, statement: bytes, parameters: Parameters = ()) -> int:
        """Run one statement by itself and return how many rows it wrote."""
        with self.statement() as alone:
            return alone.count(statement, parameters)

    def close(self) -> None:
        """Close the pool opened for a URL; what was passed in stays open."""
        self._closed = True
        if self._owned and self._pool is not None:
            self._pool.close()


def _own_pool(url: str, max_size: int, connect_timeout: float) -> ConnectionPool[Connection]:
    if max_size < 1:
        raise InvalidValueError(f"max_size is {max_size}: a pool needs at least 1 connection")
    if not connect_timeout > 0:
        raise InvalidValueError(f"connect_timeout is {connect_timeout}: pass a number of seconds above 0")
    conninfo = _complete(url, connect_timeout)
    options: dict[str, Any] = {"autocommit": True, "prepare_threshold": None}
    _try_login(conninfo, options)
    return ConnectionPool(
        conninfo,
        kwargs=options,
        min_size=1,
        max_size=max_size,
        timeout=connect_timeout,
        reconnect_timeout=connect_timeout,
        open=True,
    )


def _complete(url: str, connect_timeout: float) -> str:
    """The connection string with the timeouts that it leaves open."""
    try:
        given = conninfo_to_dict(url)
    except (psycopg.ProgrammingError, UnicodeError):
        raise _unreadable() from None
    limits: dict[str, Any] = {"connect_timeout": max(1, math.ceil(connect_timeout)), **_KEEPALIVES}
    return make_conninfo(**(limits | given))


def _unreadable() -> InvalidValueError:
    """The error for a URL that nothing can be reached by; the driver's own repeats parts of it, so attach none."""
    return InvalidValueError(
        "the PostgreSQL URL cannot be read: write postgresql://user:password@host:5432/database, with special"
        " characters of the password escaped (@ is %40)"
    )


def _try_login(conninfo: str, options: Mapping[str, Any]) -> None:
    """Connect once: a pool would only say that it waited in vain, and not why."""
    try:
        psycopg.connect(conninfo, **options).close()
    except psycopg.OperationalError as error:
        raise translate_login(error) from error
    except UnicodeError:  # a host with an empty or overlong label
        raise _unreadable() from None


@contextmanager
def _borrow(pool: ConnectionPool[Connection]) -> Iterator[Connection]:
    connection = _take_live(pool)
    try:
        with connection:
            yield connection
    finally:
        pool.putconn(connection)


def _take_live(pool: ConnectionPool[Connection]) -> Connection:
    """A connection that has not died in the pool; dead ones go back, which makes the pool replace them."""
    for _ in range(pool.max_size):
        connection = _take(pool)
        if _is_alive(connection):
            return connection
        pool.putconn(connection)
    return _take(pool)


def _take(pool: ConnectionPool[Connection]) -> Connection:
    before = pool.get_stats()
    try:
        return pool.getconn()
    except PoolTimeout as error:
        now = pool.get_stats()
        # Connections that the pool still tries to make count towards its size.
        failing = now.get("connections_errors", 0) != before.get("connections_errors", 0)
        if failing or now.get("pool_size", 0) < pool.max_size:
            raise
        raise StoreUnavailableError(
            f"all {pool.max_size} connections of the pool are busy: raise max_size, or call from fewer threads"
        ) from error


def _is_alive(connection: Connection) -> bool:
    """Ask the server only where the socket says that there is something to hear, such as its goodbye."""
    with DefaultSelector() as selector:
        selector.register(connection.fileno(), EVENT_READ)
        if not selector.select(timeout=0):
            return True
    try:
        ConnectionPool.check_connection(connection)
    except psycopg.OperationalError:
        return False
    return True


@contextmanager
def _lock_around(connection: Connection, lock: RLock) -> Iterator[Connection]:
    with lock:
        yield connection


def _require_autocommit(connection: Connection) -> Connection:
    if not connection.autocommit:
        raise InvalidValueError("the connection is not in autocommit mode: psycopg.connect(..., autocommit=True)")
    return connection


def _limit_statement(seconds: float | None) -> bytes | None:
    if seconds is None:
        return None
    if not seconds > 0:
        raise InvalidValueError(f"statement_timeout is {seconds}: pass a number of seconds above 0, or None")
    return b"SET LOCAL statement_timeout = %d" % math.ceil(seconds * 1000)
