"""psycopg's errors as the library's own, without host, user, password or the driver's words."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from psycopg import errors
from psycopg_pool import PoolClosed, PoolTimeout, TooManyRequests

from llmslim_memory.errors import (
    InvalidValueError,
    LLMSlimError,
    SchemaError,
    StoreClosedError,
    StoreError,
    StoreFullError,
    StoreUnavailableError,
)

UNREACHABLE = "the PostgreSQL server cannot be reached: check that it runs and accepts connections, then try again"

_UNAVAILABLE = {
    "53300": "the PostgreSQL server has no connection left to give: lower max_size or raise its max_connections",
    "57014": "PostgreSQL did not finish within the statement timeout: try again, or allow it more time",
    "57P01": UNREACHABLE,
    "57P02": UNREACHABLE,
    "57P03": UNREACHABLE,
    "55P03": "PostgreSQL waited too long for a lock: try again",
    "40001": "another writer got in the way; nothing was stored: try again",
    "40P01": "another writer got in the way; nothing was stored: try again",
    "25006": "the PostgreSQL server is read-only at the moment: connect to the primary, or try again",
}
_OTHERS: dict[str, tuple[type[StoreError], str]] = {
    "42501": (StoreError, "the role may not do this: grant it what docs/stores.md lists"),
    "42P01": (StoreError, "a table of this store is gone: open the store again to create it"),
    "42P07": (SchemaError, "a table this store would create belongs to another program: pass another table="),
    "53100": (StoreFullError, "the PostgreSQL server's disk is full: make room, then try again"),
    "28P01": (StoreError, "PostgreSQL refused the user name or password"),
    "28000": (StoreError, "PostgreSQL refused the login"),
    "3D000": (StoreError, "the database named in the URL does not exist: create it first"),
}


@contextmanager
def translated() -> Iterator[None]:
    """Raise what psycopg raises inside as one of the library's errors, the driver's attached as the cause."""
    try:
        yield
    except UnicodeEncodeError as error:
        raise InvalidValueError("the text holds a lone surrogate, which no database can store: replace it") from error
    except psycopg.Error as error:
        raise translate(error) from error


def translate(error: psycopg.Error) -> LLMSlimError:
    """The library's error for one of psycopg's."""
    code = error.sqlstate or ""
    if isinstance(error, PoolClosed):
        return StoreClosedError("the connection pool was closed")
    if isinstance(error, PoolTimeout | TooManyRequests):
        return StoreUnavailableError(UNREACHABLE)
    if code in _OTHERS:
        kind, message = _OTHERS[code]
        return kind(message)
    if isinstance(error, errors.DataError):
        return InvalidValueError(
            "PostgreSQL cannot store a value of this call: a NUL in a text, or a time out of range"
        )
    if code in _UNAVAILABLE or code.startswith("08") or (isinstance(error, psycopg.OperationalError) and not code):
        return StoreUnavailableError(_UNAVAILABLE.get(code, UNREACHABLE))
    return StoreError(f"PostgreSQL refused the statement ({code or type(error).__name__})")


def translate_login(error: psycopg.OperationalError) -> LLMSlimError:
    """The library's error for a connection that could not be made.

    libpq hands over no code for these. That a password was used, and the server answered, is all it says in any
    language; the English words tell a missing database apart.
    """
    words = str(error)
    if "does not exist" in words and "database" in words:
        return _error_of("3D000")
    if error.pgconn is not None and error.pgconn.needs_password:
        return StoreError("PostgreSQL asks for a password: put it into the URL or into PGPASSWORD")
    if "password authentication failed" in words:
        return _error_of("28P01")
    if "pg_hba.conf" in words or ("role" in words and "does not exist" in words):
        return _error_of("28000")
    return translate(error)


def _error_of(code: str) -> StoreError:
    kind, message = _OTHERS[code]
    return kind(message)
