"""Mem0's memories in every shape it has given them: facts taken from conversations, and turns kept as they were."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, date, datetime
from typing import Any

from llmslim_memory.importers.fields import digest, id_of, list_of, object_of, text_of, word_of
from llmslim_memory.importers.moments import read_moment
from llmslim_memory.importers.outcomes import MALFORMED, Left, Outcome, Outcomes, Session, Turn
from llmslim_memory.importers.records import Record

FORMAT = "mem0"

_TEXTS = ("memory", "data", "text", "content")
_TIMES = ("created_at", "createdAt", "updated_at", "updatedAt")
_USERS, _AGENTS, _RUNS = ("user_id", "userId"), ("agent_id", "agentId"), ("run_id", "runId", "session_id")
_IDS = ("id", "memory_id", "_id")
_KEPT = (
    "categories",
    "structured_attributes",
    "actor_id",
    "app_id",
    "app",
    "attributed_to",
    "memory_type",
    "expiration_date",
    "linked_memory_ids",
    "owner",
)
_CORE = {
    *_TEXTS,
    *_TIMES,
    *_USERS,
    *_AGENTS,
    *_RUNS,
    *_IDS,
    *_KEPT,
    *("role", "hash", "text_lemmatized", "textLemmatized"),
    *("metadata", "attributedTo", "expirationDate", "appId", "score"),
}
LISTS = ("results", "memories", "records")
_HINTS = ("user_id", "agent_id", "app_id", "app", "run_id", "state", "categories", "hash", "userId")
_GONE = frozenset({"deleted", "archived", "paused", "superseded", "expired"})


def is_record(value: Mapping[str, Any]) -> bool:
    """Whether this is a memory of Mem0, or an object around several."""
    if "mapping" in value or "chat_messages" in value:
        return False
    if isinstance(value.get("docstore"), dict):
        return True
    if isinstance(value.get("memory"), str) or isinstance(value.get("payload"), dict):
        return any(name in value for name in (*_IDS, *_HINTS, "created_at", "createdAt", "event"))
    return False


def may_be_record(value: Mapping[str, Any]) -> bool:
    """Whether this can be one where nothing says otherwise: a text with fields that Mem0 has, but of no role."""
    text = text_of(value, "content", "text")
    return text is not None and "role" not in value and any(name in value for name in _HINTS)


def read(record: Record, *, tools: bool) -> Outcomes:
    """Yield the outcome of a memory, or of every memory that an object holds."""
    del tools
    value = record.value
    if record.ends:
        yield from (Left("unsupported") for _ in list_of(record.header, "relations"))
        return
    if not isinstance(value, dict):
        yield Left(MALFORMED, record.where)
    elif isinstance(value.get("docstore"), dict):
        for key, payload in value["docstore"].items():
            yield _outcome({"id": key, "payload": payload}, record)
    elif (inner := next((value[name] for name in LISTS if isinstance(value.get(name), list)), None)) is not None:
        for entry in inner:
            yield _outcome(entry, record)
        yield from (Left("unsupported") for _ in list_of(value, "relations"))
    else:
        yield _outcome(value, record)


def _outcome(entry: Any, record: Record) -> Outcome:
    if not isinstance(entry, dict):
        return Left(MALFORMED, record.where)
    value = _flat(entry)
    reason = _reason(value)
    if reason is not None:
        return Left(reason, record.where)
    text = _text(value) or ""
    metadata = _metadata(value)
    role = value.get("role") or metadata.get("role")
    owner = id_of(object_of(record.header, "user"), "user_id")
    session = Session(
        FORMAT,
        id_of(value, *_RUNS),
        None,
        owner or id_of(value, *_USERS) or id_of(metadata, *_USERS),
        id_of(value, *_AGENTS) or id_of(metadata, *_AGENTS),
    )
    when = next((found for name in _TIMES if (found := read_moment(value.get(name)))), None)
    source_id = id_of(value, *_IDS) or digest(session.user_id, session.session_id, text, str(when))
    return Turn(session, _role(role, value), text.strip(), source_id, when, metadata=metadata)


def _role(role: Any, value: Mapping[str, Any]) -> str:
    """A turn kept as it was has a role and nobody it was attributed to; all else are facts that a model wrote."""
    spoken = role in ("user", "assistant") and not (value.get("attributed_to") or value.get("attributedTo"))
    return str(role) if spoken else "memory"


def _flat(entry: dict[str, Any]) -> dict[str, Any]:
    """A row of a vector database as the memory that its payload holds."""
    payload = entry.get("payload")
    return {**payload, "id": id_of(entry, *_IDS)} if isinstance(payload, dict) else entry


def _text(value: Mapping[str, Any]) -> str | None:
    """The memory's text; an answer to ``add`` wraps it once more."""
    wrapped = object_of(value, "data")
    return text_of(wrapped, "memory") if wrapped else text_of(value, *_TEXTS)


def _reason(value: Mapping[str, Any]) -> str | None:
    if value.get("type") == "user_identity" or "entity_type" in value:
        return "meta"
    if "new_memory" in value or "old_memory" in value:
        return "unsupported"
    if _text(value) is None:
        wrong = any(name in value and not isinstance(value[name], str | dict | None) for name in _TEXTS)
        recognised = any(name in value for name in (*_TEXTS, *_IDS)) or not value
        return MALFORMED if wrong else "empty" if recognised else "unsupported"
    state = word_of(value, "state") in _GONE or word_of(value, "lifecycle_state") in _GONE
    event = word_of(value, "event") in ("DELETE", "NONE")
    return "inactive" if state or event or value.get("replaced_by") or _is_expired(value) else None


def _is_expired(value: Mapping[str, Any]) -> bool:
    last = text_of(value, "expiration_date", "expirationDate")
    try:
        return last is not None and date.fromisoformat(last[:10]) < datetime.now(UTC).date()
    except ValueError:
        return False


def _metadata(value: Mapping[str, Any]) -> dict[str, Any]:
    """What Mem0 kept beside the text: the caller's metadata, and the fields that have no place here."""
    given = value.get("metadata")
    if isinstance(given, str):
        given = _parsed(given)
    own = {key: entry for key, entry in value.items() if key not in _CORE} if "data" in value else {}
    kept = {name: value[name] for name in _KEPT if value.get(name) not in (None, [], {}, "")}
    return {**own, **(given if isinstance(given, dict) else {}), **kept}


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
