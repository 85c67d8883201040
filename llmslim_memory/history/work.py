"""The work of an import: from what the readers yield to batches in the memory, each outcome counted once."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import dataclass, field

from llmslim_memory.errors import HistoryImportError
from llmslim_memory.history.tally import Tally
from llmslim_memory.history.turns import Prepared, Rules, owner, prepare, restore
from llmslim_memory.importers import chatgpt, claude_ai
from llmslim_memory.importers.outcomes import MALFORMED, TOO_DEEP, TOO_LARGE, Left, Outcome, Restored, Session
from llmslim_memory.importers.reader import Reading
from llmslim_memory.importers.scratch import Scratch
from llmslim_memory.indexing.beside import Analysts
from llmslim_memory.memory import Memory
from llmslim_memory.types import MemoryItem, SupportsAnalysis, SupportsRecords
from llmslim_memory.writing import get_many

BATCH_TURNS = 500
BATCH_BYTES = 4_000_000

HELPED_BYTES = 8 << 20
"""How much an import reads before another process is worth its start."""

_BROKEN = frozenset({MALFORMED, TOO_LARGE, TOO_DEEP})
# In these exports a conversation stands in one place.
_CONTIGUOUS = frozenset({chatgpt.FORMAT, claude_ai.FORMAT})
_KNOWN_SESSIONS = 4_096

Progress = Callable[[int, int], None]
"""Told how many bytes were read and how many there are."""


@dataclass(slots=True)
class Work:
    """One import. What is found waits in a batch; a batch is written in one transaction, and then counted."""

    rules: Rules
    tally: Tally
    limit: int | None = None
    tools: bool = False
    dry_run: bool = False
    strict: bool = False
    include_deleted: bool = False
    helpers: int | None = None
    _memory: Memory | None = None
    _scratch: Scratch | None = None
    _analysts: Analysts | None = None
    _is_news: bool = True
    """Whether the last batch, if there was one, held anything new: what is stored already needs no analysis."""
    _batch: list[Prepared] = field(default_factory=list)
    _bytes: int = 0
    _owners: dict[Session, Session] = field(default_factory=dict)

    @property
    def is_full(self) -> bool:
        """Whether as many new turns were imported as were asked for."""
        return self.limit is not None and self.tally.imported >= self.limit

    def run(
        self,
        readings: Sequence[Reading],
        problems: Sequence[tuple[str, str]],
        memory: Memory | None,
        on_progress: Progress | None,
    ) -> None:
        """Import everything, file by file.

        Raises:
            HistoryImportError: The only file could not be read at all, or ``strict`` is set and something is amiss.
        """
        self.tally.errors += [f"{name}: {reason}" for name, reason in problems]
        if self.strict and problems:
            raise HistoryImportError(self.tally.errors[0])
        total, done = sum(reading.size for reading in readings), 0

        def meter(count: int) -> None:
            nonlocal done
            done += count
            if on_progress is not None:
                on_progress(min(done, total), total)

        self._memory = memory
        with Scratch() as self._scratch, self._helped(total) as self._analysts:
            for reading in readings:
                reading.note_copies(meter)
            for reading in readings:
                if not self.is_full:
                    self._read(reading, meter, alone=len(readings) == 1)

    def _helped(self, size: int) -> AbstractContextManager[Analysts | None]:
        """The helpers that an import of this many bytes gets, if any."""
        if self.dry_run or self._memory is None or not isinstance(self._memory.store, SupportsAnalysis):
            return nullcontext()
        wanted = self.helpers
        if wanted is None:
            wanted = int(size >= HELPED_BYTES and (os.cpu_count() or 1) > 1)
        return Analysts(self._memory.counter, wanted) if wanted else nullcontext()

    def _read(self, reading: Reading, meter: Callable[[int], None], *, alone: bool) -> None:
        name, contiguous = reading.document.name, reading.format in _CONTIGUOUS
        try:
            with closing(reading.outcomes(tools=self.tools, meter=meter)) as outcomes:
                for outcome in outcomes:
                    self.tally.seen += 1
                    session = self._take(outcome, name)
                    if len(self._batch) >= self._room or self._bytes >= BATCH_BYTES:
                        self._flush()
                        self.tally.end_sessions(session, contiguous=contiguous)
                        if self.is_full:
                            break
        except HistoryImportError as error:
            if self.strict or (alone and self.tally.seen == 0):
                self._flush()
                raise HistoryImportError(str(error) if str(error).startswith(name) else f"{name}: {error}") from error
            self.tally.errors.append(f"{name}: {error}")
        self._flush()
        self.tally.end_sessions()

    @property
    def _room(self) -> int:
        """How many turns the batch may hold: so many that the limit cannot be overshot."""
        left = BATCH_TURNS if self.limit is None else self.limit - self.tally.imported
        return min(BATCH_TURNS, left)

    def _take(self, outcome: Outcome, name: str) -> Session | None:
        """Put a turn into the batch, or count why it is left out; say which session it belongs to."""
        session: Session | None = None
        ready: Prepared | Left
        if isinstance(outcome, Left):
            ready = outcome
        elif isinstance(outcome, Restored):
            ready = restore(outcome, self.rules)
            session = ready.session if isinstance(ready, Prepared) else None
            if session is not None:
                self.tally.found(session)
        else:
            session = self._owner(outcome.session)
            ready = prepare(outcome, session, self.tally.found(session), self.rules, self._count)
        if isinstance(ready, Left):
            self._leave(ready, name, session)
        else:
            self.tally.prepared(ready)
            self._batch.append(ready)
            if self._analysts is not None and self._is_news:
                self._analysts.expect(ready.item.role, ready.item.content)
            self._bytes += _size(ready.item.content)
        return session

    def _leave(self, left: Left, name: str, session: Session | None) -> None:
        self.tally.leave(left.reason, session)
        if self.strict and left.reason in _BROKEN:
            raise HistoryImportError(f"{name}, {left.where or 'a record'}: {left.reason.replace('_', ' ')}")

    def _count(self, key: str) -> int:
        return 1 if self._scratch is None else self._scratch.count(key)

    def _owner(self, session: Session) -> Session:
        known = self._owners.get(session)
        if known is None:
            if len(self._owners) >= _KNOWN_SESSIONS:
                self._owners.clear()
            known, redacted = owner(session, self.rules)
            self._owners[session] = known
            self.tally.redactions.update(redacted)
        return known

    def _flush(self) -> None:
        """Write the batch in one transaction and count what became of each turn."""
        batch, self._batch, self._bytes = self._batch, [], 0
        wanted = {turn.item.id: turn.item for turn in reversed(batch)}
        deleted = self._deleted(list(wanted))
        items = [item for item_id, item in reversed(wanted.items()) if item_id not in deleted]
        new = Counter(self._store(items))
        self._is_news = bool(new)
        for turn in batch:
            if turn.item.id in deleted:
                self.tally.leave("deleted", turn.session)
            else:
                self.tally.stored(turn, new=new[turn.item.id] > 0)
                new[turn.item.id] = 0

    def _deleted(self, ids: list[str]) -> frozenset[str]:
        store = None if self._memory is None else self._memory.store
        if not ids or self.include_deleted or not isinstance(store, SupportsRecords):
            return frozenset()
        return store.tombstones(ids)

    def _store(self, items: list[MemoryItem]) -> list[str]:
        """Store what is not stored yet and return its ids; in a dry run, only say which that would be."""
        if not items:
            return []
        if not self.dry_run and self._memory is not None:
            return self._write(items, self._memory)
        known = {} if self._memory is None else get_many(self._memory.store, (item.id for item in items))
        return [item.id for item in items if item.id not in known and self._count(f"id {item.id}") == 1]

    def _write(self, items: list[MemoryItem], memory: Memory) -> list[str]:
        if self._analysts is None:
            return [item.id for item in memory.restore(items)]
        try:
            return [item.id for item in memory.restore(items, analyse=self._analysts.analyse)]
        finally:
            self._analysts.forget()


def _size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode())
