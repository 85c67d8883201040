"""The values that all layers exchange, and the Protocols a store can implement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypedDict, runtime_checkable

from llmslim_memory.errors import InvalidTypeError, InvalidValueError

if TYPE_CHECKING:
    from llmslim_memory.explain import SearchExplanation

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


@dataclass(frozen=True, slots=True)
class RecalledTurn:
    """A stored turn that a search shows.

    ``score`` lies in [0, 1] and says how well the turn matches the question, for ordering and display; ``partial`` is
    true when only a part of the turn is shown.
    """

    item: MemoryItem
    score: float
    partial: bool = False

    def to_dict(self) -> dict[str, Any]:
        """The turn as JSON-ready data."""
        return {"item": self.item.to_dict(), "score": self.score, "partial": self.partial}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> RecalledTurn:
        """The turn that :meth:`to_dict` gave, read back."""
        return cls(MemoryItem.from_dict(data["item"]), float(data["score"]), bool(data["partial"]))


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage that answers a question: the turn it stands in, the text as it would be shown, and a score in [0, 1].

    ``kind`` is ``"turn"`` (the whole turn) or ``"window"`` (a few sentences, a code block or a table of it).
    """

    item: MemoryItem
    text: str
    score: float
    kind: str

    def to_dict(self) -> dict[str, Any]:
        """The hit as JSON-ready data."""
        return {"item": self.item.to_dict(), "text": self.text, "score": self.score, "kind": self.kind}


@dataclass(frozen=True, slots=True)
class MemoryContext:
    """What a search returns: the text to put in front of the model, and what is in it.

    ``text`` is untrusted: it repeats what users, assistants and tools said. Wrap it with
    :class:`~llmslim_memory.ContextEnvelope` before a model sees it. ``tokens`` counts ``text`` and never exceeds
    ``budget``, by the counter that ``counter`` names. ``history_tokens`` is what the contents of all turns searched
    take. ``found`` is false, and ``text`` empty, when nothing in the history bears on the question. ``mode`` is
    ``"whole_history"``, ``"turns"`` or ``"digest"``. ``explanation`` is filled on ``explain=True``.
    """

    query: str
    text: str
    turns: tuple[RecalledTurn, ...]
    tokens: int
    budget: int
    history_tokens: int
    sessions_total: int
    sessions_kept: int
    elapsed_ms: float = 0.0
    requests: tuple[RecalledTurn, ...] = ()
    preferences: tuple[RecalledTurn, ...] = ()
    conflicts: tuple[RecalledTurn, ...] = ()
    explanation: SearchExplanation | None = field(default=None, repr=False)
    found: bool = True
    mode: str = "whole_history"
    counter: str = ""

    @property
    def compressed(self) -> bool:
        """True when the history did not fit the budget, so that a part of it was selected."""
        return self.mode != "whole_history"

    def to_dict(self) -> dict[str, Any]:
        """The context as JSON-ready data."""
        data = {f.name: getattr(self, f.name) for f in fields(self)}
        for name in ("turns", "requests", "preferences", "conflicts"):
            data[name] = [turn.to_dict() for turn in data[name]]
        data["explanation"] = None if self.explanation is None else self.explanation.to_dict()
        data["compressed"] = self.compressed
        return data


class MemoryStore(Protocol):
    """Keeps turns and lists them. Six methods, safe to call from several threads; anything that has them is a store.

    Further abilities are further Protocols (:class:`SupportsScan`, :class:`SupportsRecords`,
    :class:`SupportsChanges`, :class:`SupportsAnalysis`).
    """

    def add(self, items: Sequence[MemoryItem]) -> None:
        """Store new turns, all of them or none. The store gives each its ``seq``, whatever it says.

        Raises:
            DuplicateIdError: An id is stored already, or stands twice in ``items``; nothing was stored.
        """

    def list(self, scope: Scope, *, since: datetime | None = None, until: datetime | None = None) -> list[MemoryItem]:
        """Turns of ``scope`` with ``since <= created_at < until``, oldest first, ties in the order of adding."""

    def get(self, item_id: str) -> MemoryItem | None:
        """The turn with this id, or ``None``."""

    def update(
        self, item_id: str, *, content: str | None = None, metadata: Mapping[str, Any] | None = None
    ) -> MemoryItem | None:
        """Replace a turn's content, its metadata, or both, set ``updated_at``, and return it; ``None`` if unknown."""

    def delete(self, item_id: str) -> bool:
        """Delete one turn with all that is kept beside it; say whether it existed."""

    def delete_scope(self, scope: Scope) -> int:
        """Delete every turn of ``scope`` with all that is kept beside them; say how many there were."""


class Page(NamedTuple):
    """Some of all turns, in the order they were added; pass ``next`` as ``after`` to go on, ``None`` at the end."""

    items: Sequence[MemoryItem]
    next: str | None


class ScopeSummary(NamedTuple):
    """One combination of ids that turns are stored under, how many there are, and the first and last time."""

    user_id: str | None
    agent_id: str | None
    run_id: str | None
    turns: int
    first: datetime
    last: datetime


@runtime_checkable
class SupportsScan(Protocol):
    """A store that can walk over everything it holds: for copy, export, statistics, listing by page."""

    def scan(self, *, scope: Scope | None = None, after: str | None = None, limit: int = 500) -> Page:
        """At most ``limit`` turns of ``scope`` (``None``: of everyone), in the order they were added, after the cursor.

        Raises:
            ValueError: ``after`` is not a cursor that this store gave, or ``limit`` is below 1.
        """

    def scopes(self) -> list[ScopeSummary]:
        """Every combination of ids in use, ordered by user, agent, run (``None`` first)."""


@dataclass(frozen=True, slots=True)
class Record:
    """A small typed record beside the turns: Mem0's history, an idempotency key, an expiry date.

    ``kind`` and ``key`` name it; writing the same pair again replaces it. ``value`` is JSON. A record that names an
    ``item_id`` is erased with that turn; one that names a user, agent or run is erased when every turn of a scope it
    lies in is. ``group`` gathers records that are read together.
    """

    kind: str
    key: str
    value: Mapping[str, Any]
    group: str | None = None
    item_id: str | None = None
    user_id: str | None = None
    agent_id: str | None = None
    run_id: str | None = None


@dataclass(frozen=True, slots=True)
class Edit:
    """A change to a stored turn: new content, new metadata, or both."""

    item_id: str
    content: str | None = None
    metadata: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Analysis:
    """What was worked out about a turn when it was written, kept beside it so that a search need not do it again.

    ``data`` is opaque to the store. ``version`` names the analyser that wrote it. ``tokens`` is the content's token
    count by the encoding named in ``encoding``.
    """

    version: int
    data: bytes
    encoding: str
    tokens: int


@dataclass(frozen=True, slots=True)
class Batch:
    """Writes that happen together in one transaction, all or none, in the order of the fields.

    ``claim`` holds records that must not exist yet, ``put`` records that replace an older one, ``drop`` the kind and
    key of records to remove. ``analyses`` holds, by turn id, what was worked out about turns that are added or edited.
    """

    add: Sequence[MemoryItem] = ()
    edit: Sequence[Edit] = ()
    delete: Sequence[str] = ()
    claim: Sequence[Record] = ()
    put: Sequence[Record] = ()
    drop: Sequence[tuple[str, str]] = ()
    analyses: Mapping[str, Analysis] = field(default_factory=dict)


class Applied(NamedTuple):
    """How many turns a batch added, edited and deleted; unknown ids are not counted."""

    added: int
    edited: int
    deleted: int


@runtime_checkable
class SupportsRecords(Protocol):
    """A store that keeps small records beside the turns and writes both in one transaction."""

    def apply(self, batch: Batch) -> Applied:
        """Do all of ``batch`` in one transaction, or none of it. Edits and deletes of unknown ids do nothing.

        Raises:
            DuplicateIdError: An id in ``add`` is stored already, or a record in ``claim`` exists.
        """

    def records(
        self,
        kind: str,
        *,
        keys: Sequence[str] | None = None,
        group: str | None = None,
        scope: Scope | None = None,
    ) -> list[Record]:
        """Records of one kind, in the order they were first written, narrowed by keys, group and scope."""

    def tombstones(self, item_ids: Sequence[str]) -> frozenset[str]:
        """Those of ``item_ids`` that were deleted and not added again. Only ids are remembered, never content."""


class TurnHead(NamedTuple):
    """All of a turn but its content and metadata, and what was worked out about it.

    ``revision`` grows with every change to the turn. ``analysis`` and ``tokens`` are ``None`` where the store holds
    none of the version and encoding asked for.
    """

    id: str
    role: str
    created_at: datetime
    seq: int
    user_id: str | None
    agent_id: str | None
    run_id: str | None
    revision: int
    analysis: bytes | None = None
    tokens: int | None = None


class Changes(NamedTuple):
    """What changed in a scope: turns added or edited, ids deleted, and the cursor to ask from next time.

    A turn may be named again although nothing changed (its ``revision`` is the same), and ``deleted`` may name turns
    of other scopes; neither is ever missing.
    """

    cursor: str
    heads: Sequence[TurnHead]
    deleted: Sequence[str]


@runtime_checkable
class SupportsChanges(Protocol):
    """A store that can say what changed, so that an index follows it without reading everything again."""

    def changes(
        self, scope: Scope, *, after: str | None = None, version: int | None = None, encoding: str | None = None
    ) -> Changes:
        """What changed in ``scope`` since the cursor ``after`` (``None``: all turns, nothing deleted).

        Every write acknowledged before the call is in it, also one that committed late, after a write with a higher
        number had been seen. ``version`` and ``encoding`` say which analysis and token count to hand over; ``None``:
        none.
        """

    def get_many(self, item_ids: Sequence[str]) -> dict[str, MemoryItem]:
        """The turns with these ids, by id; unknown ids are left out."""


@runtime_checkable
class SupportsAnalysis(Protocol):
    """A store that keeps an :class:`Analysis` beside each turn (an edit of the content or a delete removes it)."""

    def save_analyses(self, analyses: Sequence[tuple[str, int, Analysis]]) -> int:
        """Keep each (turn id, revision, analysis) whose turn still has that revision; say how many were kept.

        This is no change to the turn: its revision stays, and :meth:`SupportsChanges.changes` need not name it.
        """


@runtime_checkable
class SupportsCopy(Protocol):
    """A store that can name all it keeps beside its turns, so that a copy misses nothing."""

    def kinds(self) -> list[str]:
        """The kinds of records there are, sorted."""

    def deleted_ids(self, *, after: str | None = None, limit: int = 1000) -> list[str]:
        """At most ``limit`` ids of turns that were deleted and not added again, sorted, those above ``after``."""
