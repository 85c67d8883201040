"""The values that all layers exchange, and the Protocols a store can implement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import TYPE_CHECKING, Any, Protocol

from llmslim_memory.abilities import (
    Analysis,
    Applied,
    Batch,
    Changes,
    Edit,
    Page,
    Record,
    ScopeSummary,
    SupportsAnalysis,
    SupportsChanges,
    SupportsCopy,
    SupportsFind,
    SupportsRecords,
    SupportsScan,
    TurnHead,
    Where,
)
from llmslim_memory.items import MAX_ID_CHARS, MemoryItem, Scope, ScopeIds, check_id

if TYPE_CHECKING:
    from llmslim_memory.explain import SearchExplanation

__all__ = [
    "MAX_ID_CHARS",
    "Analysis",
    "Applied",
    "Batch",
    "Changes",
    "Edit",
    "Hit",
    "MemoryContext",
    "MemoryItem",
    "MemoryStore",
    "Page",
    "RecalledTurn",
    "Record",
    "Scope",
    "ScopeIds",
    "ScopeSummary",
    "SupportsAnalysis",
    "SupportsChanges",
    "SupportsCopy",
    "SupportsFind",
    "SupportsRecords",
    "SupportsScan",
    "TurnHead",
    "Where",
    "check_id",
]


@dataclass(frozen=True, slots=True)
class RecalledTurn:
    """A stored turn that a search shows.

    ``score`` lies in [0, 1] and says how well the turn matches the question, for ordering and display; ``partial`` is
    true when only a part of the turn is shown.
    """

    item: MemoryItem
    score: float
    partial: bool = False

    def __reduce__(self) -> tuple[type[RecalledTurn], tuple[MemoryItem, float, bool]]:
        # As for MemoryItem: workers send many of them.
        return type(self), (self.item, self.score, self.partial)

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

    Further abilities are further Protocols (:class:`SupportsScan`, :class:`SupportsFind`, :class:`SupportsRecords`,
    :class:`SupportsChanges`, :class:`SupportsAnalysis`, :class:`SupportsCopy`).
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
