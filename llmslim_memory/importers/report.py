"""What an import did: by session, by reason, in total."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class ImportedSession:
    """One imported session: a transcript, a conversation, or one scope of a Mem0 export or JSONL file.

    ``turns`` were found to import; of these ``imported`` are new (in a dry run: would be), ``duplicates`` were in
    memory already, and ``skipped`` were left out: outside the time window, too long, empty, or deleted by the user.
    """

    format: str
    session_id: str
    title: str | None
    run_id: str | None
    user_id: str
    turns: int
    imported: int
    duplicates: int
    skipped: int

    def to_dict(self) -> dict[str, Any]:
        """The session as JSON-ready data."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class ImportReport:
    """The outcome of an import. Every turn and record seen has exactly one:

    ``seen == imported + duplicates + skipped_total + malformed``.

    ``skipped`` counts what was left out by reason: ``thinking``, ``tool_output``, ``meta``, ``system``,
    ``attachment``, ``other_branch``, ``subagent``, ``unsupported``, ``empty``, ``outside_window``, ``too_large``,
    ``too_deep``, ``inactive`` (a Mem0 memory deleted, replaced or expired) and ``deleted`` (a turn the user deleted
    from memory). ``parts_skipped`` counts, by the same reasons, what was left out of turns that were imported.
    ``redactions`` counts replaced credentials by kind. ``errors`` names the files that could not be read to their end;
    what came before was imported. ``sessions`` lists the first ones in full, ``sessions_total`` counts all. So do
    ``passed_over`` and ``passed_over_total`` with the files of a folder or archive that hold no chat history.
    """

    format: str
    source: str
    dry_run: bool
    files: int
    sessions: tuple[ImportedSession, ...]
    imported: int
    duplicates: int
    malformed: int
    skipped: Mapping[str, int] = field(default_factory=dict)
    redactions: Mapping[str, int] = field(default_factory=dict)
    errors: tuple[str, ...] = ()
    limited: bool = False
    seen: int = 0
    parts_skipped: Mapping[str, int] = field(default_factory=dict)
    sessions_total: int = 0
    passed_over: tuple[str, ...] = ()
    passed_over_total: int = 0

    @property
    def ok(self) -> bool:
        """True when every file was read to its end."""
        return not self.errors

    @property
    def skipped_total(self) -> int:
        """How many turns and records were left out, over all reasons."""
        return sum(self.skipped.values())

    def to_dict(self) -> dict[str, Any]:
        """The report as JSON-ready data."""
        data = asdict(self)
        data["sessions"] = [session.to_dict() for session in self.sessions]
        data["errors"] = list(self.errors)
        data["passed_over"] = list(self.passed_over)
        return data | {"ok": self.ok, "skipped_total": self.skipped_total}
