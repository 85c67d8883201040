"""What every database can hold: text without NUL and lone surrogates, metadata that is JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from llmslim_memory.errors import InvalidTypeError, InvalidValueError

MAX_CONTENT_CHARS = 1 << 20
MAX_METADATA_CHARS = 8 << 20
MAX_DEPTH = 64
REPLACEMENT = "\N{REPLACEMENT CHARACTER}"

_SURROGATE = re.compile("[\ud800-\udfff]")


def clean_text(text: str) -> str:
    """Return ``text`` with NUL and lone surrogates replaced by U+FFFD; surrogates that form a pair are joined."""
    # PostgreSQL cannot hold NUL and UTF-8 no surrogates, so they are replaced here for every store alike.
    if "\x00" in text:
        text = text.replace("\x00", REPLACEMENT)
    if _SURROGATE.search(text):
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def check_content(content: object) -> str:
    """Return ``content`` cleaned, or raise if it is no text or longer than 1,048,576 characters."""
    if not isinstance(content, str):
        raise InvalidTypeError(f"content must be text, not {type(content).__name__}")
    if len(content) > MAX_CONTENT_CHARS:
        raise InvalidValueError(
            f"content has {len(content):,} characters; at most {MAX_CONTENT_CHARS:,} are kept in one turn: split it"
        )
    return clean_text(content)


def check_metadata(metadata: object) -> dict[str, Any]:
    """Return a copy of ``metadata`` as plain JSON data; raise if it is no mapping, no JSON, over 8 MiB as text, or
    nested more than 64 levels deep."""
    if not isinstance(metadata, Mapping):
        raise InvalidTypeError(f"metadata must be a mapping, not {type(metadata).__name__}")
    for key in metadata:
        if not isinstance(key, str):
            raise InvalidTypeError(f"metadata keys must be strings, not {type(key).__name__} ({key!r})")
    try:
        text = json.dumps(dict(metadata), allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidValueError(f"metadata must be JSON data: {error}") from error
    if len(text) > MAX_METADATA_CHARS:
        raise InvalidValueError(
            f"metadata takes {len(text):,} characters as JSON; at most {MAX_METADATA_CHARS:,} are kept"
        )
    if _is_deeper(metadata, MAX_DEPTH):
        # What can be written at the top of a stack cannot be read, copied or sent on everywhere further down.
        raise InvalidValueError(f"metadata is nested more than {MAX_DEPTH} levels deep: flatten it")
    copy: dict[str, Any] = json.loads(text)
    return _clean(copy) if "\\u0000" in text or "\\ud" in text else copy


def _is_deeper(value: Any, levels: int) -> bool:
    if not isinstance(value, dict | list | tuple | Mapping):
        return False
    parts = value.values() if isinstance(value, Mapping) else value
    return levels == 0 or any(_is_deeper(part, levels - 1) for part in parts)


def _clean(value: Any) -> Any:
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, list):
        return [_clean(entry) for entry in value]
    if isinstance(value, dict):
        return {clean_text(key): _clean(entry) for key, entry in value.items()}
    return value
