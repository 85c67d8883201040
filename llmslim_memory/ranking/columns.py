"""Columns of an index: arrays that grow at their end, and texts that take little memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray


class Column:
    """A numpy array that grows at its end; views taken earlier keep showing what they showed."""

    def __init__(self, dtype: type[np.generic], values: NDArray[Any] | None = None) -> None:
        self._data: NDArray[Any] = np.empty(64, dtype=dtype) if values is None else values.astype(dtype)
        self._size = 0 if values is None else len(values)

    def extend(self, values: Sequence[int] | NDArray[Any]) -> None:
        """Append values."""
        size = self._size + len(values)
        if size > len(self._data):
            grown = np.empty(max(size, len(self._data) * 9 // 8), dtype=self._data.dtype)
            grown[: self._size] = self._data[: self._size]
            self._data = grown
        self._data[self._size : size] = values
        self._size = size

    def widen(self, values: Sequence[int]) -> None:
        """Make room for values that are larger than those before, as few are."""
        if self._data.dtype != np.int64 and values and max(values) > np.iinfo(self._data.dtype).max:
            self._data = self._data.astype(np.int64)

    @property
    def view(self) -> NDArray[Any]:
        """The values appended so far."""
        return self._data[: self._size]

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return self._data.nbytes


class Coded(Sequence[str]):
    """Texts of which there are few different ones, by the number of each."""

    def __init__(self, codes: NDArray[Any], names: Sequence[str]) -> None:
        self._codes = codes
        self._names = names

    def __len__(self) -> int:
        return len(self._codes)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[str]: ...
    def __getitem__(self, index: int | slice) -> str | Sequence[str]:
        if isinstance(index, slice):
            return Coded(self._codes[index], self._names)
        return self._names[int(self._codes[index])]

    def __iter__(self) -> Iterator[str]:
        return map(self._names.__getitem__, self._codes.tolist())
