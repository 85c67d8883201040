"""From a path or a database URL to the store it names."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

from llmslim_memory.errors import InvalidTypeError, InvalidValueError
from llmslim_memory.stores.sqlite import SQLiteStore

if TYPE_CHECKING:
    from llmslim_memory.stores.mongodb import MongoStore
    from llmslim_memory.stores.postgres import PostgresStore

_URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://(.*)", re.DOTALL)


def open_store(target: str | Path) -> SQLiteStore | PostgresStore | MongoStore:
    """Open the store that a path or URL names; the caller closes it.

    Args:
        target: A path to a SQLite file, ``":memory:"``, ``sqlite:///relative/path``, ``sqlite:////absolute/path``,
            or a ``postgresql://``, ``postgres://``, ``mongodb://`` or ``mongodb+srv://`` URL.

    Raises:
        ValueError: The URL is of another kind.
        MissingExtraError: The database's driver is not installed.
        StoreError: The store cannot be opened.
    """
    if not isinstance(target, str | Path):
        raise InvalidTypeError(f"a store is named by a path or URL, not {type(target).__name__}")
    match = _URL.fullmatch(target) if isinstance(target, str) else None
    if match is None:
        return SQLiteStore(target)
    scheme = match[1].lower()
    if scheme == "sqlite":
        return SQLiteStore(_sqlite_path(match[2]))
    return _open_server(scheme, str(target))


def _sqlite_path(rest: str) -> str:
    if rest and not rest.startswith("/"):
        raise InvalidValueError("a SQLite URL has three slashes before a relative path and four before an absolute one")
    return unquote(rest[1:]) or ":memory:"


def _open_server(scheme: str, url: str) -> PostgresStore | MongoStore:
    if scheme in ("postgresql", "postgres"):
        from llmslim_memory.stores.postgres import PostgresStore

        return PostgresStore(url)
    if scheme in ("mongodb", "mongodb+srv"):
        from llmslim_memory.stores.mongodb import MongoStore

        return MongoStore(url)
    raise InvalidValueError(
        f"no store is reached by {scheme}://: pass a path, or a sqlite, postgresql, mongodb or mongodb+srv URL"
    )
