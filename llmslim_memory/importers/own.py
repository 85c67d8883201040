"""Our own export: a line that says so, then every turn with all its fields, one JSON object a line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from llmslim_memory.importers.outcomes import MALFORMED, Left, Outcomes, Restored
from llmslim_memory.importers.records import Record

FORMAT = "llmslim-memory"
VERSION = 1
HEADER = {"format": FORMAT, "version": VERSION}


def is_header(value: Mapping[str, Any]) -> bool:
    """Whether this is the first line of such an export, of whatever version."""
    return value.get("format") == FORMAT and "version" in value


def read(record: Record, *, tools: bool) -> Outcomes:
    """Yield a turn as it was stored; nothing for the header line."""
    del tools
    value = record.value
    if isinstance(value, dict) and is_header(value):
        if value.get("version") != VERSION:
            yield Left("unsupported", record.where)
    elif isinstance(value, dict):
        yield Restored(value)
    else:
        yield Left(MALFORMED, record.where)
