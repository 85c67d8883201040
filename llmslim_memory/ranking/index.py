"""The index of one scope: follows its turns, which it keeps as columns, with postings over their passages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from llmslim_memory.ranking.codec import MarkedSpan, TurnAnalysis
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


class Column:
    """A numpy array that grows at its end; views taken earlier keep showing what they showed."""

    def __init__(self, dtype: type[np.generic], values: NDArray[Any] | None = None) -> None:
        self._data: NDArray[Any] = np.empty(64, dtype=dtype) if values is None else values.astype(dtype)
        self._size = 0 if values is None else len(values)

    def extend(self, values: Sequence[int] | NDArray[Any]) -> None:
        """Append values."""
        size = self._size + len(values)
        if size > len(self._data):
            grown = np.empty(max(size, len(self._data) * 3 // 2), dtype=self._data.dtype)
            grown[: self._size] = self._data[: self._size]
            self._data = grown
        self._data[self._size : size] = values
        self._size = size

    @property
    def view(self) -> NDArray[Any]:
        """The values appended so far."""
        return self._data[: self._size]

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return self._data.nbytes


_TURN_COLUMNS: dict[str, type[np.generic]] = {
    "times": np.int64,
    "seqs": np.int64,
    "revisions": np.int64,
    "checksums": np.uint32,  # of the content
    "is_user": np.bool_,
    "sessions": np.int32,
    "tokens": np.int32,
    "lengths": np.int32,
    "speakers": np.uint32,
    "counts": np.int32,  # passages of the turn
}
_PASSAGE_COLUMNS: dict[str, type[np.generic]] = {
    "starts": np.uint32,
    "ends": np.uint32,
    "passage_tokens": np.uint32,
    "passage_lengths": np.uint32,
    "turns": np.uint32,  # row of the turn
}


class ScopeIndex:
    """Follows the turns of one scope. Not safe to share between threads; the snapshots it gives are."""

    def __init__(self) -> None:
        self._clear()

    def _clear(self) -> None:
        self._ids: list[str] = []
        self._rows: dict[str, int] = {}
        self._roles: list[str] = []
        self._session_codes: dict[tuple[str | None, str | None], int] = {}
        self._turns = {name: Column(dtype) for name, dtype in _TURN_COLUMNS.items()}
        self._passages = {name: Column(dtype) for name, dtype in _PASSAGE_COLUMNS.items()}
        self._statements: dict[int, tuple[MarkedSpan, ...]] = {}
        self._segments: tuple[Segment, ...] = ()
        self._dead: set[int] = set()
        self._snapshot: Snapshot | None = None

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def nbytes(self) -> int:
        """About how many bytes the index holds."""
        columns = sum(column.nbytes for column in (*self._turns.values(), *self._passages.values()))
        postings = sum(segment.nbytes for segment in self._segments)
        names = 250 * len(self._ids)  # an id, its place in the list and in the dictionary
        snapshot = 48 * len(self._ids) + 12 * len(self._passages["turns"].view)
        return columns + postings + names + snapshot + 120 * len(self._statements)

    def revision(self, item_id: str) -> int | None:
        """The revision of a turn that the index knows, or ``None``."""
        row = self._rows.get(item_id)
        return None if row is None else int(self._turns["revisions"].view[row])

    def ids(self) -> Iterable[str]:
        """The ids of the turns in the index."""
        return self._rows.keys()

    def remove(self, item_ids: Iterable[str]) -> None:
        """Forget turns; unknown ids are passed over."""
        for item_id in item_ids:
            row = self._rows.pop(item_id, None)
            if row is not None:
                self._dead.add(row)
                self._statements.pop(row, None)
                self._snapshot = None

    def add(self, turns: Sequence[IndexedTurn]) -> None:
        """Take in turns; one that is known already replaces what was known."""
        if not turns:
            return
        turns = sorted({turn.id: turn for turn in turns}.values(), key=lambda turn: (turn.time, turn.seq))
        self.remove(turn.id for turn in turns)
        base = len(self._ids)
        for row, turn in enumerate(turns, base):
            self._rows[turn.id] = row
            self._ids.append(turn.id)
            self._roles.append(turn.role)
            if turn.analysis.statements:
                self._statements[row] = turn.analysis.statements
        self._extend_turns(turns)
        self._extend_passages(base, [turn.analysis for turn in turns])
        self._snapshot = None

    def _extend_turns(self, turns: Sequence[IndexedTurn]) -> None:
        sessions = self._session_codes
        columns: dict[str, list[int]] = {
            "times": [turn.time for turn in turns],
            "seqs": [turn.seq for turn in turns],
            "revisions": [turn.revision for turn in turns],
            "checksums": [turn.analysis.content for turn in turns],
            "is_user": [turn.role == "user" for turn in turns],
            "sessions": [sessions.setdefault(turn.session, len(sessions)) for turn in turns],
            "tokens": [turn.tokens for turn in turns],
            "lengths": [int(turn.analysis.passages[3].sum()) for turn in turns],
            "speakers": [turn.analysis.speaker for turn in turns],
            "counts": [turn.analysis.passages.shape[1] for turn in turns],
        }
        for name, values in columns.items():
            self._turns[name].extend(values)

    def _extend_passages(self, base: int, analyses: Sequence[TurnAnalysis]) -> None:
        columns = np.concatenate([analysis.passages for analysis in analyses], axis=1)
        counts = [analysis.passages.shape[1] for analysis in analyses]
        first = len(self._passages["turns"].view)
        for name, values in zip(("starts", "ends", "passage_tokens", "passage_lengths"), columns, strict=False):
            self._passages[name].extend(values)
        self._passages["turns"].extend(np.repeat(np.arange(base, base + len(analyses)), counts))
        rows = np.repeat(np.arange(first, first + columns.shape[1], dtype=np.uint32), columns[4])
        terms = np.concatenate([analysis.terms for analysis in analyses])
        if len(terms):
            tfs = np.concatenate([analysis.tfs for analysis in analyses])
            self._segments = add_segment(self._segments, build_segment(terms, rows, tfs))

    def snapshot(self) -> Snapshot:
        """The alive turns as they are now."""
        if self._snapshot is None:
            if len(self._dead) > MAX_DEAD_SHARE * len(self._ids):
                self._compact()
            self._snapshot = self._take_snapshot()
        return self._snapshot

    def _alive_rows(self) -> Ints:
        """Rows of the alive turns, oldest first, ties in the order of adding."""
        rows = np.arange(len(self._ids), dtype=np.int64)
        if self._dead:
            rows = np.delete(rows, sorted(self._dead))
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
        ids, roles = [self._ids[row] for row in rows], [self._roles[row] for row in rows]
        statements = {new: self._statements[row] for new, row in enumerate(rows.tolist()) if row in self._statements}
        segments = self._renumber(renumbered)
        sessions = self._session_codes
        self._clear()
        self._ids, self._rows = ids, {item_id: row for row, item_id in enumerate(ids)}
        self._roles, self._session_codes = roles, sessions
        self._statements, self._segments = statements, segments
        for name, dtype in _TURN_COLUMNS.items():
            self._turns[name] = Column(dtype, old[name][rows])
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
        whole = not self._dead and bool((rows[1:] > rows[:-1]).all())
        turn = {name: state[name] if whole else state[name][rows] for name in _TURN_COLUMNS}
        offsets = np.cumsum(state["counts"], dtype=np.int64) - state["counts"]
        first = np.append(0, np.cumsum(turn["counts"], dtype=np.int64))
        positions_of_rows = np.full(len(self._ids), -1, dtype=np.int32)
        positions_of_rows[rows] = np.arange(len(rows), dtype=np.int32)
        passages = np.arange(len(state["turns"])) if whole else _ranges(offsets[rows], turn["counts"])
        sessions, runs = self._sessions(turn["sessions"])
        row_list = [] if whole else rows.tolist()
        return Snapshot(
            ids=self._ids[:] if whole else [self._ids[row] for row in row_list],
            roles=self._roles[:] if whole else [self._roles[row] for row in row_list],
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
            passages=passages,
            positions=positions_of_rows[state["turns"]],
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


def _ranges(starts: Ints, counts: NDArray[np.int32]) -> Ints:
    """``start, start + 1, ...``, ``count`` numbers of each, one after the other."""
    ends = np.cumsum(counts, dtype=np.int64)
    total = int(ends[-1]) if len(ends) else 0
    return np.repeat(starts - (ends - counts), counts) + np.arange(total, dtype=np.int64)
