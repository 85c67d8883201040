"""Answers questions in this process: opens the history, ranks, selects, one search after the other."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from llmslim_memory.answering.question import Extent, Question
from llmslim_memory.indexing import ScopeHistory, ScopeIndexes, StaleHistoryError
from llmslim_memory.pacing import pace
from llmslim_memory.selection import select
from llmslim_memory.tokens import TokenCounter
from llmslim_memory.types import Hit, MemoryContext
from llmslim_memory.views import Ranking

ATTEMPTS = 10

T = TypeVar("T")


class Answerer:
    """Answers from the indexes of a store; safe to share between threads."""

    def __init__(self, indexes: ScopeIndexes, counter: TokenCounter) -> None:
        self._indexes = indexes
        self._counter = counter

    def search(self, question: Question) -> MemoryContext:
        """The part of the history that answers, within ``most`` tokens."""

        def attempt() -> MemoryContext:
            history = self._open(question.extent)
            with pace.computing():
                return select(
                    question.text,
                    history,
                    lambda asked: self._rank(history, asked, question),
                    now=question.now,
                    options=question.options,
                    budget=question.most,
                    count=self._counter,
                )

        return _settled(attempt)

    def rank(self, question: Question) -> list[Hit]:
        """The ``most`` passages that answer best, best first."""

        def attempt() -> list[Hit]:
            history = self._open(question.extent)
            with pace.computing():
                return self._indexes.hits(history, self._rank(history, question.text, question), question.most)

        return _settled(attempt)

    def version(self, extent: Extent) -> str:
        """A digest of the turns of an extent."""
        return self._open(extent).version

    def _open(self, extent: Extent) -> ScopeHistory:
        return self._indexes.open(
            extent.scope,
            since=extent.since,
            until=extent.until,
            only=extent.only,
            exclude=extent.exclude,
            exclude_runs=extent.exclude_runs,
        )

    def _rank(self, history: ScopeHistory, text: str, question: Question) -> Ranking:
        return self._indexes.rank(history, text, now=question.now, tz=question.options.tz, relevance=question.relevance)


def _settled(attempt: Callable[[], T]) -> T:
    """What ``attempt`` gives, tried again while turns that it would show are changed by others under its hands."""
    for _ in range(ATTEMPTS - 1):
        try:
            return attempt()
        except StaleHistoryError:
            continue
    return attempt()
