"""Values that JSON lacks (bytes, NaN, objects), written as JSON and read back."""

from __future__ import annotations

import base64
import logging
import math
from collections.abc import Callable
from pathlib import Path, PurePath
from typing import Any

from llama_index.core.bridge.pydantic import BaseModel
from pydantic_core import PydanticSerializationError, to_jsonable_python

logger = logging.getLogger(__name__)

MAX_DEPTH = 64


def encode(value: Any, *, depth: int = 0) -> Any:
    """``value`` as JSON data that :func:`decode` reads back.

    Dicts, lists, text, numbers, booleans and ``None`` stay as they are; bytes, paths, NaN and infinities are tagged.
    Tuples and sets become lists, models dicts, dates and the like text. Anything else, and what is nested deeper than
    64 levels, becomes a placeholder that names its type, with a warning: the message is kept.
    """
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {"$float": repr(value)}
    if isinstance(value, bytes | bytearray):
        return _encode_bytes(bytes(value))
    if isinstance(value, PurePath):
        return {"$path": str(value)}
    if depth >= MAX_DEPTH:
        return _placeholder(value)
    if isinstance(value, BaseModel):
        return encode(value.model_dump(), depth=depth + 1)
    if isinstance(value, dict):
        data = {str(key): encode(entry, depth=depth + 1) for key, entry in value.items()}
        return {"$dict": data} if any(key.startswith("$") for key in data) else data
    if isinstance(value, list | tuple | set | frozenset):
        return [encode(entry, depth=depth + 1) for entry in value]
    return _encode_object(value)


def decode(value: Any) -> Any:
    """The value that :func:`encode` wrote."""
    if isinstance(value, list):
        return [decode(entry) for entry in value]
    if not isinstance(value, dict):
        return value
    if len(value) == 1:
        ((tag, inner),) = value.items()
        if tag in _DECODERS:
            return _DECODERS[tag](inner)
    return _decode_dict(value)


def _encode_bytes(value: bytes) -> dict[str, str]:
    try:
        return {"$utf8": value.decode()}
    except UnicodeDecodeError:
        return {"$base64": base64.b64encode(value).decode()}


def _encode_object(value: Any) -> Any:
    try:
        return to_jsonable_python(value)
    except (PydanticSerializationError, ValueError, TypeError):
        return _placeholder(value)


def _placeholder(value: Any) -> str:
    logger.warning("a %s cannot be stored with a message; its name is kept in its place", type(value).__name__)
    return f"<{type(value).__name__}>"


def _decode_dict(value: dict[str, Any]) -> dict[str, Any]:
    return {key: decode(entry) for key, entry in value.items()}


_DECODERS: dict[str, Callable[[Any], Any]] = {
    "$utf8": str.encode,
    "$base64": base64.b64decode,
    "$float": float,
    "$path": Path,
    "$dict": _decode_dict,
}
