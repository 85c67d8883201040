"""The messages of one session, each a turn of the long-term memory that knows whether it is still in the window."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from typing import Any

from llama_index.core.base.llms.types import ChatMessage
from llama_index.memory.llmslim.alignment import align, common_prefix
from llama_index.memory.llmslim.messages import (
    METADATA_KEY,
    chat_messages_to_turns,
    identity,
    turns_to_chat_messages,
)
from llama_index.memory.llmslim.texts import without_recalled

from llmslim_memory import Edit, Memory, MemoryItem

ACTIVE = "active"
"""In the window of the session: the short-term memory."""
ARCHIVED = "archived"
"""Moved out of the window as it overflowed."""
ENDED = "ended"
"""Removed from the session, which was reset or edited; the long-term memory keeps the turn."""

HIDDEN = ("system", "developer")
"""Roles that instruct the model: kept for the session, never recalled as something that was said."""


class Transcript:
    """Reads and writes one session of one user and agent; all methods block."""

    def __init__(self, memory: Memory, *, user_id: str | None, agent_id: str | None, session_id: str | None) -> None:
        self._memory = memory
        self._scope: dict[str, Any] = {"user_id": user_id, "agent_id": agent_id, "run_id": session_id}

    def turns(self, *statuses: str) -> list[MemoryItem]:
        """The turns of these statuses, or all of them, in the order of the conversation."""
        items = _in_order([item for item in self._memory.get_all(**self._scope) if owner(item) == self._scope])
        return [item for item in items if not statuses or status_of(item) in statuses]

    def append(self, messages: Sequence[ChatMessage], *, status: str = ACTIVE) -> None:
        """Store messages that were said now."""
        self._add(_turns(messages, status))

    def record(self, window: Sequence[ChatMessage], *, seen: Sequence[str] = ()) -> list[MemoryItem]:
        """Store those messages of a window that follow the last one stored already; return the turns of the window.

        What stands unknown before a known message was removed, or put in front, and is not being said. What was erased
        from the long-term memory does not come back because the window still holds it: ``seen`` are the fingerprints of
        the window as it was before.
        """
        stored, said = self.turns(), _said(window)
        known = _match([item for item in stored if status_of(item) == ACTIVE], said)
        before = align(seen, _identities(said))
        start = max(_after(known), _after([at for at, place in enumerate(before) if place is not None]))
        return [*known.values(), *self._add(_chained(_turns(said[start:], ACTIVE), stored), revive=False)]

    def known(self, window: Sequence[ChatMessage]) -> list[MemoryItem]:
        """The stored turns that the messages of a window are."""
        return list(_match(self.turns(ACTIVE), _said(window)).values())

    def archive(self, messages: Sequence[ChatMessage], *, seen: Sequence[str] = ()) -> None:
        """Note that messages left the window, and store those that nobody saw while they were in it.

        Unknown ones before what is still in the window were erased, and stay erased, as do those among ``seen``.
        """
        stored, said = self.turns(), _said(messages, echo=True)
        active = [item for item in stored if status_of(item) == ACTIVE]
        known = _match_oldest(active, said)
        start = max(_after(known), common_prefix(seen, _identities(said))) if known or not active else len(said)
        edits = [_marking(item, _extras(item.metadata), ARCHIVED) for item in known.values()]
        self._add(_chained(_turns(said[start:], ARCHIVED), stored), edits=edits, revive=False)

    def replace(self, messages: Sequence[ChatMessage], *, status: str = ACTIVE) -> None:
        """Make the session consist of ``messages``, in one write; those said in it already are not stored again."""
        stored, turns = self.turns(), _turns(messages, status)
        known = _match(stored, turns_to_chat_messages(turns))
        stay = {item.id: _extras(turns[at].get("metadata", {})) for at, item in known.items()}
        edits = [
            _marking(item, stay[item.id], status) if item.id in stay else _marking(item, _extras(item.metadata), ENDED)
            for item in stored
        ]
        self._add(_chained(_anchored(turns, known), stored), edits=edits)

    def mark(self, items: Sequence[MemoryItem], status: str) -> None:
        """Give turns another status, all of them at once."""
        self._add([], edits=[_marking(item, _extras(item.metadata), status) for item in items])

    def forget(self, items: Sequence[MemoryItem]) -> None:
        """Erase turns, from the long-term memory too: all at once, where the store can."""
        self._memory.delete_many([item.id for item in items])

    def _add(
        self, turns: Sequence[Mapping[str, Any]], *, edits: Sequence[Edit | None] = (), revive: bool = True
    ) -> list[MemoryItem]:
        changes = [edit for edit in edits if edit is not None]
        if not turns and not changes:
            return []
        return self._memory.add(list(turns), **self._scope, on_conflict="keep", revive=revive, edits=changes)


def fingerprints(window: Sequence[ChatMessage], *, echo: bool = False) -> tuple[str, ...]:
    """What tells the messages of a window apart, for :meth:`Transcript.record` to compare the next window with."""
    return tuple(_identities(_said(window, echo=echo)))


def up_to_question(window: Sequence[ChatMessage]) -> list[ChatMessage]:
    """The messages of a window up to the last thing the user said: the same all through a run."""
    said = _said(window)
    asked = (at for at in range(len(said), 0, -1) if said[at - 1].role.value == "user")
    return said[: next(asked, 0)]


def status_of(item: MemoryItem) -> str:
    """Whether a turn is ``"active"``, ``"archived"`` or ``"ended"`` in its session."""
    return str(_extras(item.metadata).get("status", ACTIVE))


def owner(item: MemoryItem) -> dict[str, str | None]:
    """The ids that a turn is stored under, to compare exactly: an id left out is no wildcard in a session."""
    return {"user_id": item.user_id, "agent_id": item.agent_id, "run_id": item.run_id}


def _extras(metadata: Mapping[str, Any]) -> dict[str, Any]:
    return dict(metadata.get(METADATA_KEY) or {})


def _marked(metadata: Mapping[str, Any], extras: Mapping[str, Any], status: str) -> dict[str, Any]:
    """``metadata`` with these extras and this status; the usual status and empty extras take no space."""
    kept = {name: value for name, value in extras.items() if name != "status" and value is not None}
    kept |= {} if status == ACTIVE else {"status": status}
    rest = {name: value for name, value in metadata.items() if name != METADATA_KEY}
    return {**rest, METADATA_KEY: kept} if kept else rest


def _marking(item: MemoryItem, extras: Mapping[str, Any], status: str) -> Edit | None:
    """The change that gives a turn these extras and this status; ``None`` if it has them."""
    metadata = _marked(item.metadata, {**extras, "before": _extras(item.metadata).get("before")}, status)
    return Edit(item.id, metadata=metadata) if metadata != item.metadata else None


def _turns(messages: Sequence[ChatMessage], status: str) -> list[dict[str, Any]]:
    """Messages as turns of this status, without what was recalled into them."""
    said = [kept for message in messages if (kept := without_recalled(message)) is not None]
    turns = chat_messages_to_turns(said, hide=HIDDEN)
    return [_with_extras(turn, _extras(turn.get("metadata", {})), status) for turn in turns]


def _with_extras(turn: Mapping[str, Any], extras: Mapping[str, Any], status: str) -> dict[str, Any]:
    metadata = _marked(turn.get("metadata", {}), extras, status)
    return {**turn, "metadata": metadata} if metadata else dict(turn)


def _said(window: Sequence[ChatMessage], *, echo: bool = False) -> list[ChatMessage]:
    """The messages of a window that somebody said; ``echo`` keeps a last one that only repeats the question at hand."""
    said = [kept for message in window if (kept := without_recalled(message)) is not None]
    said = [message for message in said if message.role.value not in HIDDEN]
    return said[:-1] if not echo and _is_echo(said) else said


def _is_echo(said: Sequence[ChatMessage]) -> bool:
    """Whether the last message is the unanswered question once more, which agents hand over beside the history."""
    if not said or said[-1].role != "user":
        return False
    for message in reversed(said[:-1]):
        if message.role == "user":
            return identity(message) == identity(said[-1])
        if message.role == "assistant" and not _calls_tools(message):
            return False
    return False


def _calls_tools(message: ChatMessage) -> bool:
    called = any(block.block_type == "tool_call" for block in message.blocks)
    return called or bool(message.additional_kwargs.get("tool_calls"))


def _after(positions: Iterable[int]) -> int:
    return max((at + 1 for at in positions), default=0)


def _identities(messages: Sequence[ChatMessage]) -> list[str]:
    return [identity(message) for message in messages]


def _match(items: Sequence[MemoryItem], messages: Sequence[ChatMessage]) -> dict[int, MemoryItem]:
    """The turns that messages are, by the position of the message."""
    positions = align(_identities(turns_to_chat_messages(items)), _identities(messages))
    return {at: items[position] for at, position in enumerate(positions) if position is not None}


def _match_oldest(items: Sequence[MemoryItem], messages: Sequence[ChatMessage]) -> dict[int, MemoryItem]:
    """As :func:`_match`, for messages that left the window at its beginning."""
    same = common_prefix(_identities(turns_to_chat_messages(items)), _identities(messages))
    return dict(enumerate(items[:same])) if same == min(len(items), len(messages)) else _match(items, messages)


def _chained(turns: Sequence[Mapping[str, Any]], stored: Sequence[MemoryItem]) -> list[dict[str, Any]]:
    """Turns with ids that follow from what was said before, so that two who see the same window store it once."""
    after = stored[-1].id if stored else ""
    named = []
    for turn in turns:
        extras = _extras(turn.get("metadata", {}))
        said = [after, turn["role"], turn["content"], extras.get("blocks"), extras.get("additional_kwargs")]
        after = sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()[:32]
        named.append({**turn, "id": after})
    return named


def _anchored(turns: Sequence[Mapping[str, Any]], known: Mapping[int, MemoryItem]) -> list[dict[str, Any]]:
    """The turns that are not known, each naming the known turn that it stands before, if any."""
    new: list[dict[str, Any]] = []
    before: str | None = None
    for at in reversed(range(len(turns))):
        if at in known:
            before = known[at].id
        else:
            extras = _extras(turns[at].get("metadata", {}))
            new.append(_with_extras(turns[at], {**extras, "before": before}, str(extras.get("status", ACTIVE))))
    return new[::-1]


def _in_order(items: Sequence[MemoryItem]) -> list[MemoryItem]:
    """Turns as they were said, those that were put in front of another one at that place."""
    ids = {item.id for item in items}
    anchors = {item.id: anchor for item in items if (anchor := _extras(item.metadata).get("before")) in ids}
    ordered = [item for item in items if item.id not in anchors]
    for item in items:
        if item.id in anchors:
            place = next(at for at, other in enumerate(ordered) if other.id == anchors[item.id])
            ordered.insert(place, item)
    return ordered
