"""Short ways to read what Mem0's API answers."""

from __future__ import annotations

from typing import Any

from llmslim_memory.mem0 import Memory


def texts(answer: Any) -> list[str]:
    """The texts of an answer, a dict or an older release's list."""
    return [entry["memory"] for entry in (answer["results"] if isinstance(answer, dict) else answer)]


def add(memory: Memory, text: str, **scope: Any) -> str:
    """Add one text, of Ann unless another is named, and return its id."""
    return str(memory.add(text, **({"user_id": "ann"} | scope))["results"][0]["id"])
