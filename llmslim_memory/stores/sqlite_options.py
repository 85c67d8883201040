"""What a SQLite store is asked for: path, durability, patience, each checked before a file is touched."""

from __future__ import annotations

from pathlib import Path

from llmslim_memory.errors import InvalidTypeError, InvalidValueError

SYNCHRONOUS = ("OFF", "NORMAL", "FULL", "EXTRA")


def to_path(path: str | Path) -> Path | None:
    """The absolute path of a database file, or ``None`` for ``":memory:"``."""
    if not isinstance(path, str | Path):
        raise InvalidTypeError(f"path must be a string or a Path, not {type(path).__name__}")
    if str(path) == ":memory:":
        return None
    if not str(path).strip() or "\x00" in str(path):
        raise InvalidValueError(f"{str(path)!r} names no file: pass a path, or ':memory:'")
    return Path(path).expanduser().absolute()


def to_synchronous(value: str) -> str:
    """One of SQLite's levels of durability, in capitals."""
    if not isinstance(value, str) or value.upper() not in SYNCHRONOUS:
        raise InvalidValueError(f"synchronous is {value!r}: pass one of {', '.join(SYNCHRONOUS)}")
    return value.upper()


def to_timeout(seconds: float) -> float:
    """Seconds to wait, from none to a day."""
    if isinstance(seconds, bool) or not isinstance(seconds, int | float):
        raise InvalidTypeError(f"busy_timeout must be a number of seconds, not {type(seconds).__name__}")
    if not 0 <= seconds <= 86400:
        raise InvalidValueError(f"busy_timeout is {seconds}: pass seconds from 0 to 86400")
    return float(seconds)
