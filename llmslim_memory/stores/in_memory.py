"""Turns in this process: the store that the others are compared with."""

from __future__ import annotations

import builtins
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from itertools import takewhile
from threading import RLock
from typing import Any

from llmslim_memory.stores import base
from llmslim_memory.stores import in_memory_rows as rows
from llmslim_memory.types import (
    Analysis,
    Applied,
    Batch,
    Changes,
    Edit,
    MemoryItem,
    Page,
    Record,
    Scope,
    ScopeSummary,
    Where,
)


class InMemoryStore(base.BatchStore):
    """Turns in this process only; nothing survives a restart. Safe over threads."""

    def __init__(self) -> None:
        self._lock = RLock()
        self._closed = False
        self._seq = 0
        self._revision = 0
        self._turns: dict[str, rows.Turn] = {}
        self._order: dict[int, str] = {}  # seq -> id, in the order of adding
        self._places: dict[tuple[str, str], dict[int, str]] = {}  # one id of a scope -> its turns, as above
        self._edited: dict[str, int] = {}  # turn id -> revision of its last edit or deletion, oldest first
        self._deleted: set[str] = set()
        self._records: dict[tuple[str, str], rows.Kept] = {}

    def close(self) -> None:
        """Forget everything; any later call raises. Closing again does nothing."""
        with self._lock:
            self._closed = True
            for held in (self._turns, self._order, self._places, self._edited, self._deleted, self._records):
                held.clear()

    @contextmanager
    def _open(self) -> Iterator[None]:
        with self._lock:
            if self._closed:
                raise base.closed(self)
            yield

    # MemoryStore

    def list(self, scope: Scope, *, since: datetime | None = None, until: datetime | None = None) -> list[MemoryItem]:
        window = base.to_window(since, until)
        with self._open():
            return rows.in_order(turn for turn in self._inside(scope) if rows.within(turn.item, *window))

    def get(self, item_id: str) -> MemoryItem | None:
        return self.get_many([item_id]).get(item_id)

    def update(
        self, item_id: str, *, content: str | None = None, metadata: Mapping[str, Any] | None = None
    ) -> MemoryItem | None:
        with self._open():
            self.apply(Batch(edit=[Edit(item_id, content, metadata)]))
            return self.get(item_id)

    def delete_scope(self, scope: Scope) -> int:
        with self._open():
            gone = [turn.item.id for turn in self._inside(scope)]
            self._revision += 1
            self._erase(gone)
            for name in [n for n, kept in self._records.items() if rows.in_scope(scope, kept.record)]:
                del self._records[name]
            return len(gone)

    # SupportsScan

    def scan(self, *, scope: Scope | None = None, after: str | None = None, limit: int = 500) -> Page:
        last = -1 if after is None else base.parse_cursor(after)[0]
        base.check_limit(limit)
        with self._open():
            seqs = list(self._order if scope is None else self._smallest(scope))
            found: list[rows.Turn] = []
            for seq in seqs[bisect_right(seqs, last) :]:
                turn = self._turns[self._order[seq]]
                if scope is None or rows.in_scope(scope, turn.item):
                    found.append(turn)
                if len(found) > limit:
                    break
        more = len(found) > limit
        return Page([turn.read() for turn in found[:limit]], str(found[limit - 1].item.seq) if more else None)

    def scopes(self) -> builtins.list[ScopeSummary]:
        times: dict[tuple[str | None, str | None, str | None], list[datetime]] = {}
        with self._open():
            for turn in self._turns.values():
                item = turn.item
                times.setdefault((item.user_id, item.agent_id, item.run_id), []).append(item.created_at)
        ordered = sorted(times.items(), key=lambda entry: [(part is not None, part or "") for part in entry[0]])
        return [ScopeSummary(*ids, len(moments), min(moments), max(moments)) for ids, moments in ordered]

    # SupportsFind

    def find(self, where: Where) -> builtins.list[MemoryItem]:
        marks = base.metadata_marks(where)
        since, until = base.to_window(where.since, where.until)
        where = replace(where, since=since, until=until)
        with self._open():
            return rows.in_order(turn for turn in self._among(where) if rows.meets(turn, where, marks))

    # SupportsRecords

    def apply(self, batch: Batch) -> Applied:
        ids = base.check_new(batch.add)
        claims = base.check_claims(batch.claim)
        turns = [(rows.in_utc(item), base.dump_json(item.metadata)) for item in batch.add]
        edits = [
            (base.check_edit(e), e.content, None if e.metadata is None else base.dump_json(e.metadata))
            for e in batch.edit
        ]
        doomed = base.check_ids(batch.delete)
        records = [rows.Kept(record, base.dump_json(record.value)) for record in (*batch.claim, *batch.put)]
        with self._open():
            self._refuse_known(ids, claims, doomed)
            self._revision += 1
            for item, metadata in turns:
                self._add(item, metadata)
            edited = sum(self._edit(*edit) for edit in edits)
            deleted = self._erase(doomed)
            for kept in records:
                self._records[kept.record.kind, kept.record.key] = kept
            for kind, key in batch.drop:
                self._records.pop((kind, key), None)
            for item_id, analysis in batch.analyses.items():
                if item_id in self._turns:
                    self._turns[item_id].analysis = analysis
            return Applied(len(ids), edited, deleted)

    def records(
        self,
        kind: str,
        *,
        keys: Sequence[str] | None = None,
        group: str | None = None,
        scope: Scope | None = None,
    ) -> builtins.list[Record]:
        wanted = None if keys is None else set(keys)
        with self._open():
            return [
                kept.read()
                for kept in self._records.values()
                if kept.record.kind == kind
                and (wanted is None or kept.record.key in wanted)
                and (group is None or kept.record.group == group)
                and (scope is None or rows.in_scope(scope, kept.record))
            ]

    def tombstones(self, item_ids: Sequence[str]) -> frozenset[str]:
        ids = base.check_ids(item_ids)
        with self._open():
            return frozenset(i for i in ids if i in self._deleted and i not in self._turns)

    # SupportsCopy

    def kinds(self) -> builtins.list[str]:
        with self._open():
            return sorted({kept.record.kind for kept in self._records.values()})

    def deleted_ids(self, *, after: str | None = None, limit: int = 1000) -> builtins.list[str]:
        base.check_limit(limit)
        with self._open():
            return sorted(i for i in self._deleted - self._turns.keys() if after is None or i > after)[:limit]

    # SupportsChanges

    def changes(
        self, scope: Scope, *, after: str | None = None, version: int | None = None, encoding: str | None = None
    ) -> Changes:
        known = None if after is None else base.parse_cursor(after, 2)
        with self._open():
            cursor = f"{self._seq}-{self._revision}"
            if known is None:
                return Changes(cursor, [turn.head(version, encoding) for turn in self._inside(scope)], [])
            if after == cursor:
                return Changes(cursor, [], [])
            seq, revision = known
            touched = self._edited_since(revision)
            ids = [*self._added_since(scope, seq), *touched]
            heads = {
                i: self._turns[i].head(version, encoding)
                for i in dict.fromkeys(ids)
                if i in self._turns and rows.in_scope(scope, self._turns[i].item)
            }
            gone = [i for i in touched if i in self._deleted and i not in heads]
            return Changes(cursor, list(heads.values()), gone)

    def get_many(self, item_ids: Sequence[str]) -> dict[str, MemoryItem]:
        ids = base.check_ids(item_ids)
        with self._open():
            return {item_id: self._turns[item_id].read() for item_id in ids if item_id in self._turns}

    # SupportsAnalysis

    def save_analyses(self, analyses: Sequence[tuple[str, int, Analysis]]) -> int:
        with self._open():
            kept = 0
            for item_id, revision, analysis in analyses:
                turn = self._turns.get(item_id)
                if turn is not None and turn.revision == revision:
                    turn.analysis = analysis
                    kept += 1
            return kept

    def _refuse_known(self, ids: Sequence[str], claims: Iterable[tuple[str, str]], doomed: Sequence[str]) -> None:
        for item_id in ids:
            if item_id in self._turns:
                raise base.duplicate_id(item_id)
        leaving = {i for i in doomed if i in self._turns}.union(ids and set(doomed).intersection(ids))
        for name in claims:
            kept = self._records.get(name)
            if kept is not None and kept.record.item_id not in leaving:
                raise base.duplicate_record(*name)

    def _add(self, item: MemoryItem, metadata: str) -> None:
        self._seq += 1
        stored = replace(item, seq=self._seq, metadata={})
        self._turns[item.id] = rows.Turn(stored, metadata, self._revision)
        self._order[self._seq] = item.id
        for place in rows.places(stored):
            self._places.setdefault(place, {})[self._seq] = item.id

    def _edit(self, item_id: str, content: str | None, metadata: str | None) -> bool:
        turn = self._turns.get(item_id)
        if turn is None or (content is None and metadata is None):
            return turn is not None
        turn.item = replace(
            turn.item, content=turn.item.content if content is None else content, updated_at=base.utc_now()
        )
        turn.metadata = turn.metadata if metadata is None else metadata
        turn.analysis = turn.analysis if content is None else None
        turn.revision = self._revision
        self._log(item_id)
        return True

    def _erase(self, item_ids: Iterable[str]) -> int:
        gone = {item_id for item_id in item_ids if item_id in self._turns}
        for item_id in gone:
            item = self._turns.pop(item_id).item
            del self._order[item.seq]
            for place in rows.places(item):
                self._places[place].pop(item.seq)
                if not self._places[place]:
                    del self._places[place]
            self._deleted.add(item_id)
            self._log(item_id)
        if gone:
            for name in [n for n, kept in self._records.items() if kept.record.item_id in gone]:
                del self._records[name]
        return len(gone)

    def _log(self, item_id: str) -> None:
        self._edited.pop(item_id, None)
        self._edited[item_id] = self._revision

    def _smallest(self, scope: Scope) -> dict[int, str]:
        """The turns of the scope's most selective id."""
        given = [self._places.get((name, value), {}) for name, value in scope.given().items()]
        return min(given, key=len)

    def _inside(self, scope: Scope) -> Sequence[rows.Turn]:
        turns = [self._turns[item_id] for item_id in self._smallest(scope).values()]
        return [turn for turn in turns if rows.in_scope(scope, turn.item)]

    def _among(self, where: Where) -> Iterable[rows.Turn]:
        """The turns of the most selective ids that are asked for, or all where none are."""
        asked = (("user_id", where.user_ids), ("agent_id", where.agent_ids), ("run_id", where.run_ids))
        held: builtins.list[builtins.list[str]] = [
            [item_id for value in values for item_id in self._places.get((name, value), {}).values()]
            for name, values in asked
            if values is not None
        ]
        if not held:
            return self._turns.values()
        fewest = min(held, key=len)
        return [self._turns[item_id] for item_id in fewest]

    def _added_since(self, scope: Scope, seq: int) -> Sequence[str]:
        newest = takewhile(lambda entry: entry[0] > seq, reversed(self._smallest(scope).items()))
        return [item_id for _, item_id in newest][::-1]

    def _edited_since(self, revision: int) -> Sequence[str]:
        newest = takewhile(lambda entry: entry[1] > revision, reversed(self._edited.items()))
        return [item_id for item_id, _ in newest][::-1]
