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
    overlaps = [Overlap(start, length) for start, length in enumerate(_prefix_lengths(said, known))]
    answer = next((place for place, (role, _) in enumerate(said) if role == "assistant"), None)
    if answer is None:
        likely = [o for o in overlaps if o.length and o.start + o.length == len(known)]
    else:
        likely = [o for o in overlaps if o.length > answer]
    return max(likely, key=lambda o: (o.length, o.start), default=Overlap(0, 0))


def _keys(turns: Sequence[Any]) -> list[tuple[str, str]]:
    return [(t.role, t.content) if isinstance(t, MemoryItem) else (t["role"], t["content"]) for t in turns]


def _prefix_lengths(said: Sequence[Any], known: Sequence[Any]) -> list[int]:
    """For each position in ``known``, how many entries from there on are the first of ``said``.

    This is the Z-function (Gusfield 1997, 1.4), linear in the length of both.
    """
    both = [*said, None, *known]
    lengths = [0] * len(both)
    left = right = 0
    for place in range(1, len(both)):
        length = min(right - place, lengths[place - left]) if place < right else 0
        while place + length < len(both) and both[length] == both[place + length]:
            length += 1
        lengths[place] = length
        if place + length > right:
            left, right = place, place + length
    return lengths[len(said) + 1 :]
