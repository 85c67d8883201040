"""How a process and its workers talk: bytes after their number, so that one may read what another unpacks."""

from __future__ import annotations

import pickle
import struct
from typing import IO, Any

_SIZE = struct.Struct("<Q")


def pack(value: Any) -> bytes:
    """A value as bytes.

    Raises:
        pickle.PicklingError, TypeError, AttributeError: It stands for something of this process, as a function may.
    """
    return pickle.dumps(value, pickle.HIGHEST_PROTOCOL)


def unpack(data: bytes) -> Any:
    """The value again; the bytes are those of a process that this one started, or was started by."""
    return pickle.loads(data)  # noqa: S301


def write(file: IO[bytes], data: bytes) -> None:
    """Write bytes after their number."""
    rest = memoryview(_SIZE.pack(len(data)) + data)
    while rest:
        rest = rest[file.write(rest) :]  # a pipe may take a part
    file.flush()


def read(file: IO[bytes]) -> bytes:
    """The next bytes written.

    Raises:
        EOFError: There are none, or not all of them.
    """
    (size,) = _SIZE.unpack(_read(file, _SIZE.size))
    return _read(file, size)


def _read(file: IO[bytes], size: int) -> bytes:
    parts = []
    while size:
        part = file.read(size)  # a pipe may hold a part
        if not part:
            raise EOFError
        parts.append(part)
        size -= len(part)
    return b"".join(parts)
