"""Fields of untrusted records, read by type: a value of another type is as good as missing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Any

from llmslim_memory.types import MAX_ID_CHARS

_SHORT_ID = 200


def text_of(record: Mapping[str, Any], *names: str) -> str | None:
    """The first of the fields ``names`` that holds text other than blanks."""
    for name in names:
        value = record.get(name)
        if isinstance(value, str) and value.strip():
            return value
    return None


def word_of(record: Mapping[str, Any], name: str, default: str = "") -> str:
    """The field's word, such as a type or a role: ``default`` where it is missing, nothing where it is no text."""
    value = record.get(name, default)
    return value if isinstance(value, str) else ""


def object_of(record: Mapping[str, Any], name: str) -> dict[str, Any]:
    """The field's object, or an empty one."""
    value = record.get(name)
    return value if isinstance(value, dict) else {}


def list_of(record: Mapping[str, Any], name: str) -> list[Any]:
    """The field's list, or an empty one."""
    value = record.get(name)
    return value if isinstance(value, list) else []


def id_of(record: Mapping[str, Any], *names: str) -> str | None:
    """The first of the fields ``names`` that holds an id: text, or a number as text; a long one is hashed."""
    for name in names:
        value = record.get(name)
        if isinstance(value, int) and not isinstance(value, bool):
            value = str(value)
        if isinstance(value, str) and value.strip():
            return short_id(value)
    return None


def short_id(value: str) -> str:
    """``value`` if it can be an id as it is, else a hash of it."""
    storable = len(value) <= _SHORT_ID < MAX_ID_CHARS and "\x00" not in value
    if storable and not any("\ud800" <= char <= "\udfff" for char in value):
        return value
    return digest(value)


def digest(*parts: object) -> str:
    """A hash of the parts that is the same in every process."""
    joined = "\x1f".join(repr(part) if not isinstance(part, str) else f"{len(part)}:{part}" for part in parts)
    return sha256(joined.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def joined(texts: Iterable[str]) -> str:
    """The texts that are not blank, as paragraphs."""
    return "\n\n".join(text for text in (text.strip() for text in texts) if text)
