"""What a filter rules out is not read: the store itself meets conditions on ids, roles, times and metadata's texts."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from llmslim_memory import Memory as TurnMemory
from llmslim_memory import SupportsFind
from llmslim_memory.mem0 import Memory
from llmslim_memory.types import MemoryItem, Page

FIRST = datetime(2026, 1, 1, tzinfo=UTC)
TURNS = 240


class Counted:
    """A store that counts the turns it hands over."""

    def __init__(self, store: Any) -> None:
        self._store = store
        self.read = 0
        for name in set(dir(store)) - set(dir(self)):
            # From Python 3.12 on a protocol is not met by methods that only __getattr__ gives.
            setattr(self, name, getattr(store, name))

    def list(self, *asked: Any, **window: Any) -> list[MemoryItem]:
        return self._count(self._store.list(*asked, **window))

    def find(self, where: Any) -> list[MemoryItem]:
        return self._count(self._store.find(where))

    def scan(self, **asked: Any) -> Page:
        page: Page = self._store.scan(**asked)
        self._count(list(page.items))
        return page

    def _count(self, items: list[MemoryItem]) -> list[MemoryItem]:
        self.read += len(items)
        return items


def item(n: int) -> MemoryItem:
    """One turn an hour, of one of four users, in one of six runs, some of tools."""
    return MemoryItem(
        id=f"t{n}",
        role="tool" if n % 10 == 0 else "user",
        content=f"word {n}",
        created_at=FIRST + timedelta(hours=n),
        user_id=f"user {n % 4}",
        run_id=f"run {n % 6}",
        metadata={"category": ["work", "home", "sport"][n % 3], "tags": ["rare"] if n % 40 == 0 else ["x", "y"]},
    )


@pytest.fixture
def counted(any_store: Any) -> Counted:
    any_store.add([item(n) for n in range(TURNS)])
    return Counted(any_store)


EXACT: dict[str, dict[str, Any]] = {
    "one user": {"user_id": "user 1"},
    "two users": {"user_id": {"in": ["user 1", "user 3"]}},
    "a user or a run": {"OR": [{"user_id": "user 2"}, {"run_id": "run 5"}]},
    "a run of a user": {"user_id": "user 1", "run_id": {"in": ["run 1", "run 3"]}},
    "from a day on": {"user_id": "user 1", "created_at": {"gte": "2026-01-09"}},
    "within a day": {"user_id": "user 1", "created_at": {"gt": "2026-01-02", "lte": "2026-01-03T00:00:00Z"}},
    "one moment": {"user_id": "user 0", "created_at": "2026-01-01T04:00:00+00:00"},
    "tools": {"user_id": "user 0", "role": "tool"},
    "a category": {"user_id": "user 1", "category": "home"},
    "a category, as hosted": {"user_id": "user 1", "metadata": {"category": {"eq": "home"}}},
    "two categories": {"user_id": "user 1", "category": {"in": ["home", "work"]}},
    "an entry of a list": {"user_id": "user 0", "tags": "rare"},
    "all at once": {"AND": [{"user_id": "user 0"}, {"tags": "rare"}, {"created_at": {"lt": "2026-01-05"}}]},
}


@pytest.mark.parametrize("name", EXACT)
def test_no_more_is_read_than_passes(counted: Counted, name: str) -> None:
    assert isinstance(counted, SupportsFind)
    with TurnMemory(counted, encoding=len) as turns:
        found = Memory(db=turns).get_all(filters=EXACT[name], top_k=TURNS)["results"]
        # A memory that is a user's and in a run is read once for each.
        twice = [m for m in found if (m["user_id"], m["run_id"]) == ("user 2", "run 5")] if "or a run" in name else []
        assert counted.read == len(found) + len(twice)
        assert 0 < len(found) < TURNS * 3 / 4


@pytest.mark.parametrize("name", EXACT)
def test_a_search_reads_what_passes_and_what_it_shows(counted: Counted, name: str) -> None:
    with TurnMemory(counted, encoding=len) as turns:
        memory = Memory(db=turns)
        listed = {m["id"] for m in memory.get_all(filters=EXACT[name], top_k=TURNS)["results"]}
        counted.read = 0
        found = memory.search("word", filters=EXACT[name], top_k=TURNS)["results"]
        assert {m["id"] for m in found} == listed
        assert counted.read <= 2 * len(listed)


def test_what_only_the_filter_can_tell_is_still_narrowed_by_the_rest(counted: Counted) -> None:
    with TurnMemory(counted, encoding=len) as turns:
        filters = {"user_id": "user 1", "category": "home", "NOT": [{"data": {"contains": "7"}}]}
        found = Memory(db=turns).get_all(filters=filters, top_k=TURNS)["results"]
        assert counted.read == 20
        assert len(found) < 20
