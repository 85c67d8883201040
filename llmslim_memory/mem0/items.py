"""Memories in Mem0's shapes, and messages as Mem0 reads them."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from hashlib import md5
from typing import Any

from llmslim_memory.mem0.exceptions import ValidationError
from llmslim_memory.mem0.filters import read_time
from llmslim_memory.mem0.scope import APP_AGENT, IDS
from llmslim_memory.texts import check_content, check_metadata
from llmslim_memory.types import MemoryItem

logger = logging.getLogger(__name__)

OWN = "mem0"
"""The metadata key that keeps what Mem0 has a field for and a turn has not."""

IDENTITY = frozenset({*IDS, "actor_id"})
COMPUTED = frozenset({"data", "hash", "role", "updated_at", "text_lemmatized", OWN})
LIFTED = frozenset({"app_id", "actor_id", "attributed_to", "expiration_date"})
FIELDS = IDENTITY | {
    *("id", "memory", "data", "text", "keywords", "memory_ids", "hash", "metadata", "role"),
    *("created_at", "updated_at", "timestamp", "app_id", "attributed_to", "expiration_date"),
}
"""What a filter can name that is not, or not only, metadata."""

_DAY = re.compile(r"\d{4}-\d\d-\d\d")


@dataclass(frozen=True, slots=True)
class Said:
    """A message as it was said: its text, which becomes a memory unless it is blank, and all of it where that is more.

    ``whole`` is ``None`` where role, name and text say everything.
    """

    role: str
    text: str
    name: str | None = None
    whole: Mapping[str, Any] | None = None


def read_messages(messages: Any) -> list[Said]:
    """Messages as Mem0 reads them: system messages, and those that hold nothing, are left out.

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
    return [said for place, message in enumerate(messages) if (said := _read(message, place)) is not None]


def _read(message: Any, place: int) -> Said | None:
    if not isinstance(message, Mapping):
        raise _unusable(f"messages[{place}] must be a dict with role and content", message)
    role, content, name = message.get("role"), message.get("content"), message.get("name")
    if not isinstance(content, str | list | tuple | Mapping | None):
        raise _unusable(f"the content of messages[{place}] must be text or a list of parts", content)
    if not isinstance(role, str) or role == "system":
        return None
    text = check_content(_text(content))
    said = Said(_role_name(role), text, name if isinstance(name, str) and name else None, _whole(message))
    if not text.strip():
        logger.info("a message without text becomes no memory")
    return said if text.strip() or said.whole else None


def _unusable(rule: str, value: object) -> ValidationError:
    return ValidationError(f"{rule}, not {type(value).__name__}", "VALIDATION_003")


def _role_name(role: str) -> str:
    named = "".join(char if char.isascii() and (char.isalnum() or char in "_-") else "-" for char in role.lower())[:32]
    return named if named and named[0].isalpha() else f"role-{named}"[:32]


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    parts = [content] if isinstance(content, Mapping) else content or ()
    return " ".join(filter(None, map(_part, parts)))


def _part(part: Any) -> str:
    if isinstance(part, str):
        return part
    text = part.get("text") if isinstance(part, Mapping) and part.get("type", "text") == "text" else None
    return text if isinstance(text, str) else ""


def _whole(message: Mapping[str, Any]) -> dict[str, Any] | None:
    """The message as JSON data, unless its role, name and text are all there is."""
    said = {name: value for name, value in message.items() if value not in (None, [], {})}
    plain = said.keys() <= {"role", "content", "name"} and isinstance(said.get("content", ""), str)
    if plain and said["role"] == _role_name(said["role"]):
        return None
    text = json.dumps(dict(message), default=str, skipkeys=True)
    return check_metadata(json.loads(text, parse_constant=str))


def clean_metadata(metadata: Any, identity: frozenset[str] = IDENTITY) -> dict[str, Any]:
    """A caller's metadata, copied, without the keys that say whose it is and those that Mem0 keeps for itself."""
    if metadata is None:
        return {}
    copied = check_metadata(metadata)
    if dropped := sorted(identity & copied.keys()):
        logger.warning("metadata cannot set %s: dropped", ", ".join(dropped))
    return {key: value for key, value in copied.items() if key not in identity | COMPUTED}


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
    """What is kept of a memory for Mem0's fields; an imported memory has it among its metadata."""
    kept = item.metadata.get(OWN)
    return kept if isinstance(kept, Mapping) else {name: item.metadata.get(name) for name in LIFTED}


def is_expired(item: MemoryItem) -> bool:
    """Whether a memory's last day is past, in UTC; a date that cannot be read is none."""
    date = own(item).get("expiration_date")
    return isinstance(date, str) and _DAY.match(date) is not None and date[:10] < datetime.now(UTC).date().isoformat()


def payload(item: MemoryItem) -> dict[str, Any]:
    """The flat fields that a filter sees. Whose memory it is never comes from metadata."""
    fields = as_dict(item)
    metadata = {key: value for key, value in (fields.pop("metadata") or {}).items() if key not in IDENTITY}
    names = {"text": item.content, "keywords": item.content, "memory_ids": item.id, "timestamp": fields["created_at"]}
    return {**names, **metadata, **fields, "data": item.content}


def as_dict(item: MemoryItem, **more: Any) -> dict[str, Any]:
    """A memory in Mem0's shape; ids that are not set are left out."""
    kept = own(item)
    hidden = {OWN} if OWN in item.metadata else LIFTED
    metadata = {key: value for key, value in item.metadata.items() if key not in hidden}
    stated = kept.get("created_at")
    created = stated if read_time(stated) == item.created_at else item.created_at.isoformat()
    updated = item.updated_at.isoformat() if item.updated_at else created
    optional = {name: getattr(item, name) for name in IDS} | {
        "app_id": kept.get("app_id"),
        "actor_id": kept.get("actor_id"),
        "role": item.role,
        "attributed_to": kept.get("attributed_to"),
        "expiration_date": kept.get("expiration_date"),
    }
    if item.agent_id is not None and item.agent_id.startswith(APP_AGENT):
        del optional["agent_id"]
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
