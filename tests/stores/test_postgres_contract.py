"""The PostgreSQL store meets every contract."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest

from llmslim_memory.stores.postgres import PostgresStore
from llmslim_memory.testing import FullSharedContract


class TestPostgresStore(FullSharedContract):
    @pytest.fixture
    def opener(self, postgres_url: str, table: str) -> partial[PostgresStore]:
        return partial(PostgresStore, postgres_url, table=table)

    @pytest.fixture
    def store(self, open_postgres: Callable[..., PostgresStore]) -> PostgresStore:
        return open_postgres()
