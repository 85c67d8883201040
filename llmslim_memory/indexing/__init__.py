"""Indexes of the scopes searched lately: each follows the store, so that a search reads what changed and no more."""

from __future__ import annotations

from bisect import insort
from collections import OrderedDict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, tzinfo
from functools import partial
from heapq import merge
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from llmslim_memory.errors import InvalidTypeError
from llmslim_memory.indexing.following import Follower, follow, microseconds
from llmslim_memory.indexing.history import ScopeHistory, StaleHistoryError
from llmslim_memory.indexing.recent import RECENT_BYTES, RecentTurns
from llmslim_memory.indexing.turns import TurnAnalyser
from llmslim_memory.pacing import pace
from llmslim_memory.ranking.fusion import fuse
from llmslim_memory.ranking.index import ScopeIndex
from llmslim_memory.ranking.query import parse_query
from llmslim_memory.ranking.ranker import latest_candidates, make_ranking
from llmslim_memory.ranking.scoring import score
from llmslim_memory.ranking.semantic import Scorer, make_scorer
from llmslim_memory.ranking.snapshot import Snapshot
from llmslim_memory.tokens import TokenCounter
from llmslim_memory.types import Analysis, Hit, MemoryItem, MemoryStore, Scope, SupportsChanges
from llmslim_memory.views import Candidate, History, Ranking

__all__ = ["ScopeHistory", "ScopeIndexes", "StaleHistoryError"]


@dataclass(slots=True)
class _Entry:
    """The index of one scope, and what keeps it and the turns read lately abreast of the store."""

    follower: Follower
    recent: RecentTurns
    index: ScopeIndex = field(default_factory=ScopeIndex)
    lock: Lock = field(default_factory=Lock)

    def refreshed(self) -> tuple[Snapshot, int]:
        """The scope as it is now, and the bytes its index takes; one thread at a time brings it up to date."""
        with self.lock:
            self.recent.forget(self.follower.refresh(self.index))
            return self.index.snapshot(), self.index.nbytes


class ScopeIndexes:
    """The indexes of a store's scopes, the most recently searched ones kept; safe to share between threads.

    Args:
        store: Where the turns live.
        counter: What counts tokens.
        cache_bytes: Most memory that the indexes kept may take together; the one in use is kept in any case.
    """

    def __init__(self, store: MemoryStore, counter: TokenCounter, *, cache_bytes: int) -> None:
        self._store = store
        self._analyser = TurnAnalyser(counter)
        self._recent = _reading(store, cache_bytes)
        self._cache_bytes = cache_bytes
        self._entries: OrderedDict[Scope, _Entry] = OrderedDict()
        self._sizes: dict[Scope, int] = {}
        self._held = 0
        self._scorers: dict[str, Scorer | None] = {}
        self._lock = Lock()

    def analyse(self, role: str, content: str) -> Analysis:
        """What a store is to keep beside a turn, so that no search need analyse it again."""
        return self._analyser.pack(role, content)

    def open(
        self,
        scope: Scope,
        *,
        since: datetime | None = None,
        until: datetime | None = None,
        only: Collection[str] | None = None,
        exclude: Collection[str] = (),
        exclude_runs: Collection[str] = (),
    ) -> ScopeHistory:
        """The turns of a scope as they are now.

        Args:
            scope: Whose turns.
            since: Only turns said at or after this time may be shown.
            until: Only turns said before this time may be shown.
            only: Ids of the turns that may be shown; ``None``: any.
            exclude: Ids of turns that may not be shown.
            exclude_runs: Sessions whose turns may not be shown.
        """
        entry = self._entry(scope)
        snapshot, size = entry.refreshed()
        self._note_size(scope, size)
        eligible = snapshot.content_ends > 0  # a blank turn has nothing to show
        if since is not None:
            eligible &= snapshot.times >= microseconds(since)
        if until is not None:
            eligible &= snapshot.times < microseconds(until)
        if only is not None:
            eligible &= _among(snapshot.ids, only)
        if exclude:
            eligible &= ~_among(snapshot.ids, exclude)
        if exclude_runs:
            runs = frozenset(exclude_runs)
            eligible &= ~np.array([run in runs for run in snapshot.runs], dtype=bool)[snapshot.sessions]
        return ScopeHistory(snapshot, eligible, self._recent.read)

    def rank(self, history: History, query: str, *, now: datetime, tz: tzinfo, relevance: Any) -> Ranking:
        """Rank the turns of a history that :meth:`open` gave.

        Args:
            history: The turns.
            query: The question.
            now: What relative times in the question refer to.
            tz: Whose days those are.
            relevance: ``"lexical"``, ``"semantic"``, a model's name or path, or a ``scorer(query, texts)``.

        Raises:
            MissingExtraError: What ``relevance`` needs is not installed.
            ScorerError: The scorer failed.
        """
        opened = _own(history)
        scorer = self._scorer(relevance)
        asked = parse_query(query, self._analyser.analyser, now=now, tz=tz)
        pace.give_way()
        scores = score(opened.snapshot, asked)
        pace.give_way()
        ranking = make_ranking(opened.snapshot, scores, opened.eligible)
        if scorer is None:
            return ranking
        return fuse(
            ranking,
            query,
            scorer,
            latest=latest_candidates(opened.snapshot, opened.eligible),
            chain=opened.snapshot.chain,
            is_user=lambda turn: bool(opened.snapshot.is_user[turn]),
            read=partial(_texts, opened),
        )

    def _scorer(self, relevance: Any) -> Scorer | None:
        """The scorer for a relevance; a model is loaded once."""
        if not isinstance(relevance, str):
            return make_scorer(relevance)
        with self._lock:
            if relevance not in self._scorers:
                self._scorers[relevance] = make_scorer(relevance)
            return self._scorers[relevance]

    def hits(self, history: History, ranking: Ranking, k: int) -> list[Hit]:
        """The best ``k`` passages of both pools, best first, ties by time; of equal ones of a turn the first."""
        if not ranking.matched:
            return []
        wanted = k
        while True:
            best = _best_hits(ranking, wanted)
            found = _distinct(history, best)
            if len(found) >= k or len(best) < wanted:
                return [replace(hit, item=hit.item.copy()) for hit in found[:k]]
            wanted *= 2

    def _entry(self, scope: Scope) -> _Entry:
        with self._lock:
            entry = self._entries.get(scope)
            if entry is None:
                entry = self._entries[scope] = _Entry(follow(self._store, scope, self._analyser), self._recent)
            self._entries.move_to_end(scope)
            return entry

    def _note_size(self, scope: Scope, size: int) -> None:
        """Note what an index takes, and let go of the ones used longest ago while all take too much."""
        with self._lock:
            if scope not in self._entries:
                return
            self._held += size - self._sizes.get(scope, 0)
            self._sizes[scope] = size
            while self._held > self._cache_bytes and len(self._entries) > 1:
                oldest, _ = self._entries.popitem(last=False)
                self._held -= self._sizes.pop(oldest, 0)


def _among(ids: Sequence[str], some: Collection[str]) -> NDArray[np.bool_]:
    """Which of ``ids`` are among ``some``."""
    found = frozenset(some)
    return np.fromiter((i in found for i in ids), dtype=bool, count=len(ids))


def _texts(history: History, candidates: Sequence[Candidate]) -> list[str]:
    turns = list(dict.fromkeys(candidate.turn for candidate in candidates))
    contents = {turn: item.content for turn, item in zip(turns, history.items(turns), strict=True)}
    return [contents[candidate.turn][candidate.start : candidate.end] for candidate in candidates]


def _reading(store: MemoryStore, cache_bytes: int) -> RecentTurns:
    """What reads the turns of a store; turns of one that cannot say what changed are read each time."""
    if isinstance(store, SupportsChanges):
        return RecentTurns(store.get_many, most=min(RECENT_BYTES, cache_bytes // 4))
    return RecentTurns(partial(_get_each, store), most=0)


def _get_each(store: MemoryStore, item_ids: Sequence[str]) -> dict[str, MemoryItem]:
    return {item_id: item for item_id in item_ids if (item := store.get(item_id)) is not None}


def _best_hits(ranking: Ranking, k: int) -> list[tuple[float, Candidate]]:
    """The best ``k`` candidates by :func:`_hit_score`, looking at no more of the pools than can still be among them."""
    best: list[tuple[float, Candidate]] = []
    for candidate in merge(ranking.user, ranking.reply, key=lambda c: (-c.score, c.turn, c.part)):
        if len(best) >= k and candidate.score < best[k - 1][0]:
            break
        insort(best, (_hit_score(candidate), candidate), key=lambda hit: (-hit[0], hit[1].turn, hit[1].part))
    return best[:k]


def _distinct(history: History, best: Sequence[tuple[float, Candidate]]) -> list[Hit]:
    """The best candidates as hits on shared turns, without those that say what another of their turn says."""
    items = history.items([candidate.turn for _, candidate in best])
    hits: dict[tuple[int, str], Hit] = {}
    for (earned, candidate), item in zip(best, items, strict=True):
        text = item.content[candidate.start : candidate.end]
        hits.setdefault((candidate.turn, text), Hit(item, text, earned, candidate.kind))
    return list(hits.values())


def _hit_score(candidate: Candidate) -> float:
    """A passage by itself: one that is only near what answers the question counts for half."""
    return candidate.score if candidate.own else candidate.score / 2


def _own(history: History) -> ScopeHistory:
    if not isinstance(history, ScopeHistory):
        raise InvalidTypeError(f"history must come from ScopeIndexes.open, not be a {type(history).__name__}")
    return history
