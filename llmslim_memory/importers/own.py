"""Our own export: a line that says so, then every turn with all its fields, one JSON object a line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from llmslim_memory.errors import HistoryImportError
from llmslim_memory.importers.outcomes import MALFORMED, Left, Outcomes, Restored
from llmslim_memory.importers.records import Record

FORMAT = "llmslim-memory"
VERSION = 1
HEADER = {"format": FORMAT, "version": VERSION}


def is_header(value: Mapping[str, Any]) -> bool:
    """Whether this is the first line of such an export, of whatever version."""
    return value.get("format") == FORMAT and "version" in value


def read(record: Record, *, tools: bool) -> Outcomes:
    """Yield a turn as it was stored; nothing for the header line.

    Raises:
        HistoryImportError: A newer release wrote the file.
    """
    del tools
    value = record.value
    if isinstance(value, dict) and is_header(value):
        if value.get("version") != VERSION:
            raise HistoryImportError(
                f"its version is {value['version']!r:.20} and {VERSION} is read: use a newer release"
            )
    elif isinstance(value, dict):
        yield Restored(value)
    else:
        yield Left(MALFORMED, record.where)
