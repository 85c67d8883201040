"""Turns and records as MongoDB documents, and back, nothing lost on the way.

BSON dates end at milliseconds, so a count of microseconds stands beside each; it is what ranges and order go by.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from bson import Binary, Int64

from llmslim_memory.stores import base
from llmslim_memory.types import Analysis, MemoryItem, Record, Scope, ScopeSummary, TurnHead, Where, check_id

Document = dict[str, Any]

ID_NAMES = ("user_id", "agent_id", "run_id")

MAX_DEPTH = 32
"""Deepest metadata kept as a document; MongoDB itself stops at 100 levels."""

HEAD_FIELDS = {"content": 0, "metadata": 0, "metadata_json": 0}
"""What is left out where only a turn's head is asked for."""

BY_SCOPE = {
    "_id": {name: f"${name}" for name in ID_NAMES},
    "turns": {"$sum": 1},
    "first": {"$min": "$at"},
    "last": {"$max": "$at"},
}
"""The groups that :func:`read_summary` reads."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_INT64 = range(-(2**63), 2**63)
_SURROGATE = re.compile("[\ud800-\udfff]")


def to_micros(moment: datetime) -> Int64:
    """Microseconds since 1970, which sort as the times do."""
    return Int64((base.to_utc(moment) - _EPOCH) // _MICROSECOND)


def from_micros(micros: int) -> datetime:
    """The time that :func:`to_micros` was given."""
    return _EPOCH + micros * _MICROSECOND


def within(scope: Scope | None) -> Document:
    """The filter for what lies in ``scope``: values are compared, never read as operators."""
    return {} if scope is None else {name: {"$eq": value} for name, value in scope.given().items()}


def in_window(since: datetime | None, until: datetime | None) -> Document:
    """The filter for turns said at or after ``since`` and before ``until``."""
    bounds = {"$gte": since, "$lt": until}
    given = {name: to_micros(moment) for name, moment in bounds.items() if moment is not None}
    return {"at": given} if given else {}


def meeting(where: Where) -> Document:
    """The filter for turns that meet ``where``; metadata kept as text is not looked into."""
    wanted = {"user_id": where.user_ids, "agent_id": where.agent_ids, "run_id": where.run_ids, "role": where.roles}
    sets = {name: {"$in": sorted(values)} for name, values in wanted.items() if values is not None}
    told = [_under(key, texts) for key, texts in where.metadata.items()]
    return {**sets, **in_window(where.since, where.until), **({"$and": told} if told else {})}


def _under(key: str, texts: Iterable[str]) -> Document:
    kept_as_text = {"metadata_json": {"$exists": True}}
    if not _is_plain_key(key):
        return kept_as_text
    return {"$or": [{f"metadata.{key}": {"$in": sorted(filter(_is_text, texts))}}, kept_as_text]}


def time_fields(name: str, micros_name: str, moment: datetime | None) -> Document:
    """A time as a date that people and tools can read, and to the microsecond."""
    return {} if moment is None else {name: base.to_utc(moment), micros_name: to_micros(moment)}


def metadata_fields(metadata: Mapping[str, Any]) -> Document:
    """Metadata as a document where MongoDB gives it back as it was, as JSON text where it would not."""
    text = base.dump_json(metadata)
    value = json.loads(text)
    return {"metadata": value} if _is_plain(value, MAX_DEPTH) else {"metadata_json": text}


def turn_document(item: MemoryItem, analysis: Analysis | None) -> Document:
    """The document of a new turn; it has no number yet."""
    ids = {name: check_id(name, getattr(item, name)) for name in ID_NAMES if getattr(item, name) is not None}
    return {
        "_id": item.id,
        **ids,
        "role": item.role,
        "content": item.content,
        **time_fields("created_at", "at", item.created_at),
        **time_fields("updated_at", "updated", item.updated_at),
        **metadata_fields(item.metadata),
        **analysis_fields(analysis),
    }


def read_turn(document: Document) -> MemoryItem:
    """The turn in a document."""
    metadata = base.load_json(document["metadata_json"]) if "metadata_json" in document else document["metadata"]
    updated = document.get("updated")
    return MemoryItem(
        id=document["_id"],
        role=document["role"],
        content=document["content"],
        created_at=from_micros(document["at"]),
        seq=int(document["seq"]),
        metadata=metadata,
        updated_at=None if updated is None else from_micros(updated),
        **{name: document.get(name) for name in ID_NAMES},
    )


def read_head(document: Document, version: int | None, encoding: str | None) -> TurnHead:
    """The head of the turn in a document, with the analysis and token count asked for."""
    kept = document.get("analysis", {})
    return TurnHead(
        id=document["_id"],
        role=document["role"],
        created_at=from_micros(document["at"]),
        seq=int(document["seq"]),
        revision=int(document["revision"]),
        analysis=bytes(kept["data"]) if version is not None and kept.get("version") == version else None,
        tokens=kept["tokens"] if encoding is not None and kept.get("encoding") == encoding else None,
        **{name: document.get(name) for name in ID_NAMES},
    )


def read_summary(group: Mapping[str, Any]) -> ScopeSummary:
    """How many turns are stored under one combination of ids, and their times."""
    ids = group["_id"]
    times = from_micros(group["first"]), from_micros(group["last"])
    return ScopeSummary(ids.get("user_id"), ids.get("agent_id"), ids.get("run_id"), group["turns"], *times)


def analysis_fields(analysis: Analysis | None) -> Document:
    """An analysis as the field that is kept beside the turn."""
    if analysis is None:
        return {}
    kept = {
        "version": analysis.version,
        "data": Binary(analysis.data),
        "encoding": analysis.encoding,
        "tokens": analysis.tokens,
    }
    return {"analysis": kept}


def record_id(kind: str, key: str) -> str:
    """The one id that a kind and key make."""
    return json.dumps([kind, key])


def record_fields(record: Record) -> Document:
    """The fields of a record."""
    return {
        "kind": record.kind,
        "key": record.key,
        "value": base.dump_json(record.value),
        "group": record.group,
        "item_id": record.item_id,
        **{name: getattr(record, name) for name in ID_NAMES},
    }


def read_record(document: Document) -> Record:
    """The record in a document."""
    return Record(
        kind=document["kind"],
        key=document["key"],
        value=base.load_json(document["value"]),
        group=document["group"],
        item_id=document["item_id"],
        **{name: document[name] for name in ID_NAMES},
    )


def _is_plain(value: object, depth: int) -> bool:
    """Whether MongoDB stores this JSON value and gives it back unchanged."""
    if depth == 0:
        return False
    if isinstance(value, dict):
        return all(_is_plain_key(key) and _is_plain(item, depth - 1) for key, item in value.items())
    if isinstance(value, list):
        return all(_is_plain(item, depth - 1) for item in value)
    if isinstance(value, str):
        return _is_text(value)
    return not isinstance(value, int) or value in _INT64


def _is_text(value: str) -> bool:
    return not _SURROGATE.search(value)


def _is_plain_key(key: str) -> bool:
    return bool(key) and not key.startswith("$") and "." not in key and "\x00" not in key and _is_text(key)
