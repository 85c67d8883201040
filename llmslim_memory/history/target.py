"""The memory that history is brought into or taken out of, whichever way it is named."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from llmslim_memory.errors import InvalidTypeError, InvalidValueError
from llmslim_memory.memory import Memory
from llmslim_memory.stores import SQLiteStore
from llmslim_memory.types import MemoryStore

Target = Memory | MemoryStore | str | os.PathLike[str]
"""A memory, a store, a SQLite path or a database URL."""


def as_path(name: str, value: object) -> Path:
    """The file or folder that an argument names.

    Raises:
        TypeError: It is no path.
        ValueError: It names nothing, or cannot be a path (NUL, half of a surrogate pair, an unknown home folder).
    """
    text = os.fspath(value) if isinstance(value, str | os.PathLike) else None
    if not isinstance(text, str):
        raise InvalidTypeError(f"{name} must be a path, not {type(value).__name__}")
    try:
        if text.strip() and b"\x00" not in os.fsencode(text):
            return Path(text).expanduser()
    except (UnicodeEncodeError, RuntimeError):
        pass
    raise InvalidValueError(f"{name} is {text!r:.100}: pass the path of a file or folder")


@contextmanager
def opened(memory: Target | None, *, dry_run: bool = False) -> Iterator[Memory | None]:
    """The memory to write to, opened and closed here where it was named by a path or URL; a dry run may have none."""
    if isinstance(memory, Memory):
        yield memory
        return
    if isinstance(memory, os.PathLike):
        memory = Path(memory)
    if dry_run and (memory is None or is_missing(memory)):
        yield None
        return
    if memory is None:
        raise InvalidValueError("memory is None: pass a memory, a path or a URL, or dry_run=True to store nothing")
    with _store(memory, read_only=dry_run) as store, Memory(store) as found:
        yield found


@contextmanager
def _store(memory: MemoryStore | str | Path, *, read_only: bool) -> Iterator[MemoryStore | str | Path]:
    """What to open; a SQLite file that must not change is opened so, and closed at the end."""
    path = _sqlite_path(memory)
    if path is None or not read_only:
        yield memory
        return
    with SQLiteStore(path, read_only=True) as store:
        yield store


def is_missing(memory: MemoryStore | str | Path) -> bool:
    """Whether this names a SQLite file that is not there."""
    path = _sqlite_path(memory)
    return path is not None and not path.exists()


def _sqlite_path(memory: MemoryStore | str | Path) -> Path | None:
    if not isinstance(memory, str | Path):
        return None
    name = str(memory).removeprefix("sqlite:///")
    return None if "://" in name or name == ":memory:" else Path(name).expanduser()
