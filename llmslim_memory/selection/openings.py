"""The opening of a turn: what the user asked, or what a reply set out to do, without code."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from llmslim_memory.selection.statements import sentences

MOST_CHARS = 600
_WORD = re.compile(r"\S+")


class Length(NamedTuple):
    """How long an opening is, in words: sentences until there are ``least``, cut at ``most``."""

    least: int
    most: int


REPLY = Length(24, 26)
USER = Length(30, 34)
LONG = Length(60, 60)
"""What a user turn opens with where there is room for a few turns only."""


def opening(content: str, length: Length = REPLY) -> tuple[int, int] | None:
    """Where the opening of ``content`` starts and ends; ``None`` for a turn that is code alone."""
    return _opening(content[:MOST_CHARS], length)


@lru_cache(maxsize=1024)
def _opening(content: str, length: Length) -> tuple[int, int] | None:
    start = end = None
    for first, last in sentences(content):
        start = first if start is None else start
        if end is not None and content[end:first].strip():
            break  # code stands between
        end = _end(content, start, last, length.most)
        if len(_WORD.findall(content, start, end)) >= length.least:
            break
    return None if start is None or end is None else (start, end)


def _end(content: str, start: int, last: int, most: int) -> int:
    words = list(_WORD.finditer(content, start, last))
    return words[min(len(words), most) - 1].end()
