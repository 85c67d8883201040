"""The records of a file, whatever it is laid out as: JSON lines, an array, one object, or an object around an array."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from io import BufferedReader, BytesIO
from typing import Any

from llmslim_memory.errors import HistoryImportError
from llmslim_memory.importers.decode import DECODER, Refused, decode, record_text
from llmslim_memory.importers.limits import ImportLimits
from llmslim_memory.importers.outcomes import MALFORMED, TOO_LARGE
from llmslim_memory.importers.scan import HEADER, HEADER_END, RECORD, Piece, scan

HEAD_BYTES = 1 << 20
WRAPPERS = ("conversations", "results", "memories", "messages", "records")

_BLANK = b" \t\r\n\x00"
_RECORD_START = '{"parentUuid"'


@dataclass(frozen=True, slots=True)
class Record:
    """One record: its value, or the ``problem`` for which there is none, and where it stands.

    ``header`` is what stands around the array that the record is an element of, as far as it was read. A record with
    ``ends`` set is that header alone, complete.
    """

    value: Any = None
    problem: str | None = None
    where: str = ""
    header: dict[str, Any] = field(default_factory=dict)
    ends: bool = False


@dataclass(frozen=True, slots=True)
class Layout:
    """How the records of a file are laid out: in lines or not, and the key of the array that holds them, if any.

    ``header`` is what stands around that array, as far as the head of the file shows it.
    """

    lines: bool
    key: str | None = None
    header: dict[str, Any] = field(default_factory=dict)


def read_records(stream: BufferedReader, layout: Layout, limits: ImportLimits) -> Iterator[Record]:
    """Yield every record, also those that cannot be used.

    Raises:
        HistoryImportError: The JSON ends in the middle; what came before was yielded.
    """
    return _in_lines(stream, limits) if layout.lines else _in_text(stream, layout, limits)


def find_layout(head: bytes, limits: ImportLimits) -> Layout:
    """Tell the layout from the first :data:`HEAD_BYTES` of a file."""
    lines = [line for line in head.split(b"\n") if line.strip(_BLANK)]
    start = head.lstrip(_BLANK)[:1]
    objects = [line.startswith(b"{") and _is_json(line, limits) for line in lines[:50]]
    if start == b"[":
        return Layout(lines=len(lines) > 1 and lines[1].startswith(b"{") and _is_json(lines[0], limits))
    if start != b"{" or sum(objects) > 1:
        return Layout(lines=True)
    for key in WRAPPERS:
        if f'"{key}"'.encode() in head and (header := _wrapper_header(head, key, limits)) is not None:
            return Layout(lines=False, key=key, header=header)
    return Layout(lines=len(lines) == 1 or any(objects))


def _is_json(line: bytes, limits: ImportLimits) -> bool:
    try:
        decode(line.strip(_BLANK), limits)
    except Refused:
        return False
    return True


def _wrapper_header(head: bytes, key: str, limits: ImportLimits) -> dict[str, Any] | None:
    """What stands around the array ``key`` of the object at the head of a file; ``None`` if there is no such array."""
    header: dict[str, Any] | None = None
    try:
        for piece in scan(BytesIO(head), limits, key=key):
            if piece.kind in (HEADER, HEADER_END):
                header = _header(piece, limits) if piece.kind == HEADER or header is not None else None
    except EOFError:
        pass
    return header


def _in_text(stream: BufferedReader, layout: Layout, limits: ImportLimits) -> Iterator[Record]:
    header = layout.header
    try:
        for piece in scan(stream, limits, key=layout.key):
            if piece.kind == HEADER:
                header = layout.header | _header(piece, limits)
            elif piece.kind == HEADER_END:
                yield Record(header=_header(piece, limits), ends=True)
            else:
                yield _from_piece(piece, header, limits)
    except EOFError as error:
        raise HistoryImportError(f"the JSON ends in the middle of a value, at byte {error.args[0]:,}") from error


def _header(piece: Piece, limits: ImportLimits) -> dict[str, Any]:
    try:
        value = decode(piece.data, limits)
    except Refused:
        return {}
    return value if isinstance(value, dict) else {}


def _from_piece(piece: Piece, header: dict[str, Any], limits: ImportLimits) -> Record:
    where = f"byte {piece.offset:,}"
    if piece.kind != RECORD:
        return Record(problem=piece.kind, where=where, header=header)
    try:
        return Record(decode(piece.data, limits, nested=False), where=where, header=header)
    except Refused as refused:
        return Record(problem=refused.reason, where=where, header=header)


def _in_lines(stream: BufferedReader, limits: ImportLimits) -> Iterator[Record]:
    most = limits.max_record_cost // 3
    number = 0
    # Only b"\n" ends a line: U+2028, U+0085 and the like occur inside of strings.
    while line := stream.readline(most + 1):
        number += 1
        where = f"line {number:,}"
        if len(line) > most and not line.endswith(b"\n"):
            while line and not line.endswith(b"\n"):
                line = stream.readline(1 << 20)
            yield Record(problem=TOO_LARGE, where=where)
        elif line.strip(_BLANK):
            yield from _from_line(line, where, limits)


def _from_line(line: bytes, where: str, limits: ImportLimits) -> Iterator[Record]:
    try:
        text = record_text(line, limits).strip()
    except Refused as refused:
        yield Record(problem=refused.reason, where=where)
        return
    yield from _glued(text, where)


def _glued(text: str, where: str) -> Iterator[Record]:
    """The values on a line: one as a rule, several where writers lost a line break."""
    position, retried = 0, False
    while position < len(text):
        try:
            value, position = DECODER.raw_decode(text, position)
        except (ValueError, RecursionError):
            if not retried:
                yield Record(problem=MALFORMED, where=where)
            # A crash can leave the start of one record and then the whole of the next on one line. One more try, so
            # that a line of nothing but starts takes no longer.
            position = -1 if retried else text.rfind(_RECORD_START, position + 1)
            if position < 0:
                return
            retried = True
            continue
        yield Record(value, where=where)
        if not isinstance(value, dict):
            return
        while position < len(text) and text[position] in " \t\r\n":
            position += 1


def dumps(value: Any) -> str:
    """Compact JSON text of a value that came from JSON."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
