"""A history in a list, ranked by shared words: all that selection needs to be tested."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest

from llmslim_memory.selection import SelectionOptions, find_statements, select
from llmslim_memory.selection.terms import terms
from llmslim_memory.tokens import TokenCounter, make_counter
from llmslim_memory.types import MemoryContext, MemoryItem
from llmslim_memory.views import Candidate, Counted, Mark, Ranking

START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


@dataclass(frozen=True)
class Turn:
    """A turn to build a history of, ``day`` days after the start."""

    content: str
    role: str = "user"
    day: float = 0.0
    session: str = "s"
    is_eligible: bool = True


class FakeHistory:
    """Turns in a list, as `views.History`."""

    def __init__(self, turns: Sequence[Turn], count: Callable[[str], int]) -> None:
        turns = sorted(turns, key=lambda turn: turn.day)
        sessions = list(dict.fromkeys(turn.session for turn in turns))
        self.turns = turns
        self.ids = [f"t{i}" for i in range(len(turns))]
        self.roles = [turn.role for turn in turns]
        said = [START + timedelta(days=turn.day) for turn in turns]
        self.times = np.array([round(time.timestamp() * 1e6) for time in said], dtype=np.int64)
        self.sessions = np.array([sessions.index(turn.session) for turn in turns], dtype=np.int32)
        self.tokens = np.array([count(turn.content) for turn in turns], dtype=np.int32)
        self.eligible = np.array([turn.is_eligible for turn in turns], dtype=np.bool_)
        self._said = said
        self._count = count

    def items(self, turns: Sequence[int]) -> list[MemoryItem]:
        return [
            MemoryItem(self.ids[i], self.roles[i], self.turns[i].content, self._said[i], seq=i, user_id="u",
                       run_id=self.turns[i].session)
            for i in turns
        ]  # fmt: skip

    def passages(self, turn: int) -> list[Counted]:
        content = self.turns[turn].content
        ends = [i + 1 for i, char in enumerate(content) if char in ".!?\n"]
        bounds = [0, *ends, len(content)]
        spans = [(a, b) for a, b in pairwise(bounds) if content[a:b].strip()] or [(0, len(content))]
        return [Counted(start, end, self._count(content[start:end])) for start, end in spans]

    def marks(self, kinds: Sequence[str]) -> list[Mark]:
        return [
            Mark(i, statement)
            for i, turn in enumerate(self.turns)
            if turn.is_eligible
            for statement in find_statements(turn.role, turn.content)
            if statement.kind in kinds
        ]


def rank_by_words(history: FakeHistory, query: str, count: Callable[[str], int]) -> Ranking:
    """Every eligible turn that shares a content word with the question, most shared words first."""
    asked = terms(query)
    scores = np.array([len(asked & terms(turn.content)) / max(1, len(asked)) for turn in history.turns])
    scores = np.where(history.eligible, scores, 0.0)
    pools: dict[bool, list[Candidate]] = {True: [], False: []}
    for turn in sorted(np.flatnonzero(scores), key=lambda i: (-scores[i], i)):
        content, is_user = history.turns[turn].content, history.roles[turn] == "user"
        spans = [(0, len(content))] if is_user else [passage[:2] for passage in history.passages(turn)]
        for part, (start, end) in enumerate(spans):
            score = len(asked & terms(content[start:end])) / max(1, len(asked))
            if score:
                kind = "turn" if (start, end) == (0, len(content)) else "window"
                pools[is_user].append(
                    Candidate(int(turn), part, start, end, kind, score, count(content[start:end]))
                )  # fmt: skip
    for pool in pools.values():
        pool.sort(key=lambda candidate: -candidate.score)
    return Ranking(scores, pools[True], pools[False], bool(scores.any()))


def search(
    turns: Sequence[Turn], query: str, *, budget: int, count: TokenCounter | None = None, **options: object
) -> MemoryContext:
    """What selection makes of these turns and this question."""
    count = count or make_counter("o200k_base")
    history = FakeHistory(turns, count)
    return select(
        query,
        history,
        lambda text: rank_by_words(history, text, count),
        now=START + timedelta(days=400),
        options=SelectionOptions(**options),  # type: ignore[arg-type]
        budget=budget,
        count=count,
    )


@pytest.fixture(scope="session")
def fake() -> SimpleNamespace:
    """The pieces above, for tests."""
    return SimpleNamespace(Turn=Turn, History=FakeHistory, rank=rank_by_words, search=search, start=START)
