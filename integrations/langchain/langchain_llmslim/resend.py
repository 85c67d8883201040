"""Tells what is new in a transcript that is given again, from what was said and in which order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from llmslim_memory import MemoryItem


class Overlap(NamedTuple):
    """The first ``length`` turns given are those stored from position ``start`` on."""

    start: int
    length: int


def in_order(items: Sequence[MemoryItem]) -> list[MemoryItem]:
    """Turns in the order in which they were added.

    By time, a clock that was set back would put an answer before its question.
    """
    return sorted(items, key=lambda item: item.seq)


def new_tail(turns: Sequence[dict[str, Any]], stored: Sequence[MemoryItem]) -> list[dict[str, Any]]:
    """``turns`` without their beginning, if that is all that is stored and something follows it."""
    again = 0 < len(stored) < len(turns) and _keys(turns)[: len(stored)] == _keys(stored)
    return list(turns[len(stored) if again else 0 :])


def find_overlap(turns: Sequence[Mapping[str, Any]], stored: Sequence[MemoryItem]) -> Overlap:
    """Where a transcript without known ids continues what is stored.

    A transcript that holds an answer was resent: it overlaps where most of it is found again, answer included. One
    that only asks is new, unless it ends what is stored: then it was asked before and never answered, and is asked
    again.
    """
    said, known = _keys(turns), _keys(stored)
    answers = [place for place, (role, _) in enumerate(said) if role == "assistant"]
    if answers:
        starts = [Overlap(start, _common(said, known, start)) for start in range(len(known)) if known[start] == said[0]]
        return max(
            (s for s in starts if s.length > answers[0]), key=lambda s: (s.length, s.start), default=Overlap(0, 0)
        )
    lengths = range(min(len(said), len(known)), 0, -1)
    length = next((n for n in lengths if known[-n:] == said[:n]), 0)
    return Overlap(len(known) - length, length)


def _keys(turns: Sequence[Any]) -> list[tuple[str, str]]:
    return [(t.role, t.content) if isinstance(t, MemoryItem) else (t["role"], t["content"]) for t in turns]


def _common(said: Sequence[tuple[str, str]], known: Sequence[tuple[str, str]], start: int) -> int:
    pairs = enumerate(zip(said, known[start:], strict=False))
    return next((n for n, (a, b) in pairs if a != b), min(len(said), len(known) - start))
