"""Memory: turns stored word for word, and the ones that answer a question picked within a token budget."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from dataclasses import replace
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from typing import Any

from llmslim_memory.answering import Answerer, Extent, Question, Settings, Workers, address, check_workable
from llmslim_memory.keeping import Keeper, time_window, utc_now
from llmslim_memory.options import (
    COVERAGES,
    check_choice,
    check_count,
    check_flag,
    check_format,
    check_ids,
    check_query,
    check_relevance,
    check_zone,
)
from llmslim_memory.selection import SelectionOptions
from llmslim_memory.texts import clean_text
from llmslim_memory.times import parse_time
from llmslim_memory.types import (
    Hit,
    MemoryContext,
    MemoryStore,
    Scope,
)

INDEX_CACHE_BYTES = 256 << 20


class Memory(Keeper):
    """Keep every turn of a conversation, and recall within a token budget the ones that answer a question.

    Nothing is summarised or rewritten, and no model is called, neither to write nor to read. :meth:`search` ranks the
    stored turns against the question and shows the best of them under their dates: the user's own turns whole where
    they fit, and the parts of replies that matter. Safe to share between threads, and one store between processes.

    Args:
        store: Where turns live: any :class:`~llmslim_memory.types.MemoryStore`, a path to a SQLite file, a
            ``sqlite:///``, ``postgresql://``, ``mongodb://`` or ``mongodb+srv://`` URL, or ``None`` for this process
            only. A store opened here from a path or URL is closed by :meth:`close`; one passed in stays open.
        budget: Tokens that :meth:`search` may spend unless told otherwise.
        relevance: ``"lexical"`` (no model), ``"semantic"`` (a small local model, extra ``semantic``), the name or path
            of a sentence-transformers model, or a ``scorer(query, texts)`` that returns one score a text.
        tz: Time zone of the dates shown, and of days in a question ("yesterday").
        stamp_format: strftime format of the dates shown.
        date_format: What a kept turn shows when its time is the one shown last in its session: ``None`` shows no date,
            a strftime format that date.
        clock: Says what "now" is, for turns without a timestamp and for relative times in a question.
        standing_requests: Show the user's standing requests ("Always ...") that fit a question which asks for help.
        coverage: ``"auto"`` answers overview questions from the opening of each turn; ``"always"``, ``"never"``.
        preferences: Show stated preferences that fit the question, when it asks for advice.
        conflicts: Show statements that contradict each other, when the question asks whether something happened.
        encoding: What counts tokens: a tiktoken encoding, a model's name, or a function from text to a count.
        index_cache_bytes: Most memory that the indexes of recently searched scopes may take.
        workers: Processes that search beside this one, so that searches of several threads use several cores; the first
            search starts them. The store is then a path or URL, and ``encoding`` a name. Each keeps the indexes of its
            share of scopes, in its share of ``index_cache_bytes``; what a scorer of your own ranks is ranked here.

    Raises:
        ValueError, TypeError: An argument cannot be used; the message names it.
        StoreError: The store cannot be opened.

    Example:
        >>> from llmslim_memory import Memory
        >>> memory = Memory()
        >>> turns = memory.add({"role": "user", "content": "I moved to Pune last month."}, user_id="asha")
        >>> "Pune" in memory.search("Where do I live now?", user_id="asha", budget=500).text
        True
    """

    def __init__(
        self,
        store: MemoryStore | str | Path | None = None,
        *,
        budget: int = 2000,
        relevance: Any = "lexical",
        tz: tzinfo = UTC,
        stamp_format: str = "%Y-%m-%d (%a) %H:%M",
        date_format: str | None = None,
        clock: Callable[[], datetime] = utc_now,
        standing_requests: bool = True,
        coverage: str = "auto",
        preferences: bool = True,
        conflicts: bool = True,
        encoding: str | Callable[[str], int] = "o200k_base",
        index_cache_bytes: int = INDEX_CACHE_BYTES,
        workers: int = 0,
    ) -> None:
        if check_count("workers", workers, least=0):
            check_workable(store, encoding)
        self._budget = check_count("budget", budget)
        self._relevance = check_relevance(relevance)
        self._options = SelectionOptions(
            tz=check_zone(tz),
            stamp_format=check_format("stamp_format", stamp_format),
            date_format=None if date_format is None else check_format("date_format", date_format),
            standing_requests=check_flag("standing_requests", standing_requests),
            coverage=check_choice("coverage", coverage, COVERAGES),
            preferences=check_flag("preferences", preferences),
            conflicts=check_flag("conflicts", conflicts),
        )
        super().__init__(store, clock=clock, encoding=encoding, index_cache_bytes=index_cache_bytes)
        here = Answerer(self._indexes, self._counter)
        self._answerer: Answerer | Workers = here
        if workers:
            settings = Settings(address(store, self._store), str(encoding), index_cache_bytes // workers)
            self._answerer = Workers(here, settings, workers)

    @property
    def budget(self) -> int:
        """Tokens that a search may spend unless told otherwise."""
        return self._budget

    def search(
        self,
        query: str,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        budget: int | None = None,
        k: int | None = None,
        relevance: Any = None,
        since: Any = None,
        until: Any = None,
        standing_requests: bool | None = None,
        coverage: str | None = None,
        preferences: bool | None = None,
        conflicts: bool | None = None,
        explain: bool = False,
        only: Collection[str] | None = None,
        exclude: Collection[str] = (),
        exclude_runs: Collection[str] = (),
        now: Any = None,
    ) -> MemoryContext:
        """The part of a scope's history that answers ``query``, within ``budget`` tokens.

        Arguments that are left out are those of the constructor.

        Args:
            query: The question.
            user_id: The person; at least one of the three ids is required.
            agent_id: The agent.
            run_id: The session.
            budget: The most tokens that the text may take, at least 1.
            k: The most turns to show, beside what the sections on top quote; as many as fit, unless given.
            relevance: What ranks turns.
            since: Show only turns said at or after this time.
            until: Show only turns said before this time.
            standing_requests: Whether to show standing requests.
            coverage: Whether to answer from openings.
            preferences: Whether to show preferences.
            conflicts: Whether to show contradictions.
            explain: Fill ``MemoryContext.explanation``.
            only: Ids of the turns that may be shown; any, unless given. All turns of the scope weigh terms alike.
            exclude: Ids of turns to leave out, such as those in the agent's window already.
            exclude_runs: Sessions to leave out.
            now: What relative times in the question ("last week") refer to, instead of the clock.

        Raises:
            ValueError, TypeError: An argument cannot be used; the message names it.
            StoreError: The database failed.
        """
        start = time.perf_counter()
        options = replace(
            self._options,
            explain=check_flag("explain", explain),
            k=None if k is None else check_count("k", k),
            **_given(
                standing_requests=standing_requests,
                coverage=coverage,
                preferences=preferences,
                conflicts=conflicts,
            ),
        )
        question = Question(
            text=clean_text(check_query(query)),
            extent=_extent(Scope(user_id, agent_id, run_id), since, until, only, exclude, exclude_runs),
            now=self._now() if now is None else parse_time(now, "now"),
            relevance=self._relevance if relevance is None else check_relevance(relevance),
            options=options,
            most=self._budget if budget is None else check_count("budget", budget),
        )
        context = self._answerer.search(question)
        return replace(context, elapsed_ms=(time.perf_counter() - start) * 1e3)

    def rank(
        self,
        query: str,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        k: int = 10,
        relevance: Any = None,
        since: Any = None,
        until: Any = None,
        only: Collection[str] | None = None,
        exclude: Collection[str] = (),
        exclude_runs: Collection[str] = (),
        now: Any = None,
    ) -> list[Hit]:
        """The ``k`` passages of a scope's history that answer ``query`` best, best first; fewer where fewer bear on it.

        The arguments are those of :meth:`search`.
        """
        question = Question(
            text=clean_text(check_query(query)),
            extent=_extent(Scope(user_id, agent_id, run_id), since, until, only, exclude, exclude_runs),
            now=self._now() if now is None else parse_time(now, "now"),
            relevance=self._relevance if relevance is None else check_relevance(relevance),
            options=self._options,
            most=check_count("k", k),
        )
        return self._answerer.rank(question)

    def version(
        self,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        exclude: Collection[str] = (),
        exclude_runs: Collection[str] = (),
    ) -> str:
        """A text that stays the same for as long as no turn of a scope is added, edited or deleted.

        A text made of these turns, once recalled, can be used again while it stands. An edit of metadata alone may
        change it as well.

        Args:
            user_id: The person; at least one of the three ids is required.
            agent_id: The agent.
            run_id: The session.
            exclude: Ids of turns that do not count.
            exclude_runs: Sessions whose turns do not count.
        """
        scope = Scope(user_id, agent_id, run_id)
        return self._answerer.version(_extent(scope, None, None, None, exclude, exclude_runs))

    def close(self) -> None:
        """Close the store if it was opened here, and end the workers; a store that was passed in stays open."""
        if isinstance(self._answerer, Workers):
            self._answerer.close()
        super().close()


def _extent(
    scope: Scope,
    since: Any,
    until: Any,
    only: Collection[str] | None,
    exclude: Collection[str],
    exclude_runs: Collection[str],
) -> Extent:
    window = time_window(since, until)
    return Extent(
        scope=scope,
        since=window[0],
        until=window[1],
        only=None if only is None else check_ids("only", only),
        exclude=check_ids("exclude", exclude),
        exclude_runs=check_ids("exclude_runs", exclude_runs),
    )


def _given(**values: Any) -> dict[str, Any]:
    given = {name: value for name, value in values.items() if value is not None}
    for name, value in given.items():
        if name == "coverage":
            check_choice(name, value, COVERAGES)
        else:
            check_flag(name, value)
    return given
