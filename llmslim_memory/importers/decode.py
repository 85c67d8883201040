"""One record's bytes, decoded within its limits by the standard library's parser."""

from __future__ import annotations

import json
import re
from typing import Any

from llmslim_memory.importers.limits import ImportLimits
from llmslim_memory.importers.outcomes import MALFORMED, TOO_DEEP, TOO_LARGE
from llmslim_memory.importers.scan import is_too_deep

# Control characters inside strings and NaN occur in real exports; NaN is no value that anyone said.
DECODER = json.JSONDecoder(strict=False, parse_constant=lambda _: None)

_WIDEST = re.compile(rb"[\xf0-\xf4]")
_BRACKET, _COMMA, _COLON = 72, 24, 64


class Refused(Exception):  # noqa: N818  # no error of the program: what it says is counted
    """A record cannot be used; ``reason`` says why."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def record_text(data: bytes | bytearray, limits: ImportLimits, *, nested: bool = True) -> str:
    """The record as text, NUL bytes dropped (a crash leaves blocks of them) and broken UTF-8 replaced.

    Args:
        data: The record's bytes.
        limits: What it may take.
        nested: Whether it may nest too deeply; ``False`` where that was looked at before.

    Raises:
        Refused: It has too many characters, would take too much memory, or nests too deeply.
    """
    brackets = data.count(b"[") + data.count(b"{")
    cost = _BRACKET * brackets + _COMMA * data.count(b",") + _COLON * data.count(b":") + _text_cost(data)
    if cost > limits.max_record_cost:
        raise Refused(TOO_LARGE)
    # After the cost, which is counted far faster than the depth.
    if nested and brackets > limits.max_depth and is_too_deep(data, limits.max_depth):
        raise Refused(TOO_DEEP)
    text = data.decode("utf-8", "replace")
    if len(text) > limits.max_record_bytes:
        raise Refused(TOO_LARGE)
    return text.replace("\x00", "") if "\x00" in text else text


def _text_cost(data: bytes | bytearray) -> int:
    """Bytes for the text as one string, which Python holds as wide as its widest character, and for its parts."""
    if data.isascii():
        return 3 * len(data)
    return len(data) * (6 if _WIDEST.search(data) else 4)


def decode(data: bytes | bytearray, limits: ImportLimits, *, nested: bool = True) -> Any:
    """The JSON value that ``data`` holds.

    Raises:
        Refused: It is over a limit, or no JSON.
    """
    try:
        return DECODER.decode(record_text(data, limits, nested=nested))
    except (ValueError, RecursionError) as error:
        raise Refused(MALFORMED) from error
