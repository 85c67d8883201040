"""A whole message as JSON text, kept beside the turn that shows its text."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from typing import Any

from langchain_core.messages import BaseMessage, message_to_dict, messages_from_dict

logger = logging.getLogger(__name__)

MAX_PAYLOAD_CHARS = 7 << 20
_MAX_DEPTH = 64


def pack(message: BaseMessage, text: str) -> str:
    """``message`` as JSON text, without its content where that is ``text``, which the turn holds already.

    What JSON cannot hold (a tool's artifact of some class, bytes) is replaced by the name of its type, and what would
    be larger than 7 MiB is left out; both are logged, and the turn is kept.
    """
    data = _dump(message)
    if data["data"].get("content") == text:
        del data["data"]["content"]
    packed = _to_json(data)
    if len(packed) <= MAX_PAYLOAD_CHARS:
        return packed
    logger.warning("a message of %d characters as JSON is kept as its text alone", len(packed))
    return _to_json({"type": message.type, "data": _essentials(message)})


def unpack(packed: object, content: str) -> BaseMessage | None:
    """The message that :func:`pack` was given, or ``None`` if it cannot be read."""
    try:
        stored = json.loads(str(packed))
        stored["data"].setdefault("content", content)
        return messages_from_dict([stored])[0]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        logger.warning("a stored message cannot be read (%s); its text is used", type(error).__name__)
        return None


def _dump(message: BaseMessage) -> dict[str, Any]:
    try:
        return message_to_dict(message)
    except (ValueError, TypeError, RecursionError):
        return {"type": message.type, "data": dict(message.__dict__)}


def _essentials(message: BaseMessage) -> dict[str, Any]:
    kept = {"id": message.id, "name": message.name}
    for field in ("role", "tool_call_id", "status"):
        if hasattr(message, field):
            kept[field] = getattr(message, field)
    return kept


def _to_json(data: dict[str, Any]) -> str:
    try:
        return json.dumps(data, sort_keys=True)
    except (ValueError, TypeError, RecursionError):
        lost: set[str] = set()
        text = json.dumps(_plain(data, lost, depth=0), sort_keys=True)
        logger.warning("a message holds what JSON cannot (%s); it is stored without", ", ".join(sorted(lost)))
        return text


def _plain(value: Any, lost: set[str], depth: int) -> Any:
    if value is None or isinstance(value, str | int | float):
        return value
    if depth < _MAX_DEPTH and isinstance(value, Mapping):
        return {str(key): _plain(entry, lost, depth + 1) for key, entry in value.items()}
    if depth < _MAX_DEPTH and isinstance(value, list | tuple):
        return [_plain(entry, lost, depth + 1) for entry in value]
    name = f"{type(value).__module__}.{type(value).__qualname__}"
    lost.add(name)
    return {"not_stored": name}
