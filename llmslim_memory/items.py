"""A stored turn, and whose it is: the ids that a turn, user, agent or run can have."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from typing import Any, TypedDict

from llmslim_memory.errors import InvalidTypeError, InvalidValueError

MAX_ID_CHARS = 512


def check_id(name: str, value: object) -> str:
    """Return ``value`` if it can name a user, agent, run or turn: a non-blank string, without NUL or lone
    surrogates, of at most 512 characters; raise otherwise."""
    if not isinstance(value, str):
        raise InvalidTypeError(f"{name} must be a string, not {type(value).__name__}: pass str({name})")
    if not value.strip():
        raise InvalidValueError(f"{name} is blank ({value!r}): pass a non-empty string, or leave it out")
    if len(value) > MAX_ID_CHARS:
        raise InvalidValueError(f"{name} has {len(value)} characters; at most {MAX_ID_CHARS} are allowed")
    if "\x00" in value or (not value.isascii() and any("\ud800" <= char <= "\udfff" for char in value)):
        raise InvalidValueError(f"{name} holds a NUL or a lone surrogate ({value!r}), which no database can store")
    return value


def _parse_time(value: object) -> datetime | None:
    return None if value is None else datetime.fromisoformat(str(value)).astimezone(UTC)


class ScopeIds(TypedDict):
    """The three ids of a scope as keyword arguments, unset ones as ``None``."""

    user_id: str | None
    agent_id: str | None
    run_id: str | None


@dataclass(frozen=True, slots=True)
class Scope:
    """Whose memory an operation reads or writes: a person, an agent, one session, or a combination.

    Args:
        user_id: The person. ``None`` matches every value when reading, as for the other two.
        agent_id: The agent.
        run_id: One session or run.

    Raises:
        ValueError: None of the three is set (that would be everyone's memory), or one is blank or cannot be stored.
        TypeError: One is not a string.
    """

    user_id: str | None = None
    agent_id: str | None = None
    run_id: str | None = None

    def __post_init__(self) -> None:
        given = self.given()
        if not given:
            raise InvalidValueError(
                "the scope is empty: pass at least one of user_id, agent_id and run_id "
                "(an empty scope would be everyone's memory)"
            )
        for name, value in given.items():
            check_id(name, value)

    def ids(self) -> ScopeIds:
        """The three ids by name, unset ones as ``None``."""
        return ScopeIds(user_id=self.user_id, agent_id=self.agent_id, run_id=self.run_id)

    def given(self) -> dict[str, str]:
        """The ids that are set, by name."""
        ids = (("user_id", self.user_id), ("agent_id", self.agent_id), ("run_id", self.run_id))
        return {name: value for name, value in ids if value is not None}

    def matches(self, user_id: str | None, agent_id: str | None, run_id: str | None) -> bool:
        """Whether a turn stored under these ids lies in this scope."""
        return (
            (self.user_id is None or self.user_id == user_id)
            and (self.agent_id is None or self.agent_id == agent_id)
            and (self.run_id is None or self.run_id == run_id)
        )


@dataclass(frozen=True, slots=True)
class MemoryItem:
    """One stored turn, word for word.

    ``created_at`` and ``updated_at`` are aware UTC times with microseconds. ``seq`` is given by the store and orders
    turns of the same instant by when they were added. ``metadata`` is the caller's, comes back as it was given, and
    is never shown to a model.
    """

    id: str
    role: str
    content: str
    created_at: datetime
    seq: int = 0
    user_id: str | None = None
    agent_id: str | None = None
    run_id: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    updated_at: datetime | None = None

    def copy(self) -> MemoryItem:
        """The same turn, with metadata of its own that can be changed without changing this one's."""
        return MemoryItem(
            self.id,
            self.role,
            self.content,
            self.created_at,
            self.seq,
            self.user_id,
            self.agent_id,
            self.run_id,
            deepcopy(dict(self.metadata)) if self.metadata else {},
            self.updated_at,
        )

    def __reduce__(self) -> tuple[type[MemoryItem], tuple[Any, ...]]:
        # Read back in half the time that it takes field by field.
        times = (self.created_at, self.updated_at)
        ids = (self.user_id, self.agent_id, self.run_id)
        return type(self), (self.id, self.role, self.content, times[0], self.seq, *ids, self.metadata, times[1])

    def to_dict(self) -> dict[str, Any]:
        """The turn as JSON-ready data, times as ISO-8601 text."""
        data = {f.name: getattr(self, f.name) for f in fields(self)}
        data["created_at"] = self.created_at.isoformat()
        data["updated_at"] = None if self.updated_at is None else self.updated_at.isoformat()
        data["metadata"] = dict(self.metadata)
        return data

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> MemoryItem:
        """The turn that :meth:`to_dict` gave, read back."""
        known = {f.name: data[f.name] for f in fields(cls) if f.name in data}
        known["created_at"] = _parse_time(data["created_at"])
        known["updated_at"] = _parse_time(data.get("updated_at"))
        return cls(**known)
