"""Whether and how other processes reach a store: by a path or URL, and with token counts that have a name."""

from __future__ import annotations

from pathlib import Path

from llmslim_memory.errors import InvalidTypeError, InvalidValueError
from llmslim_memory.stores import SQLiteStore


def check_workable(store: object, encoding: object) -> None:
    """Raise unless other processes can open the same store and count the same tokens."""
    if not isinstance(store, str | Path):
        given = "None" if store is None else f"a {type(store).__name__}"
        raise InvalidTypeError(f"workers open the store themselves: pass its path or URL as store, not {given}")
    if not isinstance(encoding, str):
        raise InvalidTypeError("workers count tokens themselves: pass the name of an encoding or model, not a function")


def address(given: object, opened: object) -> str | Path:
    """What another process is to open: the file by its absolute path, a server by its URL.

    Raises:
        InvalidValueError: It is in the memory of this process.
    """
    place = opened.path if isinstance(opened, SQLiteStore) else given
    if not isinstance(place, str | Path):
        raise InvalidValueError("workers cannot see a database in the memory of this process: pass the path of a file")
    return place
