"""Which of the messages shown are those stored, although no message has an id."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher
from itertools import takewhile


def align(stored: Sequence[str], shown: Sequence[str]) -> list[int | None]:
    """For each message shown, the position of the stored one that it is, or ``None`` if it is new.

    A window moves forward over a conversation, so its beginning is expected to be the end of what is stored: text said
    again after that is new. Where runs in other places explain more (a history that was edited or shortened), those
    count.
    """
    overlap = _overlap(stored, shown)
    if overlap < min(len(stored), len(shown)):
        blocks = SequenceMatcher(None, stored, shown, autojunk=False).get_matching_blocks()
        if sum(block.size for block in blocks) > overlap:
            return _positions(len(shown), [tuple(block) for block in blocks])
    return _positions(len(shown), [(len(stored) - overlap, 0, overlap)])


def common_prefix(first: Sequence[str], second: Sequence[str]) -> int:
    """How many messages two histories begin with alike."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(first, second, strict=False)))


def _overlap(stored: Sequence[str], shown: Sequence[str]) -> int:
    """The length of the longest end of ``stored`` that is a beginning of ``shown``."""
    longest = min(len(stored), len(shown))
    return next((k for k in range(longest, 0, -1) if list(stored[-k:]) == list(shown[:k])), 0)


def _positions(length: int, runs: Sequence[tuple[int, ...]]) -> list[int | None]:
    positions: list[int | None] = [None] * length
    for start, first, size in runs:
        positions[first : first + size] = range(start, start + size)
    return positions
