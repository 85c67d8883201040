"""Turns, edits, records and analyses as the parameters of PostgreSQL statements, and rows as turns."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, LiteralString

from llmslim_memory.stores import base
from llmslim_memory.stores import postgres_statements as statements
from llmslim_memory.types import Analysis, Batch, Edit, MemoryItem, Record, Where

CHUNK_TURNS = 1_000
CHUNK_CHARS = 8_000_000
"""Most turns, and most characters of content, in one statement."""

Row = tuple[Any, ...]
Columns = Sequence[Sequence[object]]


@dataclass(frozen=True, slots=True)
class Plan:
    """A batch, checked and laid out as columns, in the order in which it is written."""

    ids: Sequence[str]
    added: Sequence[Columns]
    edits: Sequence[Mapping[str, object]]
    analyses: Columns
    deleted: Sequence[str]
    records: Sequence[tuple[LiteralString, Columns]]

    @property
    def is_one_insert(self) -> bool:
        """Whether a single statement does it all."""
        return len(self.added) == 1 and not (self.edits or self.analyses or self.deleted or self.records)


def plan(batch: Batch) -> Plan:
    """Check ``batch`` and lay it out; raise for what cannot be stored before anything is sent."""
    ids = base.check_new(batch.add)
    base.check_claims(batch.claim)
    of_others = [(item_id, None, analysis) for item_id, analysis in batch.analyses.items() if item_id not in set(ids)]
    puts = {(record.kind, record.key): record for record in batch.put}
    records = (
        (statements.CLAIM, _record_columns(batch.claim)),
        (statements.PUT, _record_columns(puts.values())),
        (statements.DROP, _transposed(dict.fromkeys(tuple(name) for name in batch.drop))),
    )
    return Plan(
        ids=ids,
        added=[_turn_columns(chunk, batch.analyses) for chunk in _chunks(batch.add)],
        edits=[edit_values(edit) for edit in batch.edit],
        analyses=analysis_columns(of_others),
        deleted=base.check_ids(batch.delete),
        records=[(statement, columns) for statement, columns in records if columns],
    )


def edit_values(edit: Edit) -> dict[str, object]:
    """The parameters of an edit."""
    return {
        "id": base.check_edit(edit),
        "content": edit.content,
        "metadata": None if edit.metadata is None else base.dump_json(edit.metadata),
        "now": base.utc_now(),
    }


def where_values(where: Where) -> dict[str, object]:
    """The parameters of ``statements.FIND``."""
    sets = {name: getattr(where, name) for name in ("user_ids", "agent_ids", "run_ids", "roles")}
    return {
        **{name: None if wanted is None else sorted(wanted) for name, wanted in sets.items()},
        "since": where.since and base.to_utc(where.since),
        "until": where.until and base.to_utc(where.until),
        "marks": json.dumps(base.metadata_marks(where)),
    }


def analysis_columns(analyses: Iterable[tuple[str, int | None, Analysis]]) -> Columns:
    """The parameters that keep analyses: ids, revisions, versions, data, encodings, token counts."""
    return _transposed((i, revision, a.version, a.data, a.encoding, a.tokens) for i, revision, a in analyses)


def read_turn(row: Row) -> MemoryItem:
    """The turn in a row of ``statements.TURN``."""
    item_id, role, content, created_at, seq, user_id, agent_id, run_id, metadata, updated_at = row
    changed = None if updated_at is None else read_time(updated_at)
    return MemoryItem(
        item_id, role, content, read_time(created_at), seq, user_id, agent_id, run_id, base.load_json(metadata), changed
    )


def read_time(moment: datetime) -> datetime:
    """A time that was selected in UTC."""
    return moment.replace(tzinfo=UTC)


def _chunks(items: Sequence[MemoryItem]) -> Iterator[Sequence[MemoryItem]]:
    chunk: list[MemoryItem] = []
    chars = 0
    for item in items:
        if chunk and (len(chunk) == CHUNK_TURNS or chars + len(item.content) > CHUNK_CHARS):
            yield chunk
            chunk, chars = [], 0
        chunk.append(item)
        chars += len(item.content)
    if chunk:
        yield chunk


def _turn_columns(items: Sequence[MemoryItem], analyses: Mapping[str, Analysis]) -> Columns:
    return _transposed(_turn_row(item, analyses.get(item.id)) for item in items)


def _turn_row(item: MemoryItem, analysis: Analysis | None) -> Row:
    updated_at = None if item.updated_at is None else base.to_utc(item.updated_at)
    kept = (None,) * 4 if analysis is None else (analysis.version, analysis.data, analysis.encoding, analysis.tokens)
    return (
        *(item.id, item.role, item.content, base.to_utc(item.created_at), updated_at),
        *(item.user_id, item.agent_id, item.run_id, base.dump_json(item.metadata), *kept),
    )


def _record_columns(records: Iterable[Record]) -> Columns:
    return _transposed(
        (r.kind, r.key, base.dump_json(r.value), r.group, r.item_id, r.user_id, r.agent_id, r.run_id) for r in records
    )


def _transposed(rows: Iterable[Row]) -> Columns:
    return [list(column) for column in zip(*rows, strict=True)]
