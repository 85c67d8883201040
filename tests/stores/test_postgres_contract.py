"""The PostgreSQL store meets every contract."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from llmslim_memory.stores.postgres import PostgresStore
from llmslim_memory.testing import StoreContract


class TestPostgresStore(StoreContract):
    @pytest.fixture
    def store(self, open_postgres: Callable[..., PostgresStore]) -> PostgresStore:
        return open_postgres()
