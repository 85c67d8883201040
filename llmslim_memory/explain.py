"""Why a search returned what it did: plain values that name turns by id and never repeat stored text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from typing import Any

from llmslim_memory.drawing import draw_html


@dataclass(frozen=True, slots=True)
class ExplainedCandidate:
    """One candidate that a search ranked: a turn, a part of one, or a statement for a section.

    ``pool`` is what it competed in: ``"user"``, ``"reply"`` (replies, system and tool turns), ``"detail"`` (reply
    passages kept whole in a summary), or a section's name. ``kind`` is ``"turn"``, ``"window"``, ``"opening"`` or
    ``"statement"``; ``part`` is the window's or statement's position in its turn, else 0. ``rank`` (1 is best) and
    ``score`` are its place and relevance in its pool, ``None`` when nothing was ranked. ``tokens`` is its own size,
    without label or bullet. ``status`` is ``"kept"``, ``"clipped"`` or ``"dropped"`` and ``reason`` says why it was
    clipped or dropped. ``side`` is ``"denies"`` or ``"affirms"`` for a statement that the conflicts section weighed.
    """

    turn_id: str
    pool: str
    kind: str
    part: int
    rank: int | None
    score: float | None
    tokens: int
    status: str
    reason: str | None = None
    side: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """The candidate as JSON-ready data."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> ExplainedCandidate:
        """The candidate that :meth:`to_dict` gave, read back."""
        return cls(**{f.name: data[f.name] for f in fields(cls)})


def _candidates(data: Mapping[str, Any]) -> tuple[ExplainedCandidate, ...]:
    return tuple(ExplainedCandidate.from_dict(c) for c in data["candidates"])


@dataclass(frozen=True, slots=True)
class ExplainedSection:
    """What a search did with one section above the turns: ``"requests"``, ``"preferences"`` or ``"conflicts"``.

    ``shown`` says whether it stands in the text, ``reason`` why not. ``cap`` is the most of the budget that its
    statements may take (its best one may take more on a small budget), 0 when it was not built. ``tokens`` is what it
    takes, header and the blank line after it included; ``share`` is ``tokens`` over the budget. ``candidates`` are the
    statements weighed, best first.
    """

    name: str
    shown: bool
    reason: str | None
    cap: int
    tokens: int
    share: float
    candidates: tuple[ExplainedCandidate, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The section as JSON-ready data."""
        return asdict(self) | {"candidates": [c.to_dict() for c in self.candidates]}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> ExplainedSection:
        """The section that :meth:`to_dict` gave, read back."""
        return cls(**{f.name: data[f.name] for f in fields(cls)} | {"candidates": _candidates(data)})


@dataclass(frozen=True, slots=True)
class ExplainedTurn:
    """What a search did with one stored turn of its scope.

    ``session`` counts the sessions read, oldest first, ``None`` outside the time window. ``pool`` is ``"user"`` or
    ``"reply"`` when turns were selected from, else ``None``. ``tokens`` is what its block takes in the text, the line
    break after it included; ``share`` is ``tokens`` over the budget, 0 for a dropped turn. ``status`` and ``reason``
    are as on :class:`ExplainedCandidate`; a dropped reply carries the reason of its best window.
    """

    id: str
    role: str
    created_at: datetime
    session: int | None
    pool: str | None
    status: str
    reason: str | None
    tokens: int
    share: float
    candidates: tuple[ExplainedCandidate, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The turn as JSON-ready data, its time as ISO-8601 text."""
        return asdict(self) | {
            "created_at": self.created_at.isoformat(),
            "candidates": [c.to_dict() for c in self.candidates],
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> ExplainedTurn:
        """The turn that :meth:`to_dict` gave, read back."""
        created_at = datetime.fromisoformat(data["created_at"]).astimezone(UTC)
        values = {f.name: data[f.name] for f in fields(cls)}
        return cls(**values | {"created_at": created_at, "candidates": _candidates(data)})


@dataclass(frozen=True, slots=True)
class SearchExplanation:
    """Why a search returned what it did, from what it decided.

    ``mode`` is ``"whole_history"``, ``"turns"`` or ``"digest"``; ``route`` the kind of question (``"lookup"``,
    ``"advice"``, ``"overview"``, ``"other"``), ``None`` when the whole history fit. ``room`` is what the sections left
    of the budget for turns, ``user_room`` the part of it reserved for user turns, ``user_turn_cap`` the most that one
    user turn may take whole; the two are ``None`` where they did not apply. ``clipped`` is true when the text was cut
    to whole words as a last resort. ``turns`` covers every turn of the scope, oldest first, and ``sections`` the three
    sections; their ``tokens`` and ``unattributed_tokens`` add up to ``tokens``.
    """

    mode: str
    route: str | None
    budget: int
    tokens: int
    history_tokens: int
    room: int
    user_room: int | None
    user_turn_cap: int | None
    clipped: bool
    unattributed_tokens: int
    turns: tuple[ExplainedTurn, ...]
    sections: tuple[ExplainedSection, ...]

    def to_dict(self) -> dict[str, Any]:
        """The explanation as JSON-ready data; :meth:`from_dict` reads it back."""
        return {f.name: getattr(self, f.name) for f in fields(self)} | {
            "turns": [t.to_dict() for t in self.turns],
            "sections": [s.to_dict() for s in self.sections],
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> SearchExplanation:
        """The explanation that :meth:`to_dict` gave, read back."""
        values = {f.name: data[f.name] for f in fields(cls)}
        return cls(
            **values
            | {
                "turns": tuple(ExplainedTurn.from_dict(t) for t in data["turns"]),
                "sections": tuple(ExplainedSection.from_dict(s) for s in data["sections"]),
            }
        )

    def to_html(self) -> str:
        """A drawing for people: the budget as a bar, and the turns by time, kept, clipped and dropped.

        One self-contained piece of HTML without scripts; it names turns by id and repeats nothing that was said.
        """
        return draw_html(self)

    def _repr_html_(self) -> str:
        return draw_html(self)
