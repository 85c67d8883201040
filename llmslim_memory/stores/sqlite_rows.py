"""Rows of a SQLite store and the values they stand for."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from llmslim_memory.stores import base
from llmslim_memory.types import Analysis, MemoryItem, Record, Scope, ScopeSummary, TurnHead, Where

Row = tuple[Any, ...]

TURN = "t.id, t.role, c.content, t.created_at, t.seq, t.user_id, t.agent_id, t.run_id, c.metadata, t.updated_at"
HEAD = "t.id, t.role, t.created_at, t.seq, t.user_id, t.agent_id, t.run_id, t.revision"
RECORD = 'kind, key, value, "group", item_id, user_id, agent_id, run_id'
TURN_ROW = "seq, id, role, created_at, updated_at, user_id, agent_id, run_id, revision"
ANALYSIS_ROW = "seq, version, encoding, tokens, data"
TURNS = "llmslim_memory t JOIN llmslim_content c ON c.seq = t.seq"

_HAS_MARKS = """NOT EXISTS (SELECT 1 FROM json_each(?) j WHERE instr(c.metadata, j.key) = 0
    OR NOT EXISTS (SELECT 1 FROM json_each(j.value) jt WHERE instr(c.metadata, jt.value)))"""

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


def in_window(since: datetime | None, until: datetime | None) -> tuple[list[str], list[Any]]:
    """The conditions for turns said at or after ``since`` and before ``until``, and their values."""
    bounds = [(since, "t.created_at >= ?"), (until, "t.created_at < ?")]
    given = [(moment, test) for moment, test in bounds if moment is not None]
    return [test for _, test in given], [to_text(moment) for moment, _ in given]


def meeting(where: Where) -> tuple[str, list[Any]]:
    """The condition for turns that meet ``where``, and its values."""
    tests, values = in_window(where.since, where.until)
    columns = (("user_id", where.user_ids), ("agent_id", where.agent_ids), ("run_id", where.run_ids))
    for name, wanted in (*columns, ("role", where.roles)):
        if wanted is not None:
            tests.append(f"t.{name} IN (SELECT value FROM json_each(?))")
            values.append(json_list(sorted(wanted)))
    if where.metadata:
        tests.append(_HAS_MARKS)
        values.append(json.dumps(base.metadata_marks(where)))
    return " AND ".join(tests) or "TRUE", values


def json_list(values: Iterable[str]) -> str:
    """Values as one parameter, read back in SQL with ``json_each``: no limit on how many."""
    return json.dumps(list(values))
