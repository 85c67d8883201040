"""Turns for the tests of the stores."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

from llmslim_memory.types import MemoryItem, Scope

START = datetime(2026, 1, 1, 9, 0, 0, 123457, tzinfo=UTC)
ASHA = Scope(user_id="asha")


def turn(name: str, minutes: int = 0, **fields: Any) -> MemoryItem:
    """A turn of Asha's, its id and content after ``name``."""
    values: dict[str, Any] = {
        "id": name,
        "role": "user",
        "content": f"This is {name}.",
        "created_at": START + timedelta(minutes=minutes),
        "user_id": "asha",
    }
    return MemoryItem(**(values | fields))


def ids(items: Iterable[Any]) -> list[str]:
    return [item.id for item in items]
