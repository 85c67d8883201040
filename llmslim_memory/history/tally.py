"""Counts what an import does, as a whole and by session, within bounded memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime

from llmslim_memory.history.turns import Prepared
from llmslim_memory.importers.documents import PassedOver
from llmslim_memory.importers.outcomes import MALFORMED, Session
from llmslim_memory.importers.report import ImportedSession, ImportReport

OPEN_SESSIONS = 5_000
LISTED_SESSIONS = 20_000

_Key = tuple[str, str | None, str | None, str | None]


@dataclass(slots=True)
class _Count:
    """One session while it is being read."""

    turns: int = 0
    imported: int = 0
    duplicates: int = 0
    skipped: int = 0
    last: datetime | None = None


@dataclass(slots=True)
class Tally:
    """The counts of an import. ``last`` times are kept, so that a turn without one is said no earlier than another."""

    on_session: Callable[[ImportedSession], None] | None = None
    seen: int = 0
    imported: int = 0
    duplicates: int = 0
    malformed: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    parts: Counter[str] = field(default_factory=Counter)
    redactions: Counter[str] = field(default_factory=Counter)
    errors: list[str] = field(default_factory=list)
    sessions: dict[_Key, ImportedSession] = field(default_factory=dict)
    sessions_total: int = 0
    _open: dict[Session, _Count] = field(default_factory=dict)

    def leave(self, reason: str, session: Session | None = None) -> None:
        """Count a record that is left out, in its session too where it was a turn to import."""
        if reason == MALFORMED:
            self.malformed += 1
        else:
            self.skipped[reason] += 1
        if session is not None:
            self._open[session].skipped += 1

    def found(self, session: Session) -> datetime | None:
        """Count a turn to import and say when the one before it in its session was said."""
        count = self._open.setdefault(session, _Count())
        count.turns += 1
        return count.last

    def prepared(self, turn: Prepared) -> None:
        """Note a turn that will be stored, unless it is already."""
        self._open[turn.session].last = turn.item.created_at

    def stored(self, turn: Prepared, *, new: bool) -> None:
        """Count a turn that is in memory now."""
        count = self._open[turn.session]
        if not new:
            self.duplicates += 1
            count.duplicates += 1
            return
        self.imported += 1
        count.imported += 1
        self.redactions.update(turn.redactions)
        self.parts.update(turn.parts)

    def end_sessions(self, current: Session | None = None, *, contiguous: bool = True) -> None:
        """Report the sessions of which no more is to come: all but the current one.

        Where sessions take turns in a file, any may go on until its end: then they are only reported when they are
        many, and more of them may be reported later.
        """
        if not contiguous and current is not None and len(self._open) <= OPEN_SESSIONS:
            return
        for session in [session for session in self._open if session != current]:
            self._report(_done(session, self._open.pop(session)), session)

    def _report(self, done: ImportedSession, session: Session) -> None:
        if self.on_session is not None:
            self.on_session(done)
        key = (session.format, session.session_id, session.user_id, session.agent_id)
        if key in self.sessions:
            self.sessions[key] = _sum(self.sessions[key], done)
            return
        self.sessions_total += 1
        if len(self.sessions) < LISTED_SESSIONS:
            self.sessions[key] = done

    def report(
        self,
        *,
        format: str,  # noqa: A002
        source: str,
        dry_run: bool,
        files: int,
        limited: bool,
        passed_over: PassedOver,
    ) -> ImportReport:
        """The counts so far as a report."""
        return ImportReport(
            format=format,
            source=source,
            dry_run=dry_run,
            files=files,
            sessions=tuple(self.sessions.values()),
            imported=self.imported,
            duplicates=self.duplicates,
            malformed=self.malformed,
            skipped=dict(sorted(self.skipped.items())),
            redactions=dict(sorted(self.redactions.items())),
            errors=tuple(self.errors),
            limited=limited,
            seen=self.seen,
            parts_skipped=dict(sorted(self.parts.items())),
            sessions_total=self.sessions_total,
            passed_over=tuple(passed_over.names),
            passed_over_total=passed_over.total,
        )


def _done(session: Session, count: _Count) -> ImportedSession:
    return ImportedSession(
        format=session.format,
        session_id=session.session_id or session.user_id or session.agent_id or "",
        title=session.title,
        run_id=session.session_id,
        user_id=session.user_id or "",
        turns=count.turns,
        imported=count.imported,
        duplicates=count.duplicates,
        skipped=count.skipped,
    )


def _sum(one: ImportedSession, other: ImportedSession) -> ImportedSession:
    return replace(
        one,
        title=one.title or other.title,
        turns=one.turns + other.turns,
        imported=one.imported + other.imported,
        duplicates=one.duplicates + other.duplicates,
        skipped=one.skipped + other.skipped,
    )
