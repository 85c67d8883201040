"""Memories with Mem0's API, in this process only, and the database servers."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from servers.fixtures import collection, mongo_url, open_mongo, open_postgres, own_postgres_url, postgres_url, table

from llmslim_memory import Memory as TurnMemory
from llmslim_memory.mem0 import Memory, MemoryClient

__all__ = ["collection", "mongo_url", "open_mongo", "open_postgres", "own_postgres_url", "postgres_url", "table"]


@pytest.fixture
def turns() -> Iterator[TurnMemory]:
    """The memory of ours beneath."""
    with TurnMemory(encoding=len) as opened:
        yield opened


@pytest.fixture
def memory(turns: TurnMemory) -> Memory:
    return Memory(db=turns)


@pytest.fixture
def strict(turns: TurnMemory) -> Memory:
    """The same turns, with Mem0 2.x's refusals."""
    return Memory(db=turns, strict=True)


@pytest.fixture
def client(turns: TurnMemory) -> MemoryClient:
    return MemoryClient(db=turns)
