"""Rows of a SQLite store and the values they stand for."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from llmslim_memory.stores import base
from llmslim_memory.types import Analysis, MemoryItem, Record, Scope, ScopeSummary, TurnHead

Row = tuple[Any, ...]

TURN = "t.id, t.role, c.content, t.created_at, t.seq, t.user_id, t.agent_id, t.run_id, c.metadata, t.updated_at"
HEAD = "t.id, t.role, t.created_at, t.seq, t.user_id, t.agent_id, t.run_id, t.revision"
RECORD = 'kind, key, value, "group", item_id, user_id, agent_id, run_id'
TURN_ROW = "seq, id, role, created_at, updated_at, user_id, agent_id, run_id, revision"
ANALYSIS_ROW = "seq, version, encoding, tokens, data"
TURNS = "llmslim_memory t JOIN llmslim_content c ON c.seq = t.seq"

_parse = datetime.fromisoformat


def to_text(moment: datetime) -> str:
    """A time as UTC text of fixed width, which sorts as the times do."""
    return base.to_utc(moment).replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"


def turn_row(item: MemoryItem, seq: int, revision: int) -> Row:
    """The row of ``llmslim_memory`` for a new turn."""
    updated_at = None if item.updated_at is None else to_text(item.updated_at)
    ids = (item.user_id, item.agent_id, item.run_id)
    return (seq, item.id, item.role, to_text(item.created_at), updated_at, *ids, revision)


def record_row(record: Record) -> Row:
    """The row of ``llmslim_record`` for a record, without its number."""
    ids = (record.user_id, record.agent_id, record.run_id)
    return (record.kind, record.key, base.dump_json(record.value), record.group, record.item_id, *ids)


def analysis_row(analysis: Analysis) -> Row:
    """The row of ``llmslim_analysis`` for a turn, without its number."""
    return (analysis.version, analysis.encoding, analysis.tokens, analysis.data)


def to_item(row: Row) -> MemoryItem:
    """The turn in a row of ``TURN``."""
    item_id, role, content, created_at, seq, user_id, agent_id, run_id, metadata, updated_at = row
    updated = None if updated_at is None else _parse(updated_at)
    return MemoryItem(
        item_id,
        role,
        content,
        _parse(created_at),
        seq,
        user_id,
        agent_id,
        run_id,
        {} if metadata == "{}" else base.load_json(metadata),
        updated,
    )


def to_head(row: Row) -> TurnHead:
    """The head in a row of ``HEAD`` and what follows it."""
    return TurnHead(row[0], row[1], _parse(row[2]), *row[3:])


def to_record(row: Row) -> Record:
    """The record in a row of ``RECORD``."""
    return Record(row[0], row[1], base.load_json(row[2]), *row[3:])


def to_summary(row: Row) -> ScopeSummary:
    """A combination of ids, with its count, first and last time."""
    user_id, agent_id, run_id, turns, first, last = row
    return ScopeSummary(user_id, agent_id, run_id, turns, _parse(first), _parse(last))


def in_scope(scope: Scope, table: str = "") -> tuple[str, list[Any]]:
    """The condition for rows of ``scope`` and its values."""
    given = scope.given()
    return " AND ".join(f"{table}{name} = ?" for name in given), list(given.values())


def json_list(values: Iterable[str]) -> str:
    """Values as one parameter, read back in SQL with ``json_each``: no limit on how many."""
    return json.dumps(list(values))
