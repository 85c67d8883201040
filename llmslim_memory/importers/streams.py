"""Streams of bytes that stop at a limit, report how far they were read, and are UTF-8 whatever the file is in."""

from __future__ import annotations

import codecs
import gzip
import io
import zipfile
import zlib
from collections.abc import Callable
from typing import Any, BinaryIO

from llmslim_memory.errors import HistoryImportError
from llmslim_memory.importers.limits import ImportLimits

_BUFFER = 1 << 18
_RATIO_FROM = 1 << 20
_BROKEN = (OSError, EOFError, zlib.error, zipfile.BadZipFile)

_BY_ZEROS: dict[tuple[bool, ...], str] = {
    (True, False, True, False): "utf-16-le",
    (False, True, False, True): "utf-16-be",
    (True, False, False, False): "utf-32-le",
    (False, False, False, True): "utf-32-be",
}

Meter = Callable[[int], None]


def open_utf8(
    raw: BinaryIO, limits: ImportLimits, *, most: int | None = None, meter: Meter | None = None
) -> io.BufferedReader:
    """Wrap ``raw`` so that it reads as UTF-8 without a byte order mark and refuses to go on past the limits.

    Gzip is inflated. ``most`` ends the stream there: a file that is being written is read as it was when opened.
    ``meter`` is told how many bytes were read each time, before inflating.
    """
    counted = _buffered(_Bounded(raw, most, meter))
    plain = counted
    if counted.peek(2)[:2] == b"\x1f\x8b":
        inflated = _Inflated(counted, limits)
        plain = _buffered(inflated)
    capped = _buffered(_Capped(plain, limits.max_file_bytes))
    start = capped.peek(4)[:4]
    encoding = _encoding(start)
    if encoding is not None:
        return _buffered(_Recoded(capped, encoding))
    if start.startswith(codecs.BOM_UTF8):
        capped.read(len(codecs.BOM_UTF8))
    return capped


def _buffered(raw: Any) -> io.BufferedReader:
    return io.BufferedReader(raw, _BUFFER)


def _encoding(start: bytes) -> str | None:
    """The encoding of JSON that begins so, by its byte order mark or by where its zeros stand; ``None`` for UTF-8."""
    if start.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)):
        return "utf-32"
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    return _BY_ZEROS.get(tuple(map(bool, start)))


class _Raw(io.RawIOBase):
    """A stream made from another by :meth:`_next`, which gives its next bytes, or none at the end."""

    def __init__(self, source: BinaryIO) -> None:
        self._source = source
        self._left = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if not self._left:
            self._left = memoryview(self._next(len(buffer)))
        count = min(len(buffer), len(self._left))
        buffer[:count] = self._left[:count]
        self._left = self._left[count:]
        return count

    def _next(self, size: int) -> bytes:
        raise NotImplementedError

    def close(self) -> None:
        if not self.closed:
            self._source.close()
        super().close()


class _Bounded(_Raw):
    """The first ``most`` bytes, as far as the meter is told."""

    def __init__(self, source: BinaryIO, most: int | None, meter: Meter | None) -> None:
        super().__init__(source)
        self._rest, self._meter = most, meter

    def _next(self, size: int) -> bytes:
        if self._rest is not None:
            size = min(size, self._rest)
        data = _read(self._source, size)
        if self._rest is not None:
            self._rest -= len(data)
        if self._meter is not None and data:
            self._meter(len(data))
        return data


class _Inflated(_Raw):
    """A gzip stream, refused when it inflates too far beyond what was read of it."""

    def __init__(self, source: BinaryIO, limits: ImportLimits) -> None:
        super().__init__(source)
        self._taken = self._given = 0
        self._ratio = limits.max_zip_ratio
        self._gzip = gzip.GzipFile(fileobj=_Tap(source, self._take))

    def _take(self, count: int) -> None:
        self._taken += count

    def _next(self, size: int) -> bytes:
        data = _read(self._gzip, size)
        self._given += len(data)
        check_ratio(self._given, self._taken, self._ratio)
        return data


class _Tap(_Raw):
    """Passes bytes on and says how many."""

    def __init__(self, source: BinaryIO, meter: Meter) -> None:
        super().__init__(source)
        self._meter = meter

    def _next(self, size: int) -> bytes:
        data = self._source.read(min(size, 1 << 14))
        self._meter(len(data))
        return data


class _Capped(_Raw):
    """Refuses the byte after the last that may be read."""

    def __init__(self, source: BinaryIO, most: int) -> None:
        super().__init__(source)
        self._most, self._given = most, 0

    def _next(self, size: int) -> bytes:
        data = _read(self._source, size)
        self._given += len(data)
        if self._given > self._most:
            raise HistoryImportError(f"it holds more than {self._most:,} bytes: raise max_file_bytes to read it")
        return data


class _Recoded(_Raw):
    """UTF-16 or UTF-32 as UTF-8."""

    def __init__(self, source: BinaryIO, encoding: str) -> None:
        super().__init__(source)
        self._decoder = codecs.getincrementaldecoder(encoding)("replace")

    def _next(self, size: int) -> bytes:
        while data := self._source.read(max(size, 4)):
            if text := self._decoder.decode(data):
                return text.encode("utf-8", "replace")
        return b""


def check_ratio(inflated: int, packed: int, most: float) -> None:
    """Refuse what inflates to more than ``most`` times its size, once that is over 1 MiB."""
    if inflated > _RATIO_FROM and inflated > packed * most:
        raise HistoryImportError(
            f"it inflates to more than {most:g} times its size, as a zip bomb does: raise max_zip_ratio if it is yours"
        )


def _read(source: Any, size: int) -> bytes:
    try:
        # At most one read below: what comes before damage is handed on.
        data: bytes = source.read1(size) if hasattr(source, "read1") else source.read(size)
    except _BROKEN as error:
        raise HistoryImportError(f"it cannot be read to its end: {type(error).__name__}") from error
    return data
