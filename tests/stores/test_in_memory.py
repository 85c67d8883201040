"""The store in this process meets every contract."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from llmslim_memory.stores import InMemoryStore
from llmslim_memory.testing import FullContract


class TestInMemoryStore(FullContract):
    @pytest.fixture
    def store(self) -> Iterator[InMemoryStore]:
        with InMemoryStore() as store:
            yield store
