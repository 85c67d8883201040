"""What a reader yields for every record it meets: a turn to import, or why it was left out."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

MALFORMED = "malformed"
TOO_LARGE = "too_large"
TOO_DEEP = "too_deep"


@dataclass(frozen=True, slots=True)
class Session:
    """The conversation a turn belongs to. ``session_id`` is ``None`` where the source names none."""

    format: str
    session_id: str | None = None
    title: str | None = None
    user_id: str | None = None
    agent_id: str | None = None


@dataclass(frozen=True, slots=True)
class Turn:
    """Something that was said, as the source has it: not yet redacted, checked or given an id.

    ``source_id`` is the source's own id of the message; it counts everywhere, or only within its user and session
    where ``local_id`` is set. ``parts`` are the reasons for which parts of the record were left out.
    """

    session: Session
    role: str
    content: str
    source_id: str | None = None
    created_at: datetime | None = None
    local_id: bool = False
    metadata: Mapping[str, Any] = field(default_factory=dict)
    parts: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Restored:
    """A turn of our own export: every field as it was stored, ids included."""

    fields: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Left:
    """A record that is not imported: why (``"malformed"`` or a reason of ``ImportReport.skipped``), and where it is."""

    reason: str
    where: str = ""


Outcome = Turn | Restored | Left
Outcomes = Generator[Outcome, None, None]
