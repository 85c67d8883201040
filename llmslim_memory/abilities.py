"""What a store can do beyond keeping and listing turns: one Protocol an ability, and the values that it takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple, Protocol, runtime_checkable

from llmslim_memory.items import MemoryItem, Scope


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
class Where:
    """Which turns are wanted: all that meet every condition. ``None`` asks nothing; an empty set lets no turn pass.

    Times are ``since <= created_at < until``. ``metadata`` names texts by key: the turn's metadata has one of them
    under that key, or in the list that stands there.
    """

    user_ids: frozenset[str] | None = None
    agent_ids: frozenset[str] | None = None
    run_ids: frozenset[str] | None = None
    roles: frozenset[str] | None = None
    since: datetime | None = None
    until: datetime | None = None
    metadata: Mapping[str, frozenset[str]] = field(default_factory=dict)


@runtime_checkable
class SupportsFind(Protocol):
    """A store whose database looks for turns by their ids, role, time and metadata, so that no others are read."""

    def find(self, where: Where) -> list[MemoryItem]:
        """Turns that meet ``where``, oldest first, ties in the order of adding.

        Ids, roles and times are exact. Where the database cannot tell about metadata, turns may be among them that do
        not meet that part; none that does is ever missing.
        """


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
