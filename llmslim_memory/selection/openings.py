"""The opening of a turn: what the user asked, or what a reply set out to do, without code."""

from __future__ import annotations

import re
from functools import lru_cache

from llmslim_memory.selection.statements import sentences

LEAST_WORDS = 24
MOST_WORDS = 26
MOST_CHARS = 600
_WORD = re.compile(r"\S+")


def opening(content: str) -> tuple[int, int] | None:
    """Where the opening of ``content`` starts and ends; ``None`` for a turn that is code alone.

    It is the first sentences that make up enough words, and at most so many words of them.
    """
    return _opening(content[:MOST_CHARS])


@lru_cache(maxsize=1024)
def _opening(content: str) -> tuple[int, int] | None:
    start = end = None
    for first, last in sentences(content):
        start = first if start is None else start
        if end is not None and content[end:first].strip():
            break  # code stands between
        end = _end(content, start, last)
        if len(_WORD.findall(content, start, end)) >= LEAST_WORDS:
            break
    return None if start is None or end is None else (start, end)


def _end(content: str, start: int, last: int) -> int:
    words = list(_WORD.finditer(content, start, last))
    return words[min(len(words), MOST_WORDS) - 1].end()
