"""The compact binary form of an analysed turn, as a store keeps it beside the turn."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

MAGIC = b"LA"
FORMAT = 2
"""Grows whenever the layout changes."""

# Magic, format, checksum, encoding, passages, terms, statements, kinds, speaker, checksum of the content.
_HEADER = struct.Struct("<2sHIIIIIIII")
_CHECKED_FROM = 8
_COLUMNS = 5  # of a passage: start, end, tokens, length, number of distinct terms
_MAX_TF = 255


class MarkedSpan(NamedTuple):
    """A statement found in a turn: its kind, and where it starts and ends."""

    kind: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class TurnAnalysis:
    """What ranking knows about one turn.

    ``passages`` has five rows: start, end, tokens, length in terms, number of distinct terms; one column a passage.
    ``terms`` and ``tfs`` hold the passages' distinct terms, one passage after the other. ``speaker`` is the term of the
    name the turn opens with, 0 without one. ``content`` is the checksum of the content, see :func:`checksum`.
    """

    passages: NDArray[np.uint32]
    terms: NDArray[np.uint32]
    tfs: NDArray[np.uint8]
    speaker: int = 0
    statements: tuple[MarkedSpan, ...] = ()
    content: int = 0


class CorruptAnalysisError(ValueError):
    """Stored bytes are not an analysis in this format and encoding; the turn is to be analysed again."""


def checksum(content: str) -> int:
    """Tells whether a content is the one that was analysed."""
    return crc32(content.encode("utf-8", "surrogatepass"))


def _encoding_number(encoding: str) -> int:
    return crc32(encoding.encode("utf-8"))


def encode(analysis: TurnAnalysis, encoding: str) -> bytes:
    """Write an analysis whose token counts are by ``encoding``."""
    kinds = sorted({mark.kind for mark in analysis.statements})
    names = "\0".join(kinds).encode("utf-8")
    marks = [(kinds.index(mark.kind), mark.start, mark.end) for mark in analysis.statements]
    body = b"".join(
        (
            analysis.passages.astype("<u4", copy=False).tobytes(),
            analysis.terms.astype("<u4", copy=False).tobytes(),
            np.array(marks, dtype="<u4").tobytes(),
            names,
            analysis.tfs.tobytes(),
        )
    )
    sizes = (analysis.passages.shape[1], len(analysis.terms), len(marks), len(names))
    tail = struct.pack("<7I", _encoding_number(encoding), *sizes, analysis.speaker, analysis.content) + body
    return MAGIC + struct.pack("<HI", FORMAT, crc32(tail)) + tail


def decode(data: bytes, encoding: str) -> TurnAnalysis:
    """Read an analysis back.

    Raises:
        CorruptAnalysisError: The bytes are damaged, or of another format or encoding.
    """
    if len(data) < _HEADER.size:
        raise CorruptAnalysisError("too short")
    magic, form, expected, number, count, terms, marks, names, speaker, content = _HEADER.unpack_from(data)
    if magic != MAGIC or form != FORMAT or number != _encoding_number(encoding):
        raise CorruptAnalysisError("another format or encoding")
    at_terms = _HEADER.size + 4 * _COLUMNS * count
    at_marks = at_terms + 4 * terms
    at_names = at_marks + 12 * marks
    at_tfs = at_names + names
    if len(data) != at_tfs + terms or crc32(memoryview(data)[_CHECKED_FROM:]) != expected:
        raise CorruptAnalysisError("damaged")
    passages = np.frombuffer(data, "<u4", _COLUMNS * count, _HEADER.size).reshape(_COLUMNS, count)
    return TurnAnalysis(
        passages,
        np.frombuffer(data, "<u4", terms, at_terms),
        np.frombuffer(data, np.uint8, terms, at_tfs),
        speaker,
        _statements(data, marks, at_marks, at_names, at_tfs),
        content,
    )


def _statements(data: bytes, marks: int, at_marks: int, at_names: int, at_tfs: int) -> tuple[MarkedSpan, ...]:
    if not marks:
        return ()
    kinds = data[at_names:at_tfs].decode("utf-8").split("\0")
    rows = struct.iter_unpack("<III", memoryview(data)[at_marks:at_names])
    return tuple(MarkedSpan(kinds[kind], start, end) for kind, start, end in rows)


def make_analysis(
    spans: Sequence[tuple[int, int]],
    tokens: Sequence[int],
    counts: Sequence[dict[int, int]],
    *,
    speaker: int = 0,
    statements: Sequence[tuple[str, int, int]] = (),
    content: int = 0,
) -> TurnAnalysis:
    """Gather what was worked out about a turn's passages: where they are, their tokens, how often each term occurs."""
    sizes = [len(tf) for tf in counts]
    columns = [
        [start for start, _ in spans],
        [end for _, end in spans],
        tokens,
        [sum(tf.values()) for tf in counts],
        sizes,
    ]
    terms = np.fromiter(chain.from_iterable(counts), np.uint64, sum(sizes))
    tfs = np.fromiter(chain.from_iterable(tf.values() for tf in counts), np.int64, sum(sizes))
    order = np.argsort(np.repeat(np.arange(len(sizes), dtype=np.uint64) << np.uint64(32), sizes) | terms)
    return TurnAnalysis(
        np.array(columns, dtype=np.uint32).reshape(_COLUMNS, len(spans)),
        terms[order].astype(np.uint32),
        np.minimum(tfs[order], _MAX_TF).astype(np.uint8),
        speaker,
        tuple(MarkedSpan(*mark) for mark in statements),
        content,
    )
