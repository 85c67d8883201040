"""Stores what is said during agent runs: each message once, however often the agent's state shows it."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage

from langchain_llmslim.converters import METADATA_KEY, message_role, messages_to_turns, source_id, text_digest
from langchain_llmslim.recall import SOURCE
from langchain_llmslim.resend import find_overlap, in_order
from langchain_llmslim.scope import RunScope
from langchain_llmslim.text import message_text
from llmslim_memory import InvalidValueError, Memory, MemoryItem

_MOST_SESSIONS = 128
_ROLES = {"human": "user", "ai": "assistant", "tool": "tool", "system": "system"}


class _Seen(NamedTuple):
    """The turn that a message is stored as, and what the message was like when it was last stored."""

    item_id: str
    fingerprint: int


@dataclass(slots=True)
class _Session:
    """What of a session is known to be stored: digests by turn id, and the messages met by their own ids."""

    digests: dict[str, str] = field(default_factory=dict)
    seen: dict[str, _Seen] = field(default_factory=dict)


class Recorder:
    """Keeps the turns of agent runs. Safe to share between threads; what it remembers only saves work.

    That nothing is stored twice rests on the ids that turns get from their messages. Where a transcript comes without
    the ids it had (no checkpointer, or a client that sends plain dicts), it is compared with what is stored.

    Args:
        roles: Types of messages to store: ``"human"``, ``"ai"``, ``"tool"``, ``"system"``.

    Raises:
        ValueError: A role is none of these.
    """

    def __init__(self, roles: Collection[str]) -> None:
        if unknown := sorted(set(roles) - set(_ROLES)):
            raise InvalidValueError(
                f"roles to record are {', '.join(_ROLES)}; {', '.join(map(repr, unknown))} is none of them"
            )
        self._roles = frozenset(_ROLES[role] for role in roles)
        self._lock = threading.Lock()
        self._sessions: OrderedDict[RunScope, _Session] = OrderedDict()

    def begin(self, memory: Memory, messages: Sequence[BaseMessage], scope: RunScope) -> None:
        """Store what is new at the start of a run."""
        said = self._sayings(messages)
        session = self._cached(scope)
        if session is None or not any(_find(session, message, scope) for message in said):
            items = _own_items(memory, scope)
            session = _Session({item.id: _digest(item) for item in items})
            # Where answers are not stored, a single message cannot be told from one that was answered.
            tells = len(said) > 1 or "assistant" in self._roles
            if tells and not any(_find(session, message, scope) for message in said):
                _match(session, said, items)
            self._keep(scope, session)
        self._store(memory, said, scope, session)

    def record(self, memory: Memory, messages: Sequence[BaseMessage], scope: RunScope) -> None:
        """Store what is new since, and what was edited."""
        session = self._cached(scope)
        if session is None:
            self.begin(memory, messages, scope)
        else:
            self._store(memory, self._sayings(messages), scope, session)

    def turn_ids(self, messages: Sequence[BaseMessage], scope: RunScope) -> list[str]:
        """The ids of the turns that ``messages`` are, or would be, stored as."""
        session = self._cached(scope) or _Session()
        found = ((message, _find(session, message, scope)) for message in messages)
        return [seen.item_id if seen else _item_id(message, scope) for message, seen in found]

    def _sayings(self, messages: Sequence[BaseMessage]) -> list[BaseMessage]:
        return [m for m in messages if message_role(m) in self._roles and was_said(m)]

    def _store(self, memory: Memory, said: Sequence[BaseMessage], scope: RunScope, session: _Session) -> None:
        new = [m for m in said if (seen := _find(session, m, scope)) is None or seen.fingerprint != _fingerprint(m)]
        if not new:
            return
        turns = [{**turn, "id": _name(message)} for turn, message in zip(messages_to_turns(new), new, strict=True)]
        memory.add(turns, **scope.own(), on_conflict="update", revive=False)
        for message in new:
            session.seen[_name(message)] = _Seen(_item_id(message, scope), _fingerprint(message))

    def _cached(self, scope: RunScope) -> _Session | None:
        with self._lock:
            if scope in self._sessions:
                self._sessions.move_to_end(scope)
            return self._sessions.get(scope)

    def _keep(self, scope: RunScope, session: _Session) -> None:
        with self._lock:
            self._sessions[scope] = session
            while len(self._sessions) > _MOST_SESSIONS:
                self._sessions.popitem(last=False)


def was_said(message: BaseMessage) -> bool:
    """Whether somebody said this: it is no summary put in by a middleware, and nothing that memory itself gave."""
    if message.type == "remove" or "lc_source" in message.additional_kwargs:
        return False
    artifact = message.artifact if isinstance(message, ToolMessage) else None
    return not (isinstance(artifact, dict) and artifact.get("source") == SOURCE)


def last_question(memory: Memory, scope: RunScope) -> str:
    """What the user said last in this session, as far as it is stored; empty if nothing is."""
    asked = (item.content for item in reversed(_own_items(memory, scope)) if item.role == "user")
    return next(asked, "")


def _own_items(memory: Memory, scope: RunScope) -> list[MemoryItem]:
    own = scope.own()
    items = memory.get_all(**own)
    return in_order([i for i in items if (i.user_id, i.agent_id, i.run_id) == tuple(own.values())])


def _match(session: _Session, said: Sequence[BaseMessage], items: Sequence[MemoryItem]) -> None:
    overlap = find_overlap(messages_to_turns(said), items)
    for message, item in zip(said[: overlap.length], items[overlap.start :], strict=False):
        session.seen[_name(message)] = _Seen(item.id, _fingerprint(message))


def _find(session: _Session, message: BaseMessage, scope: RunScope) -> _Seen | None:
    seen = session.seen.get(_name(message))
    if seen is None and (digest := session.digests.get(item_id := _item_id(message, scope))) is not None:
        same = digest == text_digest(message_text(message))
        seen = session.seen[_name(message)] = _Seen(item_id, _fingerprint(message) if same else 0)
    return seen


def _item_id(message: BaseMessage, scope: RunScope) -> str:
    return Memory.item_id(_name(message), **scope.own())


def _name(message: BaseMessage) -> str:
    # The agent's state gives every message an id, but keeps one that is blank.
    return source_id(message) or text_digest(f"{message.type}: {message_text(message)}")


def _digest(item: MemoryItem) -> str:
    kept = item.metadata.get(METADATA_KEY)
    # Of the text as it was said: a turn that was corrected since is not set back.
    return str(kept["digest"]) if isinstance(kept, dict) and "digest" in kept else text_digest(item.content)


def _fingerprint(message: BaseMessage) -> int:
    calls = repr(message.tool_calls) if isinstance(message, AIMessage) and message.tool_calls else ""
    return hash((message_text(message), message.type, calls))
