"""How a turn that a reader found becomes one that can be stored: cleaned, redacted, checked, and given its id."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from llmslim_memory.errors import InvalidTypeError, InvalidValueError
from llmslim_memory.importers import own
from llmslim_memory.importers.fields import digest
from llmslim_memory.importers.limits import ImportLimits
from llmslim_memory.importers.outcomes import MALFORMED, TOO_LARGE, Left, Restored, Session, Turn
from llmslim_memory.importers.redact import redact
from llmslim_memory.messages import check_role
from llmslim_memory.texts import check_content, check_metadata, clean_text
from llmslim_memory.times import parse_time
from llmslim_memory.types import MemoryItem, Scope, check_id
from llmslim_memory.writing import derive_id

DEFAULT_USER = "default"
MAX_TITLE = 500
IMPORT = "import"
"""The metadata key under which an imported turn says where it came from."""


@dataclass(frozen=True, slots=True)
class Rules:
    """What an import asks of every turn."""

    user_id: str | None
    agent_id: str | None
    since: datetime | None
    until: datetime | None
    redact: bool
    limits: ImportLimits
    now: datetime


@dataclass(frozen=True, slots=True)
class Prepared:
    """A turn that can be stored, the session it is reported under, and the credentials that were replaced in it."""

    item: MemoryItem
    session: Session
    redactions: Mapping[str, int] = field(default_factory=dict)
    parts: tuple[str, ...] = ()


def owner(session: Session, rules: Rules) -> tuple[Session, Counter[str]]:
    """The session with the user and agent that its turns are stored under, and what was redacted in its title."""
    title, found = _redacted(clean_text(session.title or "")[:MAX_TITLE], rules)
    session_id, in_id = _redacted(session.session_id or "", rules)
    user_id, agent_id = rules.user_id or session.user_id or DEFAULT_USER, rules.agent_id or session.agent_id
    return Session(session.format, session_id or None, title.strip() or None, user_id, agent_id), found + in_id


def prepare(
    turn: Turn, session: Session, last: datetime | None, rules: Rules, count: Callable[[str], int]
) -> Prepared | Left:
    """The turn as it will be stored, or why it will not be.

    Args:
        turn: What a reader found.
        session: Its session, as :func:`owner` gives it.
        last: When the turn before it in its session was said: a turn without a time was said no earlier.
        rules: What the import asks.
        count: Says how often a key was seen: equal messages without ids are told apart by it.
    """
    if len(turn.content) > rules.limits.max_turn_chars:
        return Left(TOO_LARGE)
    content, found = _redacted(clean_text(turn.content).strip(), rules)
    if not content:
        return Left("empty")
    if _is_outside(turn.created_at, rules):
        return Left("outside_window")
    metadata, in_metadata = _redacted_data({**turn.metadata, IMPORT: _origin(turn, session.title)}, rules)
    try:
        kept = check_metadata(metadata)
    except (InvalidValueError, InvalidTypeError):
        return Left(MALFORMED)
    item = MemoryItem(
        id=_id(turn, session, content, count),
        role=turn.role,
        content=content,
        created_at=turn.created_at or last or rules.now,
        user_id=session.user_id,
        agent_id=session.agent_id,
        run_id=session.session_id,
        metadata=kept,
    )
    return Prepared(item, session, found + in_metadata, tuple(turn.parts))


def _redacted(text: str, rules: Rules) -> tuple[str, Counter[str]]:
    return redact(text) if rules.redact else (text, Counter())


def _redacted_data(value: Any, rules: Rules) -> tuple[Any, Counter[str]]:
    """JSON data with the credentials in its texts replaced."""
    if isinstance(value, str):
        return _redacted(value, rules)
    found: Counter[str] = Counter()
    if isinstance(value, list):
        entries = [_redacted_data(entry, rules) for entry in value]
        return [entry for entry, _ in entries], sum((more for _, more in entries), found)
    if isinstance(value, dict):
        fields = [(_redacted(key, rules), _redacted_data(entry, rules)) for key, entry in value.items()]
        return {key: entry for (key, _), (entry, _) in fields}, sum((a + b for (_, a), (_, b) in fields), found)
    return value, found


def _is_outside(when: datetime | None, rules: Rules) -> bool:
    """Whether a turn lies outside of the time window; one without a time counts as inside."""
    if when is None:
        return False
    return (rules.since is not None and when < rules.since) or (rules.until is not None and when >= rules.until)


def _origin(turn: Turn, title: str | None) -> dict[str, Any]:
    origin: dict[str, Any] = {"format": turn.session.format}
    if turn.source_id is not None:
        origin["id"] = turn.source_id
    if title is not None:
        origin["title"] = title
    if turn.created_at is None:
        origin["time"] = "unknown"
    return origin


def _id(turn: Turn, session: Session, content: str, count: Callable[[str], int]) -> str:
    """The id: from the source's own, which names the message in every copy of its session; else from what was said.

    The content is hashed as it is stored, so that an id never depends on a credential.
    """
    scope = Scope(session.user_id, session.agent_id, session.session_id if turn.local_id else None)
    if turn.source_id is not None:
        return derive_id(f"{session.format}:{turn.source_id}", scope)
    key = digest(*scope.ids().values(), session.session_id, turn.role, str(turn.created_at), content)
    return derive_id(f"{session.format}:={key}-{count(key)}", scope)


def restore(turn: Restored, rules: Rules) -> Prepared | Left:
    """A turn of our own export, checked: the file may have been changed by anyone."""
    try:
        item = _read_item(turn.fields)
    except (InvalidValueError, InvalidTypeError):
        return Left(MALFORMED)
    if _is_outside(item.created_at, rules):
        return Left("outside_window")
    moved = _moved(item, rules)
    return Prepared(moved, Session(own.FORMAT, moved.run_id, None, moved.user_id, moved.agent_id))


def _read_item(fields: Mapping[str, Any]) -> MemoryItem:
    ids = {name: fields.get(name) for name in ("user_id", "agent_id", "run_id")}
    scope = Scope(**ids)
    updated = fields.get("updated_at")
    return MemoryItem(
        id=check_id("id", fields.get("id")),
        role=check_role(fields.get("role")),
        content=check_content(fields.get("content")),
        created_at=parse_time(fields.get("created_at")),
        user_id=scope.user_id,
        agent_id=scope.agent_id,
        run_id=scope.run_id,
        metadata=check_metadata(fields.get("metadata") or {}),
        updated_at=None if updated is None else parse_time(updated),
    )


def _moved(item: MemoryItem, rules: Rules) -> MemoryItem:
    """The turn under the user and agent that the import names. Elsewhere it is another turn and has another id."""
    scope = Scope(rules.user_id or item.user_id, rules.agent_id or item.agent_id, item.run_id)
    if (scope.user_id, scope.agent_id) == (item.user_id, item.agent_id):
        return item
    return replace(item, id=derive_id(f"{own.FORMAT}:{item.id}", scope), **scope.ids())
