"""What the tests of imports share: a memory that counts words, an import, and records to import."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from llmslim_memory import ImportReport, Memory, MemoryItem, import_history


def new_memory(store: Any = None) -> Memory:
    """A memory whose tokens are words: exact counts are not what is tested here."""
    return Memory(store, encoding=lambda text: len(text.split()))


def imported(source: Path, memory: Memory | None = None, **options: Any) -> ImportReport:
    """Import into ``memory``, or into one of its own; that the counts add up is checked for every report there is."""
    return import_history(source, memory or new_memory(), **options)


def turns(memory: Memory) -> list[MemoryItem]:
    """Everything stored, in the order it was added."""
    found: list[MemoryItem] = []
    after: str | None = None
    while True:
        page = memory.scan(after=after)
        found.extend(page.items)
        if page.next is None:
            return found
        after = page.next


def contents(memory: Memory) -> list[str]:
    return [item.content for item in turns(memory)]


def said(source: Path, **options: Any) -> list[str]:
    """What an import of ``source`` into an empty memory stores."""
    memory = new_memory()
    imported(source, memory, **options)
    return contents(memory)


def lines(path: Path, records: Iterable[Mapping[str, Any] | str]) -> Path:
    """Write records as JSON lines; text is written as it is."""
    text = "".join((record if isinstance(record, str) else json.dumps(record)) + "\n" for record in records)
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    return path


def document(path: Path, value: Any) -> Path:
    """Write one JSON document."""
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


def message(content: Any, role: str = "user", **fields: Any) -> dict[str, Any]:
    """A message as generic JSONL has it."""
    return {"role": role, "content": content, **fields}
