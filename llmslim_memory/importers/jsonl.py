"""Chat messages as JSON: one an object, or several in an object's ``messages``, in the shapes that model APIs log."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from llmslim_memory.importers.fields import digest, id_of, joined, list_of, object_of, text_of, word_of
from llmslim_memory.importers.moments import read_moment
from llmslim_memory.importers.outcomes import MALFORMED, Left, Outcome, Outcomes, Session, Turn
from llmslim_memory.importers.records import Record, dumps

FORMAT = "jsonl"

_ROLES = {
    **dict.fromkeys(("user", "human", "customer"), "user"),
    **dict.fromkeys(("assistant", "ai", "bot", "model", "gpt", "chatbot"), "assistant"),
}
_REASONS = {
    **dict.fromkeys(("system", "developer"), "system"),
    **dict.fromkeys(("tool", "function", "tool_call", "tool_result"), "tool_output"),
}
_PARTS = {
    **dict.fromkeys(("thinking", "redacted_thinking", "reasoning"), "thinking"),
    **dict.fromkeys(("tool_use", "tool_result", "function_call", "function_call_output"), "tool_output"),
    **dict.fromkeys(("image", "image_url", "input_image", "audio", "input_audio", "file", "input_file"), "attachment"),
}
_TEXT_PARTS = frozenset({"text", "input_text", "output_text"})
_TIMES = ("timestamp", "created_at", "ts", "time", "date", "create_time")
_SESSIONS = ("session_id", "conversation_id", "thread_id", "run_id")


def is_record(value: Mapping[str, Any]) -> bool:
    """Whether this is a chat message, or an object around several."""
    if _role(value) is not None:
        return any(name in value for name in ("content", "text", "value", "tool_calls"))
    inner = _inner(value)
    return inner is not None and any(isinstance(entry, dict) and is_record(entry) for entry in inner)


def read(record: Record, *, tools: bool) -> Outcomes:
    """Yield the outcome of a message, or of every message that an object holds."""
    value = record.value
    if not isinstance(value, dict):
        yield Left(MALFORMED, record.where)
        return
    inner = _inner(value)
    if inner is None or _role(value) is not None:
        yield _outcome(value, record.header, None, record.where, tools)
        return
    when = _moment(value)
    around = {
        **record.header,
        **{key: entry for key, entry in value.items() if key not in ("messages", "conversations")},
    }
    if id_of(around, *_SESSIONS, "id") is None:
        around["session_id"] = f"conversation-{digest(*_opening(inner))}"
    for entry in inner:
        if isinstance(entry, dict):
            when = _moment(entry) or when
            yield _outcome(entry, around, when, record.where, tools)
        else:
            yield Left(MALFORMED, record.where)


def _inner(value: Mapping[str, Any]) -> list[Any] | None:
    for name in ("messages", "conversations"):
        if isinstance(value.get(name), list):
            return list_of(value, name)
    return None


def _opening(messages: list[Any]) -> Iterator[str]:
    """What names a conversation that has no id, however long it grows: its first message."""
    first = next((entry for entry in messages if isinstance(entry, dict)), {})
    yield from (str(_role(first)), str(first.get("content", first.get("value"))))


def _role(value: Mapping[str, Any]) -> str | None:
    role = text_of(value, "role", "from", "sender", "author")
    if role is None:
        role = text_of(object_of(value, "author"), "role")
    return role.strip().lower() if role else None


def _moment(value: Mapping[str, Any]) -> datetime | None:
    return next((when for name in _TIMES if (when := read_moment(value.get(name)))), None)


def _outcome(
    value: Mapping[str, Any], around: Mapping[str, Any], when: datetime | None, where: str, tools: bool
) -> Outcome:
    role = _role(value)
    reason = _REASONS.get(role or "")
    if role not in _ROLES and reason is None:
        return Left(MALFORMED if role is None else "unsupported", where)
    if reason == "system" or (reason is not None and not tools):
        return Left(reason)
    texts, left = _said(value)
    if not texts and tools and (calls := list_of(value, "tool_calls")):
        role, texts, left = "tool", [dumps(call) for call in calls], []
    text = joined(texts)
    if not text:
        content = value.get("content", value.get("text", value.get("value")))
        wrong = not isinstance(content, str | list | None) or not _holds_anything(value)
        return Left(MALFORMED if wrong else left[0] if left else "empty", where)
    session = Session(
        FORMAT,
        id_of(value, *_SESSIONS) or id_of(around, *_SESSIONS) or id_of(around, "id"),
        text_of(around, "title", "name"),
        id_of(value, "user_id") or id_of(around, "user_id"),
        id_of(value, "agent_id") or id_of(around, "agent_id"),
    )
    source_id = id_of(value, "id", "uuid", "message_id")
    return Turn(
        session,
        _ROLES.get(role or "", "tool"),
        text,
        source_id,
        _moment(value) or when,
        local_id=True,
        parts=tuple(left),
    )


def _holds_anything(value: Mapping[str, Any]) -> bool:
    return any(name in value for name in ("content", "text", "value", "tool_calls", "function_call"))


def _said(value: Mapping[str, Any]) -> tuple[list[str], list[str]]:
    content = value.get("content", value.get("text", value.get("value")))
    left = ["tool_output"] if list_of(value, "tool_calls") or object_of(value, "function_call") else []
    if isinstance(content, str):
        return [content], left
    texts: list[str] = []
    for part in content if isinstance(content, list) else []:
        text = part if isinstance(part, str) else _part_text(part)
        if text is not None:
            texts.append(text)
        else:
            kind = word_of(part, "type") if isinstance(part, dict) else ""
            left.append(_PARTS.get(kind, "unsupported"))
    return texts, left


def _part_text(part: Any) -> str | None:
    plain = isinstance(part, dict) and word_of(part, "type", "text") in _TEXT_PARTS
    return text_of(part, "text") if plain else None
