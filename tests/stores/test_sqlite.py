"""The SQLite store meets every contract, in a file and in memory."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from llmslim_memory.stores import SQLiteStore
from llmslim_memory.testing import StoreContract


class TestSQLiteStore(StoreContract):
    @pytest.fixture
    def store(self, tmp_path: Path) -> Iterator[SQLiteStore]:
        with SQLiteStore(tmp_path / "memory.db") as store:
            yield store


class TestSQLiteStoreInMemory(StoreContract):
    @pytest.fixture
    def store(self) -> Iterator[SQLiteStore]:
        with SQLiteStore(":memory:") as store:
            yield store
