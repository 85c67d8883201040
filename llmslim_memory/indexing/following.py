"""Keeps the index of a scope abreast of its store: by asking what changed, or by comparing where it cannot say."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Protocol
from zlib import crc32

from llmslim_memory.indexing.turns import TurnAnalyser
from llmslim_memory.ranking.codec import CorruptAnalysisError, TurnAnalysis, decode, encode
from llmslim_memory.ranking.index import IndexedTurn, ScopeIndex
from llmslim_memory.types import (
    Analysis,
    MemoryItem,
    MemoryStore,
    Scope,
    SupportsAnalysis,
    SupportsChanges,
    TurnHead,
)

BUILD_SIZE = 10_000
"""Turns that are taken into an index at once: what they are read from takes several times the memory of an index."""
FETCH_SIZE = 200
"""Turns whose content is read at once to analyse them."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def microseconds(moment: datetime) -> int:
    """UTC microseconds since 1970."""
    return (moment - _EPOCH) // _MICROSECOND


class Follower(Protocol):
    """Brings an index up to the present."""

    def refresh(self, index: ScopeIndex) -> list[str]:
        """Apply every write that was acknowledged before the call; return the ids of turns it wrote or deleted."""


def follow(store: MemoryStore, scope: Scope, analyser: TurnAnalyser) -> Follower:
    """The best follower that the store allows."""
    if isinstance(store, SupportsChanges):
        return ChangeFollower(store, scope, analyser)
    return ListFollower(store, scope, analyser)


class ChangeFollower:
    """Asks the store what changed since the last time."""

    def __init__(self, store: SupportsChanges, scope: Scope, analyser: TurnAnalyser) -> None:
        self._store = store
        self._scope = scope
        self._analyser = analyser
        self._cursor: str | None = None

    def refresh(self, index: ScopeIndex) -> list[str]:
        """Apply every write that was acknowledged before the call; return the ids of turns it wrote or deleted."""
        changes = self._store.changes(
            self._scope, after=self._cursor, version=self._analyser.version, encoding=self._analyser.encoding
        )
        index.remove(changes.deleted)
        known = index.revisions([head.id for head in changes.heads])
        new = [head for head, revision in zip(changes.heads, known, strict=True) if revision != head.revision]
        new.sort(key=lambda head: (head.created_at, head.seq))
        index.add(self._turns(new[at : at + BUILD_SIZE]) for at in range(0, len(new), BUILD_SIZE))
        self._cursor = changes.cursor
        return [*changes.deleted, *(head.id for head in new)]

    def _turns(self, heads: Sequence[TurnHead]) -> list[IndexedTurn]:
        ready, missing = [], []
        for head in heads:
            turn = self._decoded(head)
            if turn is None:
                missing.append(head)
            else:
                ready.append(turn)
        return [*ready, *self._analysed(missing)]

    def _decoded(self, head: TurnHead) -> IndexedTurn | None:
        if head.analysis is None or head.tokens is None:
            return None
        try:
            return _indexed(head, head.tokens, decode(head.analysis, self._analyser.encoding))
        except CorruptAnalysisError:
            return None

    def _analysed(self, heads: Sequence[TurnHead]) -> Iterator[IndexedTurn]:
        """Analyse turns whose analysis is missing, stale or damaged, and save it for the next process."""
        for start in range(0, len(heads), FETCH_SIZE):
            some = heads[start : start + FETCH_SIZE]
            items = self._store.get_many([head.id for head in some])
            fresh: list[tuple[str, int, Analysis]] = []
            for head in some:
                item = items.get(head.id)
                if item is None:  # deleted meanwhile; the next refresh says so
                    continue
                analysis, tokens = self._analyser.analyse(item.role, item.content)
                encoding = self._analyser.encoding
                packed = Analysis(self._analyser.version, encode(analysis, encoding), encoding, tokens)
                fresh.append((head.id, head.revision, packed))
                yield _indexed(head, tokens, analysis)
            if isinstance(self._store, SupportsAnalysis) and self._analyser.is_shared:
                self._store.save_analyses(fresh)


class ListFollower:
    """Lists the scope and compares, for a store of six methods."""

    def __init__(self, store: MemoryStore, scope: Scope, analyser: TurnAnalyser) -> None:
        self._store = store
        self._scope = scope
        self._analyser = analyser

    def refresh(self, index: ScopeIndex) -> list[str]:
        """Apply every write that was acknowledged before the call; return the ids of turns it wrote or deleted."""
        heads = {item.id: (_head(item), item) for item in self._store.list(self._scope)}
        deleted = [item_id for item_id in index.ids() if item_id not in heads]
        index.remove(deleted)
        changed = list(self._changed(index, heads.values()))
        index.add([changed])
        return [*deleted, *(turn.id for turn in changed)]

    def _changed(self, index: ScopeIndex, turns: Collection[tuple[TurnHead, MemoryItem]]) -> Iterator[IndexedTurn]:
        known = index.revisions([head.id for head, _ in turns])
        for (head, item), revision in zip(turns, known, strict=True):
            if revision != head.revision:
                analysis, tokens = self._analyser.analyse(item.role, item.content)
                yield _indexed(head, tokens, analysis)


def _head(item: MemoryItem) -> TurnHead:
    """A head whose revision changes with whatever the index keeps of the turn."""
    told = f"{item.role}\0{item.created_at.isoformat()}\0{item.seq}\0{item.content}"
    revision = crc32(told.encode("utf-8", "surrogatepass"))
    return TurnHead(item.id, item.role, item.created_at, item.seq, item.user_id, item.agent_id, item.run_id, revision)


def _indexed(head: TurnHead, tokens: int, analysis: TurnAnalysis) -> IndexedTurn:
    return IndexedTurn(
        id=head.id,
        role=head.role,
        time=microseconds(head.created_at),
        seq=head.seq,
        session=(head.user_id, head.run_id),
        revision=head.revision,
        tokens=tokens,
        analysis=analysis,
    )
