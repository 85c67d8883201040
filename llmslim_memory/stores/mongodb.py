"""Turns in one MongoDB collection, shared by any number of processes."""

from __future__ import annotations

import builtins
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from llmslim_memory.errors import MissingExtraError
from llmslim_memory.stores import base
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
    check_id,
)

try:
    from pymongo import ASCENDING, UpdateOne, WriteConcern

    from llmslim_memory.stores import mongodb_documents as documents
    from llmslim_memory.stores.mongodb_errors import translated
    from llmslim_memory.stores.mongodb_plan import plan
    from llmslim_memory.stores.mongodb_schema import Collections, connect, has_transactions, prepare
    from llmslim_memory.stores.mongodb_writing import Writer
except ModuleNotFoundError as error:
    raise MissingExtraError('MongoStore needs PyMongo: pip install "llmslim-memory[mongodb]"') from error

CHUNK = 250
"""Most turns that one deletion of a scope takes at a time, and most ids in one question."""


class MongoStore(base.BatchStore):
    """Turns in one MongoDB collection; safe over threads, shared by any number of processes.

    The collection, and ``<collection>_meta``, ``<collection>_records`` and ``<collection>_deleted`` beside it, are
    created with their indexes where they do not exist. On a replica set or a sharded cluster each :meth:`add` and
    :meth:`apply` is one transaction, which MongoDB ends after a minute: add a long history in batches. A standalone
    server has no transactions; a batch that fails there is undone. Writes wait until a majority has them in its
    journal, reads go to the primary, and what callers pass is only ever data.

    Args:
        client: A URL (``mongodb://user:password@host:27017/database`` or ``mongodb+srv://...``), for which the store
            opens a client and closes it in :meth:`close`; a ``MongoClient``; or a ``Database``. What is passed in
            stays open.
        database: Name of the database: letters, digits, ``_`` and ``-``. By default the one that the URL or client
            names, else ``llmslim``.
        collection: Name of the collection: letters, digits and underscores. One per application or tenant works.

    Raises:
        StoreUnavailableError: The server cannot be reached.
        StoreError: It refused the login, or the user may not do this.
        SchemaError: The collections are of a newer release, or another program's.
        ValueError: The URL cannot be used, or another argument cannot.
    """

    def __init__(self, client: Any, *, database: str | None = None, collection: str = "llmslim_memory") -> None:
        self._closed = False
        with translated():
            self._own, found = connect(client, database)
        try:
            with translated():
                transactions = has_transactions(found)
                self._in = Collections.of(found, collection, replicated=transactions)
                self._writer = Writer(self._in, transactions=transactions)
                prepare(self._in)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close the client opened for a URL; any later call raises. Closing again does nothing."""
        self._closed = True
        if self._own is not None:
            self._own.close()

    @contextmanager
    def _open(self) -> Iterator[None]:
        if self._closed:
            raise base.closed(self)
        with translated():
            yield

    # MemoryStore

    def list(self, scope: Scope, *, since: datetime | None = None, until: datetime | None = None) -> list[MemoryItem]:
        return self._in_order({**documents.within(scope), **documents.in_window(since, until)})

    def get(self, item_id: str) -> MemoryItem | None:
        found = self._turns({"_id": {"$eq": check_id("item_id", item_id)}})
        return found[0] if found else None

    def update(
        self, item_id: str, *, content: str | None = None, metadata: Mapping[str, Any] | None = None
    ) -> MemoryItem | None:
        if content is not None or metadata is not None:
            self.apply(Batch(edit=[Edit(item_id, content, metadata)]))
        return self.get(item_id)

    def delete_scope(self, scope: Scope) -> int:
        inside = documents.within(scope)
        gone = 0
        with self._open():
            last = self._writer.last_number()
            while found := list(self._in.turns.find({**inside, "seq": {"$lte": last}}, {"_id": 1}).limit(CHUNK)):
                gone += self._writer.write(plan(Batch(delete=[turn["_id"] for turn in found]))).deleted
            self._in.records.delete_many(inside)
        return gone

    # SupportsScan

    def scan(self, *, scope: Scope | None = None, after: str | None = None, limit: int = 500) -> Page:
        last = 0 if after is None else base.parse_cursor(after)[0]
        wanted = {**documents.within(scope), "seq": {"$gt": last}}
        base.check_limit(limit)
        with self._open():
            cursor = self._in.turns.find(wanted).sort("seq", ASCENDING).limit(limit + 1)
            found = [documents.read_turn(turn) for turn in cursor]
        return Page(found[:limit], str(found[limit - 1].seq) if len(found) > limit else None)

    def scopes(self) -> builtins.list[ScopeSummary]:
        with self._open():
            groups = list(self._in.turns.aggregate([{"$group": documents.BY_SCOPE}]))
        summaries = [documents.read_summary(group) for group in groups]
        return sorted(summaries, key=lambda found: [(part is not None, part or "") for part in found[:3]])

    # SupportsFind

    def find(self, where: Where) -> builtins.list[MemoryItem]:
        return self._in_order(documents.meeting(where))

    # SupportsRecords

    def apply(self, batch: Batch) -> Applied:
        with self._open():
            return self._writer.write(plan(batch))

    def records(
        self,
        kind: str,
        *,
        keys: Sequence[str] | None = None,
        group: str | None = None,
        scope: Scope | None = None,
    ) -> builtins.list[Record]:
        wanted: documents.Document = {"kind": {"$eq": kind}, **documents.within(scope)}
        wanted |= {} if keys is None else {"_id": {"$in": [documents.record_id(kind, key) for key in keys]}}
        wanted |= {} if group is None else {"group": {"$eq": group}}
        with self._open():
            found = sorted(self._in.records.find(wanted), key=lambda record: record["order"])
        return [documents.read_record(record) for record in found]

    def tombstones(self, item_ids: Sequence[str]) -> frozenset[str]:
        ids = base.check_ids(item_ids)
        with self._open():
            gone = {found["_id"] for some in _chunks(ids) for found in self._in.deleted.find({"_id": {"$in": some}})}
            return frozenset(gone - self._existing(sorted(gone)))

    # SupportsCopy

    def kinds(self) -> builtins.list[str]:
        with self._open():
            return sorted(self._in.records.distinct("kind"))

    def deleted_ids(self, *, after: str | None = None, limit: int = 1000) -> builtins.list[str]:
        base.check_limit(limit)
        found: builtins.list[str] = []
        last = after or ""
        with self._open():
            while some := [t["_id"] for t in self._in.deleted.find({"_id": {"$gt": last}}).sort("_id").limit(limit)]:
                alive = self._existing(some)
                found += [item_id for item_id in some if item_id not in alive]
                last = some[-1]
                if len(found) >= limit:
                    break
        return found[:limit]

    # SupportsChanges

    def changes(
        self, scope: Scope, *, after: str | None = None, version: int | None = None, encoding: str | None = None
    ) -> Changes:
        since = None if after is None else base.parse_cursor(after)[0]
        inside = documents.within(scope)
        newer = {} if since is None else {"revision": {"$gt": since}}
        with self._open():
            # In this order: what is written after the first question has a number above the cursor.
            cursor = self._writer.lowest_open()
            deleted = [] if since is None else [t["_id"] for t in self._in.deleted.find({"change": {"$gt": since}})]
            found = list(self._in.turns.find({**inside, **newer}, documents.HEAD_FIELDS))
            alive = self._existing(deleted, inside)
        heads = [documents.read_head(turn, version, encoding) for turn in found]
        return Changes(str(cursor), heads, [item_id for item_id in deleted if item_id not in alive])

    def get_many(self, item_ids: Sequence[str]) -> dict[str, MemoryItem]:
        ids = base.check_ids(item_ids)
        return {item.id: item for some in _chunks(ids) for item in self._turns({"_id": {"$in": some}})}

    # SupportsAnalysis

    def save_analyses(self, analyses: Sequence[tuple[str, int, Analysis]]) -> int:
        updates = [
            UpdateOne(
                {"_id": {"$eq": item_id}, "revision": {"$eq": revision}}, {"$set": documents.analysis_fields(analysis)}
            )
            for item_id, revision, analysis in analyses
        ]
        if not updates:
            return 0
        with self._open():
            # An analysis that is lost is made again, so this need not wait for the journal.
            turns = self._in.turns.with_options(write_concern=WriteConcern(1))
            return turns.bulk_write(updates, ordered=False).matched_count

    def _turns(self, wanted: documents.Document) -> builtins.list[MemoryItem]:
        with self._open():
            return [documents.read_turn(turn) for turn in self._in.turns.find(wanted, {"analysis": 0})]

    def _in_order(self, wanted: documents.Document) -> builtins.list[MemoryItem]:
        # Sorted here: the server may sort no more than 100 MB.
        return sorted(self._turns(wanted), key=lambda item: (item.created_at, item.seq))

    def _existing(self, item_ids: Sequence[str], inside: Mapping[str, object] | None = None) -> set[str]:
        """Those of the ids that are stored, within a scope's filter."""
        wanted = dict(inside or {})
        return {
            turn["_id"]
            for some in _chunks(item_ids)
            for turn in self._in.turns.find({**wanted, "_id": {"$in": some}}, {"_id": 1})
        }


def _chunks(ids: Sequence[str]) -> Iterator[Sequence[str]]:
    return (ids[start : start + CHUNK] for start in range(0, len(ids), CHUNK))
