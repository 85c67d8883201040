"""Memories with Mem0's API, in this process only, and the database servers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from servers.fixtures import collection, mongo_url, open_mongo, open_postgres, own_postgres_url, postgres_url, table

from llmslim_memory import InMemoryStore, SQLiteStore
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


@pytest.fixture(params=["in memory", "SQLite", "PostgreSQL", "MongoDB"])
def any_store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Any]:
    """An empty store of each kind."""
    if request.param in ("PostgreSQL", "MongoDB"):
        yield request.getfixturevalue({"PostgreSQL": "open_postgres", "MongoDB": "open_mongo"}[request.param])()
    else:
        with InMemoryStore() if request.param == "in memory" else SQLiteStore(tmp_path / "m.db") as store:
            yield store
