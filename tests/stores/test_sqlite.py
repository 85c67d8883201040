"""The SQLite store meets every contract, in a file and in memory."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from llmslim_memory.stores import SQLiteStore
from llmslim_memory.testing import FullContract, FullSharedContract


class TestSQLiteStore(FullSharedContract):
    @pytest.fixture
    def opener(self, tmp_path: Path) -> partial[SQLiteStore]:
        return partial(SQLiteStore, tmp_path / "memory.db")

    @pytest.fixture
    def store(self, opener: partial[SQLiteStore]) -> Iterator[SQLiteStore]:
        with opener() as store:
            yield store


class TestSQLiteStoreInMemory(FullContract):
    @pytest.fixture
    def store(self) -> Iterator[SQLiteStore]:
        with SQLiteStore(":memory:") as store:
            yield store
