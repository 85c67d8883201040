"""Cuts a turn into passages: a few sentences, a code block or a table each; a short turn of the user is one passage."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

USER_CHARS = 1200
"""A user turn up to this long is one passage."""
REPLY_CHARS = 400
"""A reply, system or tool turn up to this long is one passage."""
WINDOW_CHARS = 360
"""Sentences are gathered into windows of about this size."""
BLOCK_CHARS = 1600
"""A code block or table longer than this is cut between lines."""
MAX_MARKS = 64
"""So many marks on one character are kept with it."""
MAX_PIECE_CHARS = 1200
"""Prose without any boundary is cut after this many characters."""
DENSE = 3
"""A character of Chinese, Japanese or Korean says as much, and takes as many tokens, as so many letters."""

_FENCE = re.compile(r"\s*(`{3,}|~{3,})")
_TABLE = re.compile(r"\s*\|.*\|\s*$")
_HEADING = re.compile(r"\s*#{1,6}\s|\s*\*\*[^*]+\*\*:?\s*$")
# A sentence ends at closing punctuation that white space follows, or at the full stop of a script without spaces.
_SENTENCE = re.compile(r"[.!?…。！？｡।॥؟۔](?:(?<=[.!?…])[\"'”’)\]]*\s+|(?<=[。！？｡])[」』”’）]*\s*|(?<=[।॥؟۔])\s*)")
_SPACE = re.compile(r"\s+")
_DENSE = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]")
# What must not be parted from the character before it: marks, joiners, variation selectors, skin tones.
_EXTENDS = re.compile("[\u0300-\u036f\u200d\ufe00-\ufe0f\U0001f3fb-\U0001f3ff\u0e31\u0e34-\u0e3a\u0e47-\u0e4e]")


class Span(NamedTuple):
    """Characters ``start`` to ``end`` of a turn."""

    start: int
    end: int


class _Unit(NamedTuple):
    start: int
    end: int
    block: bool  # a code block or a table, which stands alone
    heading: bool


def _safe_cut(text: str, at: int) -> int:
    """Move a cut to where it does not part a character from its marks."""
    last = min(len(text), at + MAX_MARKS)
    while at < last and (_EXTENDS.match(text, at) or text[at - 1] == "\u200d"):
        at += 1
    return at


def _pieces(text: str, start: int, end: int, size: int) -> Iterable[Span]:
    """Cut a stretch that has no better boundary, at white space where there is some."""
    return (Span(start, end),) if end - start <= size else _cut(text, start, end, size)


def _cut(text: str, start: int, end: int, size: int) -> Iterator[Span]:
    while end - start > size:
        at = start + size
        spaces = [m.end() for m in _SPACE.finditer(text, start + size // 2, at)]
        at = spaces[-1] if spaces else _safe_cut(text, at)
        if at >= end:
            break
        yield Span(start, at)
        start = at
    yield Span(start, end)


def _sentences(text: str, start: int, end: int) -> Iterator[Span]:
    for match in _SENTENCE.finditer(text, start, end):
        if match.end() > start:
            yield from _pieces(text, start, match.end(), MAX_PIECE_CHARS)
            start = match.end()
    if start < end:
        yield from _pieces(text, start, end, MAX_PIECE_CHARS)


def _is_heading(line: str) -> bool:
    return ("#" in line or "**" in line) and _HEADING.match(line) is not None


def _blocks(text: str) -> Iterator[_Unit]:
    """Code blocks and tables whole, everything else line by line."""
    fence: str | None = None
    table = False
    start = 0
    end = 0
    for body in text.splitlines(keepends=True):
        begin, end = end, end + len(body)
        marker = _FENCE.match(body) if "```" in body or "~~~" in body else None
        in_table = "|" in body and _TABLE.match(body) is not None
        if fence is not None:
            if marker and marker.group(1).startswith(fence) and not body[marker.end() :].strip():
                yield _Unit(start, end, True, False)
                fence = None
            continue
        if table and not in_table:
            yield _Unit(start, begin, True, False)
            table = False
        if marker:
            fence, start = marker.group(1), begin
        elif in_table:
            if not table:
                table, start = True, begin
        else:
            yield _Unit(begin, end, False, _is_heading(body))
    if fence is not None or table:
        yield _Unit(start, len(text), True, False)


def _block_pieces(text: str, unit: _Unit) -> Iterator[Span]:
    start = last = end = unit.start
    for line in text[unit.start : unit.end].splitlines(keepends=True):
        end += len(line)
        if end - start > BLOCK_CHARS and last > start:
            yield from _pieces(text, start, last, BLOCK_CHARS)
            start = last
        last = end
    yield from _pieces(text, start, unit.end, BLOCK_CHARS)


def _density(text: str) -> int:
    """How many letters a character of the text stands for, by its beginning."""
    if text.isascii():
        return 1
    sample = text[:REPLY_CHARS]
    return DENSE if 2 * len(_DENSE.findall(sample)) > len(sample) else 1


def _windows(text: str, size: int) -> Iterator[Span]:
    """Gather units into windows of about a size; a heading opens a window rather than closing one."""
    start = end = 0
    for unit in _blocks(text):
        if unit.block:
            if text[start:end].strip():
                yield Span(start, end)
            yield from _block_pieces(text, unit)
            start = end = unit.end
            continue
        if unit.heading and end - start > size // 2:
            yield Span(start, end)
            start = end
        for sentence in _sentences(text, unit.start, unit.end):
            if sentence.end - start > size and text[start:end].strip():
                yield Span(start, end)
                start = end
            end = sentence.end
    if end > start:
        yield Span(start, end)


def _trim(text: str, span: Span) -> Span:
    body = text[span.start : span.end]
    left = len(body) - len(body.lstrip())
    return Span(span.start + left, span.start + len(body.rstrip())) if body.strip() else Span(span.start, span.start)


def split_passages(role: str, content: str) -> list[Span]:
    """Cut a turn into passages, in order and without overlap.

    Args:
        role: Who spoke; a turn of the user stays whole for longer.
        content: The turn's text.

    Returns:
        Where each passage starts and ends, white space around it left out; the whole content for a short turn,
        nothing of a blank one.
    """
    limit = USER_CHARS if role == "user" else REPLY_CHARS
    if not content.strip():
        return [Span(0, 0)]
    density = _density(content)
    if len(content) * density <= limit:
        return [Span(0, len(content))]
    trimmed = (_trim(content, span) for span in _windows(content, WINDOW_CHARS // density))
    return [span for span in trimmed if span.end > span.start]
