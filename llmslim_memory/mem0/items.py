"""Memories in Mem0's shapes, and messages as Mem0 reads them."""

from __future__ import annotations

import copy
import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from hashlib import md5
from typing import Any

from llmslim_memory.mem0.exceptions import ValidationError
from llmslim_memory.mem0.scope import IDS
from llmslim_memory.texts import check_content, check_metadata
from llmslim_memory.types import MemoryItem

logger = logging.getLogger(__name__)

OWN = "mem0"
"""The metadata key that keeps what Mem0 has a field for and a turn has not."""

IDENTITY = frozenset({*IDS, "actor_id"})
COMPUTED = frozenset({"data", "hash", "role", "updated_at", "text_lemmatized", OWN})


@dataclass(frozen=True, slots=True)
class Said:
    """A message that becomes a memory."""

    role: str
    text: str
    name: str | None
    raw: Mapping[str, Any]


def read_messages(messages: Any) -> list[Said]:
    """The messages that become memories, as Mem0 reads them: system messages and those without text are left out.

    Raises:
        ValidationError: It is neither text, nor a message, nor a list of messages.
    """
    if isinstance(messages, str):
        messages = [{"role": "user", "content": messages}]
    elif isinstance(messages, Mapping):
        messages = [messages]
    if not isinstance(messages, list):
        raise ValidationError(
            "messages must be str, dict, or list[dict]",
            "VALIDATION_003",
            {"provided_type": type(messages).__name__},
            "Convert your input to a string, dictionary, or list of dictionaries.",
        )
    for place, message in enumerate(messages):
        if not isinstance(message, Mapping):
            raise ValidationError(
                f"messages[{place}] must be a dict with role and content, not {type(message).__name__}",
                "VALIDATION_003",
            )
    return [said for message in messages if (said := _read(message)) is not None]


def _read(message: Mapping[str, Any]) -> Said | None:
    role, text = message.get("role"), _text(message.get("content"))
    if not isinstance(role, str) or role == "system":
        return None
    if not text.strip():
        logger.info("a message without text was left out")
        return None
    name = message.get("name")
    return Said(_role_name(role), check_content(text), name if isinstance(name, str) else None, _json(message))


def _role_name(role: str) -> str:
    named = "".join(char if char.isascii() and (char.isalnum() or char in "_-") else "-" for char in role.lower())[:32]
    return named if named and named[0].isalpha() else f"role-{named}"[:32]


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return " ".join(filter(None, map(_part, content)))
    return ""


def _part(part: Any) -> str:
    if isinstance(part, str):
        return part
    text = part.get("text") if isinstance(part, Mapping) and part.get("type", "text") == "text" else None
    return text if isinstance(text, str) else ""


def _json(value: Any) -> Any:
    return json.loads(json.dumps(value, default=str))


def clean_metadata(metadata: Any) -> dict[str, Any]:
    """A caller's metadata, copied, without the keys that Mem0 keeps for itself."""
    if metadata is None:
        return {}
    copied = check_metadata(copy.deepcopy(metadata))
    if dropped := sorted(IDENTITY & copied.keys()):
        logger.warning("metadata cannot set %s: dropped", ", ".join(dropped))
    return {key: value for key, value in copied.items() if key not in IDENTITY | COMPUTED}


def expiration(value: Any) -> str | None:
    """An expiry date as ``YYYY-MM-DD``."""
    if value is None:
        return None
    if isinstance(value, datetime):
        value = value.date()
    if isinstance(value, date):
        return value.isoformat()
    try:
        return datetime.strptime(str(value), "%Y-%m-%d").replace(tzinfo=UTC).date().isoformat()
    except ValueError:
        raise ValidationError("expiration_date must be a valid date in YYYY-MM-DD format.") from None


def text_hash(text: str) -> str:
    """Mem0's ``hash`` of a memory: the MD5 of its text, for comparing, not for safety."""
    return md5(text.encode(), usedforsecurity=False).hexdigest()


def own(item: MemoryItem) -> Mapping[str, Any]:
    """What is kept of a memory for Mem0's fields."""
    kept = item.metadata.get(OWN)
    return kept if isinstance(kept, Mapping) else {}


def payload(item: MemoryItem) -> dict[str, Any]:
    """The flat fields that a filter sees."""
    fields = as_dict(item)
    metadata = fields.pop("metadata") or {}
    return {**metadata, **fields, "data": item.content}


def as_dict(item: MemoryItem, **more: Any) -> dict[str, Any]:
    """A memory in Mem0's shape; ids that are not set are left out."""
    kept = own(item)
    metadata = {key: value for key, value in item.metadata.items() if key != OWN}
    created = kept.get("created_at") or item.created_at.isoformat()
    updated = item.updated_at.isoformat() if item.updated_at else created
    optional = {name: getattr(item, name) for name in IDS} | {
        "app_id": kept.get("app_id"),
        "actor_id": kept.get("actor_id"),
        "role": item.role,
        "attributed_to": kept.get("attributed_to"),
        "expiration_date": kept.get("expiration_date"),
    }
    return {
        "id": item.id,
        "memory": item.content,
        "hash": text_hash(item.content),
        "metadata": metadata or None,
        "created_at": created,
        "updated_at": updated,
        **{name: value for name, value in optional.items() if value is not None},
        **more,
    }
