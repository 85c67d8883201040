"""Tells formats apart by what the records hold; names of files and first lines say little."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any

from llmslim_memory.importers import chatgpt, claude_ai, claude_code, jsonl, mem0, own
from llmslim_memory.importers.records import Record

FORMATS = (claude_code.FORMAT, chatgpt.FORMAT, claude_ai.FORMAT, mem0.FORMAT, jsonl.FORMAT, own.FORMAT)
"""Names of the formats that can be read; ``"auto"`` tells which."""

WINDOW = 200
"""How many records are looked at: transcripts begin with bookkeeping."""

_SPECIFIC = (
    (own.FORMAT, own.is_header),
    (chatgpt.FORMAT, chatgpt.is_record),
    (claude_ai.FORMAT, claude_ai.is_record),
    (claude_code.FORMAT, claude_code.is_record),
    (mem0.FORMAT, mem0.is_record),
)


def detect(records: Iterable[Record]) -> str | None:
    """The format of a file by its first records; ``None`` if none is recognised."""
    generic = facts = False
    for record in islice(records, WINDOW):
        value = record.value
        if isinstance(value, dict):
            if (found := _format_of(value)) is not None:
                return found
            generic = generic or jsonl.is_record(value)
            facts = facts or mem0.may_be_record(value)
    return jsonl.FORMAT if generic else mem0.FORMAT if facts else None


def _format_of(value: Mapping[str, Any]) -> str | None:
    return next((name for name, matches in _SPECIFIC if matches(value)), None)
