"""Which copy of a ChatGPT conversation says what its branch is, where the files of an export overlap: the latest."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Any

from llmslim_memory.importers import chatgpt
from llmslim_memory.importers.moments import read_moment

MAX_IDS = 1_000_000
"""Ids that are kept at most; of conversations beyond, each copy speaks for itself."""


@dataclass(frozen=True, slots=True)
class _Copy:
    updated: float
    messages: int
    left: frozenset[str]


@dataclass(slots=True)
class Copies:
    """What the latest copy of each conversation leaves out, noted before any of them is read."""

    _latest: dict[str, _Copy] = field(default_factory=dict)
    _ids: int = 0

    def note(self, value: Any) -> None:
        """Note a conversation, if it is one."""
        if not isinstance(value, dict) or not chatgpt.is_record(value) or self._ids >= MAX_IDS:
            return
        talk = chatgpt.Conversation.of(value)
        updated = read_moment(value.get("update_time"))
        left = frozenset(talk.source_id(key) for key in talk.nodes.keys() - set(talk.branch))
        copy = _Copy(updated.timestamp() if updated else 0.0, len(talk.nodes), left)
        known = self._latest.get(talk.id)
        if known is None or (copy.updated, copy.messages) >= (known.updated, known.messages):
            self._latest[talk.id] = copy
            self._ids += 1 + len(left)

    def left_by_latest(self, conversation_id: str) -> AbstractSet[str]:
        """The ids of messages that are on another branch by the latest copy of the conversation."""
        known = self._latest.get(conversation_id)
        return known.left if known else frozenset()
