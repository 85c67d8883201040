"""Turns in one PostgreSQL table, shared by any number of processes."""

from __future__ import annotations

import builtins
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, LiteralString

from llmslim_memory.errors import DuplicateIdError, MissingExtraError, StoreError
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
    TurnHead,
    Where,
    check_id,
)

try:
    from psycopg.errors import UniqueViolation

    from llmslim_memory.stores import postgres_rows as rows
    from llmslim_memory.stores import postgres_statements as statements
    from llmslim_memory.stores.postgres_connections import Connections, Transaction
    from llmslim_memory.stores.postgres_schema import Tables, prepare
except ModuleNotFoundError as error:
    raise MissingExtraError('PostgresStore needs psycopg: pip install "llmslim-memory[postgres]"') from error


class PostgresStore(base.BatchStore):
    """Turns in one PostgreSQL table; safe over threads, shared by any number of processes.

    The table, and ``<table>_meta``, ``<table>_records`` and ``<table>_deleted`` beside it, are created where they do
    not exist, by one process at a time. A role that may not create tables can use them once they are there. Between
    two statements nothing is kept in the session, so a proxy that pools transactions may stand in front.

    Args:
        conninfo: A URL (``postgresql://user:password@host:5432/database``), for which the store opens a pool and
            closes it in :meth:`close`; a ``psycopg_pool.ConnectionPool``; or one ``psycopg.Connection`` in
            autocommit mode. What is passed in stays open.
        table: Name of the table: letters, digits and underscores, at most 48. One per application or tenant works.
        max_size: Most connections in the pool opened for a URL.
        connect_timeout: Seconds to wait for the server, or for a free connection of that pool.
        statement_timeout: Seconds that one statement may take; ``None`` leaves that to the server's settings.

    Raises:
        StoreUnavailableError: The server cannot be reached.
        StoreError: It refused the login, or the role may not create the tables.
        SchemaError: The tables are of a newer release, or another program's.
        ValueError: The URL cannot be read, or another argument cannot be used.
    """

    def __init__(
        self,
        conninfo: Any,
        *,
        table: str = "llmslim_memory",
        max_size: int = 10,
        connect_timeout: float = 10.0,
        statement_timeout: float | None = None,
    ) -> None:
        self._tables = Tables(table)
        self._texts: dict[LiteralString, bytes] = {}
        self._db = Connections(
            conninfo, max_size=max_size, connect_timeout=connect_timeout, statement_timeout=statement_timeout
        )
        try:
            with self._db.lend() as connection:
                prepare(connection, self._tables)
        except BaseException:
            self._db.close()
            raise

    def close(self) -> None:
        """Close the pool opened for a URL; any later call raises. Closing again does nothing."""
        self._db.close()

    # MemoryStore

    def list(self, scope: Scope, *, since: datetime | None = None, until: datetime | None = None) -> list[MemoryItem]:
        low, high = base.to_window(since, until)
        return self._turns(self._text(statements.LIST, scope), {**scope.given(), "since": low, "until": high})

    def get(self, item_id: str) -> MemoryItem | None:
        found = self._turns(self._text(statements.GET), [check_id("item_id", item_id)])
        return found[0] if found else None

    def update(
        self, item_id: str, *, content: str | None = None, metadata: Mapping[str, Any] | None = None
    ) -> MemoryItem | None:
        if content is None and metadata is None:
            return self.get(item_id)
        found = self._turns(self._text(statements.EDIT), rows.edit_values(Edit(item_id, content, metadata)))
        return found[0] if found else None

    def delete_scope(self, scope: Scope) -> int:
        return self._db.count(self._text(statements.DELETE_SCOPE, scope), scope.given())

    # SupportsScan

    def scan(self, *, scope: Scope | None = None, after: str | None = None, limit: int = 500) -> Page:
        last = 0 if after is None else base.parse_cursor(after)[0]
        values = {**statements.ids_of(scope), "after": last, "limit": base.check_limit(limit) + 1}
        found = self._turns(self._text(statements.SCAN, scope), values)
        return Page(found[:limit], str(found[limit - 1].seq) if len(found) > limit else None)

    def scopes(self) -> builtins.list[ScopeSummary]:
        found = self._db.run(self._text(statements.SCOPES))
        return [ScopeSummary(*row[:4], *map(rows.read_time, row[4:])) for row in found]

    # SupportsFind

    def find(self, where: Where) -> builtins.list[MemoryItem]:
        return self._turns(self._text(statements.FIND), rows.where_values(where))

    # SupportsRecords

    def apply(self, batch: Batch) -> Applied:
        plan = rows.plan(batch)
        try:
            if plan.is_one_insert:
                return Applied(self._db.count(self._text(statements.ADD), plan.added[0]), 0, 0)
            with self._db.transaction() as transaction:
                return self._write(transaction, plan)
        except StoreError as error:
            if isinstance(error.__cause__, UniqueViolation):
                raise self._duplicate(batch) from error.__cause__
            raise

    def records(
        self,
        kind: str,
        *,
        keys: Sequence[str] | None = None,
        group: str | None = None,
        scope: Scope | None = None,
    ) -> builtins.list[Record]:
        values = {
            **statements.ids_of(scope),
            "kind": kind,
            "keys": None if keys is None else list(keys),
            "group": group,
        }
        found = self._db.run(self._text(statements.RECORDS, scope), values)
        return [Record(row[0], row[1], base.load_json(row[2]), *row[3:]) for row in found]

    def tombstones(self, item_ids: Sequence[str]) -> frozenset[str]:
        found = self._db.run(self._text(statements.TOMBSTONES), {"ids": base.check_ids(item_ids)})
        return frozenset(row[0] for row in found)

    # SupportsCopy

    def kinds(self) -> builtins.list[str]:
        return [row[0] for row in self._db.run(self._text(statements.KINDS))]

    def deleted_ids(self, *, after: str | None = None, limit: int = 1000) -> builtins.list[str]:
        values = {"after": after or "", "limit": base.check_limit(limit)}
        return [row[0] for row in self._db.run(self._text(statements.DELETED_IDS), values)]

    # SupportsChanges

    def changes(
        self, scope: Scope, *, after: str | None = None, version: int | None = None, encoding: str | None = None
    ) -> Changes:
        since = None if after is None else str(base.parse_cursor(after)[0])
        query = statements.HEADS if since is None else statements.HEADS_SINCE
        values = {**scope.given(), "after": since, "version": version, "encoding": encoding}
        with self._db.statement() as statement:
            # In this order: what is written between the two statements is at or above the cursor.
            [(cursor, deleted)] = statement.run(self._text(statements.CURSOR), [since])
            found = statement.run(self._text(query, scope), values)
        heads = [TurnHead(row[0], row[1], rows.read_time(row[2]), *row[3:]) for row in found]
        alive = {head.id for head in heads}
        return Changes(cursor, heads, [item_id for item_id in deleted if item_id not in alive])

    def get_many(self, item_ids: Sequence[str]) -> dict[str, MemoryItem]:
        return {item.id: item for item in self._turns(self._text(statements.GET_MANY), [base.check_ids(item_ids)])}

    # SupportsAnalysis

    def save_analyses(self, analyses: Sequence[tuple[str, int, Analysis]]) -> int:
        if not analyses:
            return 0
        return self._db.count(self._text(statements.ANALYSE), rows.analysis_columns(analyses))

    def _turns(self, statement: bytes, values: Mapping[str, object] | Sequence[object]) -> builtins.list[MemoryItem]:
        return [rows.read_turn(row) for row in self._db.run(statement, values)]

    def _text(self, statement: LiteralString, scope: Scope | None = None) -> bytes:
        """The statement with this store's names, and with the condition for ``scope``, in it."""
        whole = statement.replace("{scope}", statements.within(scope))
        if whole not in self._texts:
            self._texts[whole] = self._tables.fill(whole)
        return self._texts[whole]

    def _write(self, transaction: Transaction, plan: rows.Plan) -> Applied:
        added = sum(transaction.count(self._text(statements.ADD), columns) for columns in plan.added)
        edited = sum(self._edit(transaction, edit) for edit in plan.edits)
        if plan.analyses:
            transaction.count(self._text(statements.ANALYSE), plan.analyses)
        deleted = transaction.count(self._text(statements.DELETE), [plan.deleted]) if plan.deleted else 0
        for statement, columns in plan.records:
            transaction.count(self._text(statement), columns)
        return Applied(added, edited, deleted)

    def _edit(self, transaction: Transaction, edit: Mapping[str, object]) -> int:
        if edit["content"] is None and edit["metadata"] is None:
            return len(transaction.run(self._text(statements.GET), [edit["id"]]))
        return transaction.count(self._text(statements.EDIT), edit)

    def _duplicate(self, batch: Batch) -> DuplicateIdError:
        """The error that names what was there already."""
        known = self._db.run(self._text(statements.FIND_IDS), [[item.id for item in batch.add]])
        if known:
            return base.duplicate_id(known[0][0])
        taken = next((r for r in batch.claim if self.records(r.kind, keys=[r.key])), None)
        if taken is not None:
            return base.duplicate_record(taken.kind, taken.key)
        return DuplicateIdError("an id of the batch was stored at the same moment by another writer")
