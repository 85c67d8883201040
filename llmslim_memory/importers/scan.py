"""Cuts a JSON text into its records without building them: bounded in size and depth, linear in time.

Fast JSON parsers need the whole file in memory, or crash on hostile numbers, or refuse lone surrogates that real
exports hold. So the bytes are cut here by counting brackets outside of strings, and each record is then decoded on its
own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from io import BufferedReader, BytesIO

import numpy as np

from llmslim_memory.importers.limits import ImportLimits
from llmslim_memory.importers.outcomes import MALFORMED, TOO_DEEP, TOO_LARGE

CHUNK = 1 << 17
HEADER_BYTES = 1 << 20
HEADER = "header"
HEADER_END = "header_end"
RECORD = "record"

_OPEN = b"[{"
# Until Python 3.11.5 a possessive group goes wrong where its parts backtrack, or fail once they have begun (gh-106052):
# here none does. The group of _SKIPPED is the quote at the end of the last string, empty where that string is not over.
_CHARACTERS = rb'[^"\\]*+(?:\\.[^"\\]*+)*+'
_SKIPPED = rb'[^"\[\]{}]*+(?:"' + _CHARACTERS + rb'("?+)[^"\[\]{}]*+)*+'
_TO_BRACKET = re.compile(_SKIPPED + rb"[\[\]{}]", re.DOTALL)
_TO_END = re.compile(_SKIPPED, re.DOTALL)
_IN_STRING = re.compile(_CHARACTERS, re.DOTALL)
_STRING = re.compile(rb'"' + _CHARACTERS + rb'"?', re.DOTALL)
_NO_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
_STEPS = bytes.maketrans(b"[{]}", b"\x01\x01\xff\xff")
_KEY = re.compile(rb'"([A-Za-z_]{1,32})"\s*:\s*$')


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of the text: ``"record"``, ``"header"`` or ``"header_end"`` with its bytes, or why there are none."""

    kind: str
    offset: int
    data: bytes | bytearray = b""


def is_too_deep(data: bytes | bytearray, most: int) -> bool:
    """Whether arrays and objects nest more than ``most`` times in ``data``, which is one JSON value."""
    steps = _STRING.sub(b"", data).translate(_STEPS, _NO_BRACKETS)
    return bool(steps) and int(np.frombuffer(steps, np.int8).cumsum(dtype=np.int32).max()) > most


def scan(stream: BufferedReader | BytesIO, limits: ImportLimits, *, key: str | None = None) -> Iterator[Piece]:
    """Yield the records of a JSON text: the elements of each array at top level, and each object at top level.

    Where ``key`` is given, an object at top level is a wrapper: the elements of its array ``key`` are the records, and
    what stands around that array is yielded as a ``"header"`` piece before the first record, as far as it was read, and
    complete as a ``"header_end"`` piece.
    """
    scanner = _Scanner(limits, key)
    # At most one read below: what comes before damage is handed on.
    while chunk := stream.read1(CHUNK):
        yield from scanner.feed(chunk)
    yield from scanner.finish()


@dataclass(slots=True)
class _Scanner:
    limits: ImportLimits
    key: str | None
    offset: int = 0
    depth: int = 0
    base: int = -1
    in_string: bool = False
    escaped: bool = False
    record: bytearray | None = None
    record_at: int = 0
    problem: str | None = None
    gap: bytearray = field(default_factory=bytearray)
    gap_filled: bool = False
    commas: int = 0
    values: int = 0
    header: bytearray | None = None

    def feed(self, chunk: bytes) -> Iterator[Piece]:
        position = self._leave_string(chunk) if self.in_string else 0
        # ``kept`` is where the bytes begin that belong to no record, gap or header yet.
        kept = position if self.record is None and not self._in_header else 0
        while not self.in_string and (found := _TO_BRACKET.match(chunk, position)):
            position = found.end()
            if self.record is not None:
                position = self._through_record(chunk, position - 1)
                if self.depth > self.base:
                    break
                self._keep(chunk[kept:position])
                yield self._close()
                kept = position
            elif chunk[position - 1] not in _OPEN:
                self.depth -= 1
                self._outside(chunk[kept : position - 1])
                yield from self._leave(chunk[position - 1 : position], self.offset + position)
                kept = position
            else:
                self._outside(chunk[kept : position - 1])
                yield from self._open(chunk[position - 1 : position], self.offset + position - 1)
                kept = position if self.record is None else position - 1
                self.depth += 1
        if not self.in_string:
            self._enter_string(chunk, position)
        self._keep(chunk[kept:]) if self.record is not None else self._outside(chunk[kept:])
        self.offset += len(chunk)

    def _through_record(self, chunk: bytes, position: int) -> int:
        """Follow the record to its closing bracket, or to the last bracket of the chunk; say where that ends."""
        depth, base = self.depth, self.base
        deepest = base + self.limits.max_depth
        while found := _TO_BRACKET.match(chunk, position):
            position = found.end()
            if chunk[position - 1] not in _OPEN:
                depth -= 1
                if depth == base:
                    break
            else:
                depth += 1
                if depth > deepest and self.problem is None:
                    self._drop(TOO_DEEP)
        self.depth = depth
        return position

    def finish(self) -> Iterator[Piece]:
        if self.record is not None or self.depth > 0 or self.in_string:
            yield Piece(MALFORMED, self.record_at if self.record is not None else self.offset)
            raise EOFError(self.offset)
        if self.gap_filled:
            yield Piece(MALFORMED, self.offset)

    @property
    def _in_header(self) -> bool:
        return self.base < 0 and self.header is not None

    def _leave_string(self, chunk: bytes) -> int:
        start = 1 if self.escaped else 0
        if chunk.find(b'"', start) < 0 and chunk.find(b"\\", start) < 0:
            self.escaped = False
            return len(chunk)
        end = _IN_STRING.match(chunk, start).end()  # type: ignore[union-attr]  # matches the empty string too
        self.in_string = chunk[end : end + 1] != b'"'
        self.escaped = self.in_string and end < len(chunk)
        return min(end + 1, len(chunk))

    def _enter_string(self, chunk: bytes, position: int) -> None:
        rest = _TO_END.match(chunk, position)
        if rest is not None and rest[1] == b"":
            self.in_string, self.escaped = True, rest.end(1) < len(chunk)

    def _open(self, bracket: bytes, at: int) -> Iterator[Piece]:
        """A bracket outside of any record opens one, or the array or wrapper that records stand in."""
        if self.depth == 0 and self.gap_filled:
            self.gap_filled = False
            yield Piece(MALFORMED, at)
        if self.depth == 0 and (bracket == b"[" or self.key):
            self._start_container(1 if bracket == b"[" else -1)
            self.header = None if bracket == b"[" else bytearray(bracket)
        elif self.depth == 1 and self.base < 0 and bracket == b"[" and self._is_wanted():
            self._start_container(2)
            yield Piece(HEADER, at, bytes(self.header or b"") + b"[]}")
        elif self.base >= 0 or self.depth == 0:
            self.base = self.depth
            self.record, self.record_at, self.problem = bytearray(), at, None
            self.values += 1
        else:
            self._outside(bracket)

    def _start_container(self, base: int) -> None:
        self.base, self.commas, self.values, self.gap_filled = base, 0, 0, False
        self.gap.clear()

    def _is_wanted(self) -> bool:
        found = _KEY.search(bytes(self.gap[-256:]))
        return found is not None and found.group(1).decode() == self.key

    def _leave(self, bracket: bytes, at: int) -> Iterator[Piece]:
        """A closing bracket outside of any record ends the array or the wrapper, or closes nothing."""
        if self.depth == self.base - 1:
            yield from self._count_scalars(at)
            if self.base == 2 and self.header is not None:
                self.header += b"[]"
            self._start_container(-1)
        elif self.depth == 0 and self.header is not None:
            yield Piece(HEADER_END, at, bytes(self.header) + b"}")
            self.header = None
            self._start_container(-1)
        elif self.depth < 0:
            self.depth = 0
            yield Piece(MALFORMED, at)
        else:
            self._outside(bracket)

    def _count_scalars(self, at: int) -> Iterator[Piece]:
        """Elements that are no arrays or objects cannot be records: one malformed piece for each."""
        elements = self.commas + 1 if self.values or self.gap_filled else 0
        for _ in range(elements - self.values):
            yield Piece(MALFORMED, at)

    def _outside(self, data: bytes) -> None:
        """Text between records: where commas are counted, and a wrapper's keys are."""
        if not data:
            return
        if self.base < 0 and self.header is not None:
            self._extend(self.gap, data, HEADER_BYTES)
            if not self._extend(self.header, data, HEADER_BYTES):
                self.header = bytearray(b"{")
            return
        plain = _STRING.sub(b'"', data)
        self.commas += plain.count(b",")
        self.gap_filled = self.gap_filled or bool(plain.strip(b" \t\r\n,"))

    @staticmethod
    def _extend(buffer: bytearray, data: bytes, most: int) -> bool:
        """Append; or, when that would be too much, keep only the end."""
        fits = len(buffer) + len(data) <= most
        if not fits:
            buffer.clear()
        buffer += data if fits else data[-256:]
        return fits

    def _keep(self, data: bytes) -> None:
        if self.problem is None and self.record is not None:
            if len(self.record) + len(data) > self.limits.max_record_cost // 3:
                self._drop(TOO_LARGE)
            else:
                self.record += data

    def _drop(self, problem: str) -> None:
        self.problem = self.problem or problem
        self.record = bytearray()

    def _close(self) -> Piece:
        data, self.record = self.record or b"", None
        if self.depth == 0:
            self.base = -1
        return Piece(self.problem or RECORD, self.record_at, data)
