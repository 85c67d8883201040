"""How a MongoDB store writes: numbered, announced, all or nothing.

One document counts the writes and lists those under way. A writer takes its numbers and announces itself in one
atomic step, writes, and takes the announcement back. Readers never let their cursor pass the lowest number announced,
so a write that ends late is not missed. A writer that died is struck from the list after a while; one that was only
slow finds itself struck, and gives what it wrote new numbers before it says that it is done.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import count
from uuid import uuid4

import pymongo
from bson import Int64
from bson.errors import BSONError
from pymongo import ReturnDocument, UpdateOne, WriteConcern
from pymongo.client_session import ClientSession
from pymongo.errors import BulkWriteError, OperationFailure, PyMongoError, ServerSelectionTimeoutError
from pymongo.read_concern import ReadConcern

from llmslim_memory.errors import DuplicateIdError, StoreError
from llmslim_memory.stores import base
from llmslim_memory.stores.mongodb_documents import Document
from llmslim_memory.stores.mongodb_errors import is_temporary, translate
from llmslim_memory.stores.mongodb_plan import Plan, numbered
from llmslim_memory.stores.mongodb_schema import COUNTER, DURABLE, Collections
from llmslim_memory.types import Applied

Session = ClientSession | None

PRESUMED_DEAD = timedelta(minutes=5)
"""How long a write may be under way; MongoDB itself ends transactions after one minute."""

WRITE_SECONDS = 60.0
"""How long one write may take where the client sets no timeout: as long as MongoDB lets a transaction run."""

_NO_TRANSACTIONS = 20


@dataclass(frozen=True, slots=True)
class Announced:
    """A write under way: its token, and the number that all of its own are above."""

    token: str
    after: int


class Writer:
    """Carries out plans.

    Args:
        collections: Where to.
        transactions: Whether the server has them; without, a batch that hits a duplicate id is undone.
    """

    def __init__(self, collections: Collections, *, transactions: bool) -> None:
        self._to = collections
        self._transactions = transactions
        self._client = collections.turns.database.client
        timeout = self._client.options.timeout
        self._patience = WRITE_SECONDS if timeout is None else timeout

    def write(self, plan: Plan) -> Applied:
        """Do all of ``plan``, or nothing."""
        announced = self._announce(plan.size)
        try:
            with pymongo.timeout(self._patience):
                applied = self._whole(plan, announced.after)
        except PyMongoError as error:
            # Where the outcome is unknown the write may yet appear, so its announcement stays until it is struck.
            if not is_temporary(error):
                self._take_back(announced)
            raise
        except (DuplicateIdError, BSONError, UnicodeEncodeError, OverflowError):
            self._take_back(announced)
            raise
        if not self._take_back(announced):
            self._number_again(plan)
        return applied

    def last_number(self) -> int:
        """The highest number given so far."""
        return int(self._counter()["value"])

    def lowest_open(self) -> int:
        """The number that no write still under way, and none to come, is at or below."""
        counter = self._counter()
        cutoff = datetime.now(UTC).replace(tzinfo=None) - PRESUMED_DEAD
        alive = {token: entry for token, entry in counter["open"].items() if entry["at"] > cutoff}
        for token in counter["open"].keys() - alive.keys():
            self._strike(token)
        return min([int(entry["after"]) for entry in alive.values()], default=int(counter["value"]))

    def _counter(self) -> Document:
        counter = self._to.meta.find_one({"_id": COUNTER})
        if counter is None:
            raise _no_counter()
        return counter

    def _announce(self, size: int) -> Announced:
        token = uuid4().hex
        entry = {"after": "$value", "at": datetime.now(UTC)}
        change = [{"$set": {"value": {"$add": ["$value", size]}, f"open.{token}": entry}}]
        counter = self._to.meta.find_one_and_update(
            {"_id": COUNTER}, change, projection={"value": 1}, return_document=ReturnDocument.AFTER
        )
        if counter is None:
            raise _no_counter()
        return Announced(token, int(counter["value"]) - size)

    def _take_back(self, announced: Announced) -> bool:
        """Say that the write is over; whether it still stood in the list. One that stays only costs time."""
        with suppress(PyMongoError):
            return self._strike(announced.token)
        return True

    def _strike(self, token: str) -> bool:
        meta = self._to.meta.with_options(write_concern=WriteConcern(1))
        there = {"_id": COUNTER, f"open.{token}": {"$exists": True}}
        return meta.update_one(there, {"$unset": {f"open.{token}": ""}}).modified_count == 1

    def _number_again(self, plan: Plan) -> None:
        announced = self._announce(1)
        number = announced.after + 1
        self._to.turns.update_many({"_id": {"$in": plan.touched}}, {"$set": {"revision": number}})
        self._to.deleted.update_many({"_id": {"$in": list(plan.deleted)}}, {"$set": {"change": number}})
        if not self._take_back(announced):
            self._number_again(plan)

    def _whole(self, plan: Plan, after: int) -> Applied:
        if self._transactions:
            try:
                return self._in_transaction(plan, after)
            except OperationFailure as error:
                if error.code != _NO_TRANSACTIONS:
                    raise
                self._transactions = False
        return self._undoing(plan, after)

    def _in_transaction(self, plan: Plan, after: int) -> Applied:
        def steps(session: ClientSession) -> Applied:
            try:
                return self._steps(plan, after, session)
            except ServerSelectionTimeoutError as error:
                # PyMongo would start the transaction again and again; the client has waited as long as it was told.
                raise translate(error) from error

        with self._client.start_session() as session:
            return session.with_transaction(steps, read_concern=ReadConcern("snapshot"), write_concern=DURABLE)

    def _undoing(self, plan: Plan, after: int) -> Applied:
        """The steps without a transaction: what can hit a duplicate comes first, and is taken out again if it does."""
        try:
            return self._steps(plan, after, None)
        except (PyMongoError, DuplicateIdError):
            ours = {"$gt": after, "$lte": after + plan.size}
            with suppress(PyMongoError):
                self._to.turns.delete_many({"_id": {"$in": plan.ids}, "seq": ours})
                self._to.records.delete_many({"_id": {"$in": [c["_id"] for c in plan.claims]}, "order": ours})
            raise

    def _steps(self, plan: Plan, after: int, session: Session) -> Applied:
        numbers = count(after + 1)
        self._insert_turns(numbered(plan.turns, numbers, "seq", "revision"), session)
        claims = numbered(plan.claims, numbers, "order")
        if plan.deleted:
            self._refuse_taken(plan, session)
        else:
            self._claim(claims, session)
        edited = sum(self._edit(item_id, change, next(numbers), session) for item_id, change in plan.edits)
        for item_id, change in plan.analyses:
            self._to.turns.update_one({"_id": {"$eq": item_id}}, change, session=session)
        deleted = self._delete(plan.deleted, next(numbers), session) if plan.deleted else 0
        if plan.deleted:
            self._claim(claims, session)
        self._put(numbered(plan.puts, numbers, "order"), session)
        if plan.drops:
            self._to.records.delete_many({"_id": {"$in": list(plan.drops)}}, session=session)
        return Applied(len(plan.turns), edited, deleted)

    def _insert_turns(self, turns: Sequence[Document], session: Session) -> None:
        if not turns:
            return
        try:
            self._to.turns.insert_many(turns, session=session)
        except BulkWriteError as error:
            raise base.duplicate_id(_duplicate(error)["_id"]) from error

    def _claim(self, claims: Sequence[Document], session: Session) -> None:
        if not claims:
            return
        try:
            self._to.records.insert_many(claims, session=session)
        except BulkWriteError as error:
            taken = _duplicate(error)
            raise base.duplicate_record(taken["kind"], taken["key"]) from error

    def _refuse_taken(self, plan: Plan, session: Session) -> None:
        """Refuse claims of records that exist and will not be erased with a turn of this batch."""
        if not plan.claims:
            return
        names = {"_id": {"$in": [claim["_id"] for claim in plan.claims]}}
        taken = self._to.records.find_one({**names, "item_id": {"$nin": list(plan.deleted)}}, session=session)
        if taken is not None:
            raise base.duplicate_record(taken["kind"], taken["key"])

    def _edit(self, item_id: str, change: Document, number: int, session: Session) -> int:
        this = {"_id": {"$eq": item_id}}
        if not change:
            return int(self._to.turns.find_one(this, {"_id": 1}, session=session) is not None)
        [numbered_set] = numbered([change["$set"]], iter([number]), "revision")
        return self._to.turns.update_one(this, {**change, "$set": numbered_set}, session=session).matched_count

    def _delete(self, item_ids: Sequence[str], number: int, session: Session) -> int:
        found = self._to.turns.find({"_id": {"$in": list(item_ids)}}, {"_id": 1}, session=session)
        ids = [turn["_id"] for turn in found]
        if not ids:
            return 0
        # The trace comes first: without transactions, a crash in between must not lose it.
        self._bury(ids, number, session)
        self._to.records.delete_many({"item_id": {"$in": ids}}, session=session)
        return self._to.turns.delete_many({"_id": {"$in": ids}}, session=session).deleted_count

    def _bury(self, ids: Sequence[str], number: int, session: Session) -> None:
        known = [trace["_id"] for trace in self._to.deleted.find({"_id": {"$in": list(ids)}}, session=session)]
        new = [{"_id": item_id, "change": Int64(number)} for item_id in sorted({*ids} - {*known})]
        if known:
            self._to.deleted.update_many({"_id": {"$in": known}}, {"$set": {"change": Int64(number)}}, session=session)
        try:
            if new:
                self._to.deleted.insert_many(new, session=session)
        except BulkWriteError:
            if session is not None:
                raise
            # Another writer deletes the same turns at this moment, and no transaction keeps it apart.
            self._bury(ids, number, session)

    def _put(self, records: Sequence[Document], session: Session) -> None:
        if records:
            self._to.records.bulk_write([_replacing(record) for record in records], session=session)


def _replacing(record: Document) -> UpdateOne:
    """The record in place of an older one, whose place in the order it keeps."""
    fields = {name: value for name, value in record.items() if name not in ("_id", "order")}
    change = {"$set": fields, "$setOnInsert": {"order": record["order"]}}
    return UpdateOne({"_id": record["_id"]}, change, upsert=True)


def _duplicate(error: BulkWriteError) -> Document:
    """The document that was there already; raises ``error`` if that is not what went wrong."""
    failures = error.details.get("writeErrors", [])
    if not failures or failures[0].get("code") != 11000:
        raise error
    document: Document = failures[0]["op"]
    return document


def _no_counter() -> StoreError:
    return StoreError("the _meta collection of this store is gone: restore it from a backup")
