"""Ids of turns by row, and the row of an id, in a tenth of the memory of a list and a dictionary.

An id of 32 hexadecimal digits, as stores give them, is kept as two numbers; of any other the two numbers are a digest,
and the text stands beside them.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from llmslim_memory.ranking.columns import Column

Rows = NDArray[Any]

LATE = 1_000
"""Rows that were added since the last sorting: so many, and one in sixteen of all, are found by a dictionary."""
AT_ONCE = 4_096
_HEX = re.compile(r"[0-9a-f]{32}")


class Ids:
    """The ids of the rows of an index, of which some are dead. Not safe to share between threads; its views are."""

    def __init__(self) -> None:
        self._high, self._low = Column(np.uint64), Column(np.uint64)
        self._odd: dict[int, str] = {}
        self._late: dict[str, int] = {}
        self._sorted: NDArray[np.uint32] = np.empty(0, np.uint32)
        self._covered = 0
        self.dead: set[int] = set()

    def __len__(self) -> int:
        return len(self._high.view)

    @property
    def nbytes(self) -> int:
        """About how many bytes they take."""
        return self._high.nbytes + self._low.nbytes + self._sorted.nbytes + 250 * len(self._late) + 200 * len(self._odd)

    def extend(self, ids: Sequence[str]) -> None:
        """Append rows; none of these ids may be alive."""
        first = len(self)
        keys = _keys(ids)
        self._high.extend(keys[:, 0])
        self._low.extend(keys[:, 1])
        self._odd.update((row, item_id) for row, item_id in enumerate(ids, first) if not _HEX.fullmatch(item_id))
        if len(self) - self._covered > LATE + len(self) // 16:
            self._sort()
        else:
            self._late.update(zip(ids, range(first, len(self)), strict=True))

    def _sort(self) -> None:
        self._sorted = np.argsort(self._high.view, kind="stable").astype(np.uint32)
        self._covered = len(self)
        self._late.clear()

    def row(self, item_id: str) -> int | None:
        """The row of an id that is alive."""
        late = self._late.get(item_id)
        if late is not None or not self._covered:
            return late
        high, low = map(int, _keys([item_id])[0])
        highs, lows, order = self._high.view.data, self._low.view.data, self._sorted.data
        at = bisect_left(order, high, key=highs.__getitem__)
        while at < len(order) and highs[order[at]] == high:
            row = order[at]
            if lows[row] == low and row not in self.dead:
                return row
            at += 1
        return None

    def rows(self, ids: Sequence[str]) -> list[int | None]:
        """The rows of ids; many at once take less time."""
        if len(self) == len(self.dead):
            return [None] * len(ids)
        found: list[int | None] = list(map(self._late.get, ids))
        left = [place for place, row in enumerate(found) if row is None]
        if len(left) < LATE or not self._covered:
            for place in left:
                found[place] = self.row(ids[place])
            return found
        keys = _keys([ids[place] for place in left])
        at = np.searchsorted(self._high.view[self._sorted], keys[:, 0]).clip(max=self._covered - 1)
        rows = self._sorted[at]
        same = self._low.view[rows] == keys[:, 1]
        for which in np.flatnonzero(self._high.view[rows] == keys[:, 0]).tolist():
            row, place = int(rows[which]), left[which]
            found[place] = row if same[which] and row not in self.dead else self.row(ids[place])
        return found

    def remove(self, ids: Sequence[str]) -> list[int]:
        """Have the rows of ids be dead, and say which; unknown ids are passed over."""
        found = list(dict.fromkeys(row for row in self.rows(ids) if row is not None))
        self.dead.update(found)
        for item_id in ids if self._late else ():
            self._late.pop(item_id, None)
        return found

    def only(self, rows: Rows) -> Ids:
        """The ids of some rows, as rows of their own in this order."""
        kept = Ids()
        kept._high, kept._low = Column(np.uint64, self._high.view[rows]), Column(np.uint64, self._low.view[rows])
        if self._odd:
            kept._odd = {new: self._odd[row] for new, row in enumerate(rows.tolist()) if row in self._odd}
        kept._sort()
        return kept

    def view(self, rows: Rows | None = None) -> IdView:
        """The ids as they are now: of all rows, or of some in this order."""
        return IdView(self._high.view, self._low.view, self._odd, rows)


class IdView(Sequence[str]):
    """Ids of rows, made into text as they are looked at."""

    def __init__(self, high: Rows, low: Rows, odd: dict[int, str], rows: Rows | None) -> None:
        self._high, self._low, self._odd, self._rows = high, low, odd, rows

    def __len__(self) -> int:
        return len(self._high if self._rows is None else self._rows)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[str]: ...
    def __getitem__(self, index: int | slice) -> str | Sequence[str]:
        if isinstance(index, slice):
            places = range(*index.indices(len(self)))
            return [self[place] for place in places]
        row = range(len(self))[index] if self._rows is None else int(self._rows[index])
        return self._odd.get(row) or f"{int(self._high[row]):016x}{int(self._low[row]):016x}"

    def __iter__(self) -> Iterator[str]:
        for start in range(0, len(self), AT_ONCE):
            rows = self._some(start)
            both = np.stack([self._high[rows], self._low[rows]], axis=1)
            digits = both.astype(">u8").tobytes().hex()
            for place, row in enumerate(rows.tolist()):
                yield self._odd.get(row) or digits[32 * place : 32 * place + 32]

    def _some(self, start: int) -> Rows:
        if self._rows is not None:
            return self._rows[start : start + AT_ONCE]
        return np.arange(start, min(start + AT_ONCE, len(self)))


def _keys(ids: Sequence[str]) -> NDArray[np.uint64]:
    """Two numbers for each id."""
    digits = "".join(item_id if _HEX.fullmatch(item_id) else _digest(item_id) for item_id in ids)
    return np.frombuffer(bytes.fromhex(digits), ">u8").astype(np.uint64).reshape(len(ids), 2)


def _digest(item_id: str) -> str:
    return blake2b(item_id.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
