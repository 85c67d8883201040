"""What ranking hands to selection: the turns of a scope as columns, and the passages that bear on a question.

Turns are named by their position in the scope, oldest first (by time, then by order of adding). Content is fetched only
for what is looked at, so that a search costs what it finds and not what is stored.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from llmslim_memory.types import MemoryItem


class Statement(NamedTuple):
    """A stretch of a user turn that a section may show: characters ``start`` to ``end`` of the content.

    ``kind`` is ``"request"``, ``"withdrawal"`` (ends an earlier request), ``"preference"``, ``"denial"`` ("I have
    never ...") or another name that selection gives and reads.
    """

    kind: str
    start: int
    end: int


class Counted(NamedTuple):
    """Characters ``start`` to ``end`` of a turn, and the tokens that they take by themselves."""

    start: int
    end: int
    tokens: int


class Mark(NamedTuple):
    """A statement and the turn it stands in."""

    turn: int
    statement: Statement


@dataclass(frozen=True, slots=True)
class Candidate:
    """A passage that may be shown: characters ``start`` to ``end`` of a turn, and how well it answers the question.

    ``part`` is its place among the passages of its turn; ``kind`` is ``"turn"`` (the whole content) or ``"window"``.
    ``tokens`` is its own size by the counter in use. ``own`` is false when it holds nothing of the question itself and
    is only near what does.
    """

    turn: int
    part: int
    start: int
    end: int
    kind: str
    score: float
    tokens: int
    own: bool = True


class History(Protocol):
    """The turns of one scope, oldest first; every sequence and array has one entry a turn."""

    @property
    def ids(self) -> Sequence[str]:
        """Ids of the turns."""

    @property
    def roles(self) -> Sequence[str]:
        """Roles of the turns."""

    @property
    def times(self) -> NDArray[np.int64]:
        """UTC microseconds since 1970."""

    @property
    def sessions(self) -> NDArray[np.int32]:
        """Index of the turn's session (its ``run_id``), in the order in which sessions begin."""

    @property
    def tokens(self) -> NDArray[np.int32]:
        """Tokens of the content."""

    @property
    def eligible(self) -> NDArray[np.bool_]:
        """Whether the turn may be shown: inside the time window and not excluded."""

    def items(self, turns: Sequence[int]) -> list[MemoryItem]:
        """The turns at these positions, content and metadata included."""

    def passages(self, turn: int) -> list[Counted]:
        """The passages of a turn, in order; the whole content for a short turn."""

    def marks(self, kinds: Sequence[str]) -> list[Mark]:
        """The statements of these kinds in eligible turns, oldest first."""


def _no_windows(turn: int) -> list[Candidate]:  # noqa: ARG001
    return []


@dataclass(frozen=True, slots=True)
class Ranking:
    """How well the eligible turns of a history answer a question.

    ``turn_scores`` has one entry a turn, 0 where nothing bears on the question. ``user`` holds the user's turns, whole,
    and ``reply`` the passages of all others (a turn may stand there with several), both the best only, best first,
    ties by time. All scores lie in [0, 1] on one scale. ``windows`` gives the passages of any turn, best first.
    ``matched`` is false when no eligible turn bears on the question at all.
    """

    turn_scores: NDArray[np.float64]
    user: Sequence[Candidate]
    reply: Sequence[Candidate]
    matched: bool
    windows: Callable[[int], list[Candidate]] = _no_windows
