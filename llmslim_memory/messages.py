"""Chat messages as frameworks and model APIs write them, read as turns: a role, a text, and what belongs to it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

from llmslim_memory.errors import InvalidTypeError, InvalidValueError
from llmslim_memory.texts import MAX_DEPTH, check_content, check_metadata
from llmslim_memory.times import parse_time
from llmslim_memory.types import check_id

ORIGINAL = "original"
"""The metadata key under which ``keep_original`` keeps content that was not plain text."""

_ROLE = re.compile(r"[a-z][a-z0-9_-]{0,31}")
_NAME = re.compile(r"[\w.-]{1,64}")
_SILENT = frozenset({"thinking", "redacted_thinking", "reasoning"})


class MessageLike(Protocol):
    """Anything with a role and a content; ``timestamp``, ``id`` and ``metadata`` are read where they exist."""

    role: Any
    content: Any


Message = Mapping[str, Any] | MessageLike


@dataclass(frozen=True, slots=True)
class Draft:
    """A message that was checked and can be stored."""

    role: str
    content: str
    timestamp: datetime | None = None
    source_id: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)


def read_messages(messages: Message | Sequence[Message], *, keep_original: bool = False) -> list[Draft]:
    """Check one message or several and return them as drafts.

    Raises:
        ValueError: A role, id, time, content or metadata cannot be stored; the message says which and why.
        TypeError: A message has no role and content, or one of them is of the wrong type.
    """
    if isinstance(messages, Mapping) or _is_message(messages):
        return [_read(messages, keep_original)]
    if isinstance(messages, str | bytes) or not isinstance(messages, Sequence):
        raise InvalidTypeError(
            f"messages must be a message or a list of messages, not {type(messages).__name__}: "
            'pass {"role": "user", "content": "..."}'
        )
    return [_read(message, keep_original) for message in messages]


def check_role(role: object) -> str:
    """Return the role's name if it has the form of one: lower-case letters, digits, ``_`` and ``-``, at most 32."""
    name = getattr(role, "value", role)
    if not isinstance(name, str):
        raise InvalidTypeError(f"role must be a string, not {type(name).__name__}")
    if not _ROLE.fullmatch(name):
        raise InvalidValueError(
            f"role {name[:40]!r} is not usable: pass user, assistant, system, tool or another name of lower-case "
            "letters, digits, _ and - (at most 32 characters)"
        )
    return name


def _is_message(value: object) -> bool:
    return hasattr(value, "role") and hasattr(value, "content")


def _field(message: Any, name: str) -> Any:
    return message.get(name) if isinstance(message, Mapping) else getattr(message, name, None)


def _read(message: Any, keep_original: bool) -> Draft:
    if not isinstance(message, Mapping) and not _is_message(message):
        raise InvalidTypeError(f"a message must have a role and a content; {type(message).__name__} has not")
    for name in ("role", "content"):
        if isinstance(message, Mapping) and name not in message:
            raise InvalidValueError(f"a message lacks its {name!r}: pass {{'role': 'user', 'content': '...'}}")
    content, timestamp, source_id = (_field(message, name) for name in ("content", "timestamp", "id"))
    metadata = check_metadata(_field(message, "metadata") or {})
    if keep_original and not isinstance(content, str):
        metadata |= check_metadata({ORIGINAL: content})
    return Draft(
        role=check_role(_field(message, "role")),
        content=check_content(_text(content, _field(message, "tool_calls"))),
        timestamp=None if timestamp is None else parse_time(timestamp),
        source_id=None if source_id is None else check_id("message id", source_id),
        metadata=metadata,
    )


def _text(content: Any, tool_calls: Any, levels: int = MAX_DEPTH) -> str:
    if isinstance(content, str):
        return content
    calls = [f"[tool call: {_call_name(call)}]" for call in tool_calls] if isinstance(tool_calls, list) else []
    if content is None and calls:
        return "\n".join(calls)
    if isinstance(content, Sequence) and not isinstance(content, bytes | bytearray):
        return "\n".join([part for part in (_block_text(block, levels) for block in content) if part] + calls)
    raise InvalidTypeError(f"content must be text or a list of content blocks, not {type(content).__name__}")


def _call_name(call: Any) -> str:
    function = _field(call, "function")
    return _name(_field(function, "name") if function is not None else _field(call, "name"))


def _name(value: object) -> str:
    found = _NAME.search(value) if isinstance(value, str) else None
    return found.group() if found else "unnamed"


def _block_text(block: Any, levels: int) -> str:
    if isinstance(block, str):
        return block
    kind = _field(block, "type")
    text = _field(block, "text")
    if isinstance(text, str) and kind not in _SILENT:
        return text
    if kind in _SILENT:
        return ""
    if kind in ("tool_use", "function_call"):
        return f"[tool call: {_name(_field(block, 'name'))}]"
    if kind in ("tool_result", "function_call_output"):
        return _result_text(_field(block, "content") or _field(block, "output"), levels - 1)
    if not isinstance(kind, str):
        raise InvalidTypeError(f"a content block must be text or have a type; {type(block).__name__} has not")
    return f"[{_PLACEHOLDERS.get(kind, _name(kind))}]"


_PLACEHOLDERS = {"image_url": "image", "input_image": "image", "input_audio": "audio", "input_file": "file"}


def _result_text(content: Any, levels: int) -> str:
    if content is None:
        return "[tool result]"
    if levels == 0:
        raise InvalidValueError(f"content blocks are nested more than {MAX_DEPTH} levels deep: flatten them")
    return content if isinstance(content, str) else _text(content, None, levels)
