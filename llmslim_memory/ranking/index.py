"""The index of one scope: follows its turns, which it keeps as columns, with postings over their passages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from llmslim_memory.ranking.codec import MarkedSpan, TurnAnalysis
from llmslim_memory.ranking.columns import Coded, Column
from llmslim_memory.ranking.ids import Ids
from llmslim_memory.ranking.postings import Segment, add_segment, build_segment
from llmslim_memory.ranking.snapshot import Ints, Snapshot

MAX_DEAD_SHARE = 0.25
"""Rows of deleted and edited turns are cleared away once they make up more than this share."""


class IndexedTurn(NamedTuple):
    """All that the index keeps of a turn."""

    id: str
    role: str
    time: int
    seq: int
    session: tuple[str | None, str | None]
    revision: int
    tokens: int
    analysis: TurnAnalysis


_TURN_COLUMNS: dict[str, type[np.generic]] = {
    "times": np.int64,
    "seqs": np.uint32,
    "revisions": np.uint32,
    "roles": np.uint8,  # by number
    "checksums": np.uint32,  # of the content
    "is_user": np.bool_,
    "sessions": np.int32,
    "tokens": np.int32,
    "lengths": np.int32,
    "speakers": np.uint32,
    "counts": np.int32,  # passages of the turn
}
_WIDENING = ("seqs", "revisions", "roles")
"""Columns that become 64 bits wide if a value asks for it."""
_PASSAGE_COLUMNS: dict[str, type[np.generic]] = {
    "starts": np.uint32,
    "ends": np.uint32,
    "passage_tokens": np.uint32,
    "passage_lengths": np.uint32,
    "turns": np.uint32,  # row of the turn
}


_Postings = tuple[NDArray[np.uint32], NDArray[np.uint32], NDArray[np.uint8]]
"""Terms, the passages they stand in, and how often, in the order of the passages."""


class ScopeIndex:
    """Follows the turns of one scope. Not safe to share between threads; the snapshots it gives are."""

    def __init__(self) -> None:
        self._clear()

    def _clear(self) -> None:
        self._ids = Ids()
        self._roles: dict[str, int] = {}
        self._session_codes: dict[tuple[str | None, str | None], int] = {}
        self._turns = {name: Column(dtype) for name, dtype in _TURN_COLUMNS.items()}
        self._passages = {name: Column(dtype) for name, dtype in _PASSAGE_COLUMNS.items()}
        self._statements: dict[int, tuple[MarkedSpan, ...]] = {}
        self._segments: tuple[Segment, ...] = ()
        self._snapshot: Snapshot | None = None

    def __len__(self) -> int:
        return len(self._ids) - len(self._ids.dead)

    @property
    def nbytes(self) -> int:
        """About how many bytes the index holds."""
        columns = sum(column.nbytes for column in (*self._turns.values(), *self._passages.values()))
        postings = sum(segment.nbytes for segment in self._segments)
        snapshot = 0 if self._snapshot is None else self._snapshot.nbytes
        return columns + postings + self._ids.nbytes + snapshot + 120 * len(self._statements)

    def revisions(self, item_ids: Sequence[str]) -> list[int | None]:
        """The revisions of turns, ``None`` for one that the index does not know."""
        known = self._turns["revisions"].view
        return [None if row is None else int(known[row]) for row in self._ids.rows(item_ids)]

    def ids(self) -> Sequence[str]:
        """The ids of the turns in the index."""
        return self._ids.view(self._alive_rows() if self._ids.dead else None)

    def remove(self, item_ids: Sequence[str]) -> None:
        """Forget turns; unknown ids are passed over."""
        for row in self._ids.remove(item_ids):
            self._statements.pop(row, None)
            self._snapshot = None

    def add(self, batches: Iterable[Sequence[IndexedTurn]]) -> None:
        """Take in turns, batch by batch; one that is known already replaces what was known."""
        taken: list[_Postings] = []
        try:
            for turns in batches:
                if turns:
                    taken.append(self._take(turns))
        finally:  # what was taken in is to be found, though the next batch could not be had
            terms, rows, tfs = _joined(taken)
            if len(terms):
                self._segments = add_segment(self._segments, build_segment(terms, rows, tfs))

    def _take(self, turns: Sequence[IndexedTurn]) -> _Postings:
        """Take in turns except for their postings."""
        turns = sorted({turn.id: turn for turn in turns}.values(), key=lambda turn: (turn.time, turn.seq))
        self.remove([turn.id for turn in turns])
        base = len(self._ids)
        self._ids.extend([turn.id for turn in turns])
        for row, turn in enumerate(turns, base):
            if turn.analysis.statements:
                self._statements[row] = turn.analysis.statements
        self._extend_turns(turns)
        self._snapshot = None
        return self._extend_passages(base, [turn.analysis for turn in turns])

    def _extend_turns(self, turns: Sequence[IndexedTurn]) -> None:
        sessions, roles = self._session_codes, self._roles
        columns: dict[str, list[int]] = {
            "times": [turn.time for turn in turns],
            "seqs": [turn.seq for turn in turns],
            "revisions": [turn.revision for turn in turns],
            "roles": [roles.setdefault(turn.role, len(roles)) for turn in turns],
            "checksums": [turn.analysis.content for turn in turns],
            "is_user": [turn.role == "user" for turn in turns],
            "sessions": [sessions.setdefault(turn.session, len(sessions)) for turn in turns],
            "tokens": [turn.tokens for turn in turns],
            "lengths": [int(turn.analysis.passages[3].sum()) for turn in turns],
            "speakers": [turn.analysis.speaker for turn in turns],
            "counts": [turn.analysis.passages.shape[1] for turn in turns],
        }
        for name in _WIDENING:
            self._turns[name].widen(columns[name])
        for name, values in columns.items():
            self._turns[name].extend(values)

    def _extend_passages(self, base: int, analyses: Sequence[TurnAnalysis]) -> _Postings:
        columns = np.concatenate([analysis.passages for analysis in analyses], axis=1)
        counts = [analysis.passages.shape[1] for analysis in analyses]
        first = len(self._passages["turns"].view)
        for name, values in zip(("starts", "ends", "passage_tokens", "passage_lengths"), columns, strict=False):
            self._passages[name].extend(values)
        self._passages["turns"].extend(np.repeat(np.arange(base, base + len(analyses)), counts))
        rows = np.repeat(np.arange(first, first + columns.shape[1], dtype=np.uint32), columns[4])
        terms = np.concatenate([analysis.terms for analysis in analyses])
        return terms, rows, np.concatenate([analysis.tfs for analysis in analyses])

    def snapshot(self) -> Snapshot:
        """The alive turns as they are now."""
        if self._snapshot is None:
            if len(self._ids.dead) > MAX_DEAD_SHARE * len(self._ids):
                self._compact()
            self._snapshot = self._take_snapshot()
        return self._snapshot

    def _alive_rows(self) -> Ints:
        """Rows of the alive turns, oldest first, ties in the order of adding."""
        rows = np.arange(len(self._ids), dtype=np.int64)
        if self._ids.dead:
            rows = np.delete(rows, sorted(self._ids.dead))
        times, seqs = self._turns["times"].view[rows], self._turns["seqs"].view[rows]
        later = (times[1:] > times[:-1]) | ((times[1:] == times[:-1]) & (seqs[1:] >= seqs[:-1]))
        return rows if bool(later.all()) else rows[np.lexsort((rows, seqs, times))]

    def _compact(self) -> None:
        """Rebuild without the dead rows, in order of time."""
        rows = self._alive_rows()
        old = self._state()
        counts = old["counts"][rows]
        offsets = np.cumsum(old["counts"]) - old["counts"]
        passages = _ranges(offsets[rows], counts)
        renumbered = np.full(len(old["turns"]), -1, dtype=np.int64)
        renumbered[passages] = np.arange(len(passages))
        ids, roles = self._ids.only(rows), self._roles
        statements = {new: self._statements[row] for new, row in enumerate(rows.tolist()) if row in self._statements}
        segments = self._renumber(renumbered)
        sessions = self._session_codes
        self._clear()
        self._ids, self._roles, self._session_codes = ids, roles, sessions
        self._statements, self._segments = statements, segments
        for name, dtype in _TURN_COLUMNS.items():
            self._turns[name] = Column(old[name].dtype.type if name in _WIDENING else dtype, old[name][rows])
        for name, dtype in _PASSAGE_COLUMNS.items():
            self._passages[name] = Column(dtype, old[name][passages])
        self._passages["turns"] = Column(np.uint32, np.repeat(np.arange(len(rows)), counts))

    def _state(self) -> dict[str, NDArray[Any]]:
        return {name: column.view for name, column in (*self._turns.items(), *self._passages.items())}

    def _renumber(self, renumbered: Ints) -> tuple[Segment, ...]:
        if not self._segments:
            return ()
        terms = np.concatenate([np.repeat(s.terms, np.diff(s.starts)) for s in self._segments])
        rows = renumbered[np.concatenate([s.rows for s in self._segments])]
        tfs = np.concatenate([s.tfs for s in self._segments])
        order = np.argsort(rows, kind="stable")
        order = order[np.count_nonzero(rows < 0) :]
        return (build_segment(terms[order], rows[order].astype(np.uint32), tfs[order]),) if len(order) else ()

    def _take_snapshot(self) -> Snapshot:
        rows = self._alive_rows()
        state = self._state()
        whole = not self._ids.dead and bool((rows[1:] > rows[:-1]).all())
        turn = {name: state[name] if whole else state[name][rows] for name in _TURN_COLUMNS}
        offsets = np.cumsum(state["counts"], dtype=np.int64) - state["counts"]
        first = np.append(0, np.cumsum(turn["counts"], dtype=np.int64)).astype(np.int32)
        positions_of_rows = np.full(len(self._ids), -1, dtype=np.int32)
        positions_of_rows[rows] = np.arange(len(rows), dtype=np.int32)
        passages = np.arange(len(state["turns"])) if whole else _ranges(offsets[rows], turn["counts"])
        sessions, runs = self._sessions(turn["sessions"])
        return Snapshot(
            ids=self._ids.view(None if whole else rows.astype(np.uint32)),
            roles=Coded(turn["roles"], list(self._roles)),
            is_user=turn["is_user"],
            revisions=turn["revisions"],
            checksums=turn["checksums"],
            times=turn["times"],
            sessions=sessions,
            tokens=turn["tokens"],
            lengths=turn["lengths"],
            speakers=turn["speakers"],
            runs=runs,
            first=first,
            passages=passages.astype(np.int32),
            positions=state["turns"].view(np.int32) if whole else positions_of_rows[state["turns"]],
            starts=state["starts"],
            ends=state["ends"],
            passage_tokens=state["passage_tokens"],
            passage_lengths=state["passage_lengths"],
            alive_passages=len(passages),
            alive_length=int(turn["lengths"].sum()),
            segments=self._segments,
            statements=self._statements.copy() if whole else self._placed_statements(positions_of_rows),
        )

    def _placed_statements(self, positions: NDArray[np.int32]) -> dict[int, tuple[MarkedSpan, ...]]:
        """The statements by position, oldest first."""
        return dict(sorted((int(positions[row]), found) for row, found in self._statements.items()))

    def _sessions(self, codes: NDArray[np.int32]) -> tuple[NDArray[np.int32], list[str | None]]:
        """Number the sessions in the order in which they begin, and name their runs."""
        keys = list(self._session_codes)
        begun = np.maximum.accumulate(codes) if len(codes) else codes
        if len(codes) and codes[0] == 0 and begun[-1] == len(keys) - 1 and bool((np.diff(begun) <= 1).all()):
            return codes, [run for _, run in keys]  # numbered so already
        used, begin = np.unique(codes, return_index=True)
        order = np.argsort(begin, kind="stable")
        numbers = np.zeros(len(keys), dtype=np.int32)
        numbers[used[order]] = np.arange(len(used), dtype=np.int32)
        return numbers[codes], [keys[code][1] for code in used[order].tolist()]


def _joined(postings: Sequence[_Postings]) -> _Postings:
    if not postings:
        return np.empty(0, np.uint32), np.empty(0, np.uint32), np.empty(0, np.uint8)
    terms, rows, tfs = zip(*postings, strict=True)
    return np.concatenate(terms), np.concatenate(rows), np.concatenate(tfs)


def _ranges(starts: Ints, counts: NDArray[np.int32]) -> Ints:
    """``start, start + 1, ...``, ``count`` numbers of each, one after the other."""
    ends = np.cumsum(counts, dtype=np.int64)
    total = int(ends[-1]) if len(ends) else 0
    return np.repeat(starts - (ends - counts), counts) + np.arange(total, dtype=np.int64)
