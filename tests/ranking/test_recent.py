"""Turns read lately are not read again while they stand, and are read again as soon as they do not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from llmslim_memory import InMemoryStore, Memory
from llmslim_memory.indexing.recent import RecentTurns
from llmslim_memory.testing import turns as made
from llmslim_memory.types import MemoryItem
from tests.ranking.conftest import BareStore, turn


class CountingStore(InMemoryStore):
    """Notes which turns are read."""

    def __init__(self) -> None:
        super().__init__()
        self.reads: list[str] = []

    def get_many(self, item_ids: Sequence[str]) -> dict[str, MemoryItem]:
        self.reads += item_ids
        return super().get_many(item_ids)


def shown(memory: Memory, question: str = "green tea") -> list[MemoryItem]:
    return [recalled.item for recalled in memory.search(question, user_id="ann", budget=30).turns]


def filled(store: object) -> Memory:
    memory = Memory(store)  # type: ignore[arg-type]
    memory.restore([turn(n, f"I drink green tea of kind {n} at noon, and so does my aunt.") for n in range(9)])
    return memory


def test_a_turn_is_read_once_while_it_stands() -> None:
    store = CountingStore()
    memory = filled(store)
    first = shown(memory)
    store.reads.clear()
    assert shown(memory) == first
    assert store.reads == []


@pytest.mark.parametrize("make", [InMemoryStore, BareStore])
def test_a_changed_turn_is_read_again(make: type) -> None:
    memory = filled(make())
    (before, *_) = shown(memory)
    memory.update(before.id, content=before.content.replace("aunt", "uncle"))
    assert "uncle" in {item.id: item for item in shown(memory)}[before.id].content
    memory.update(before.id, metadata={"kind": "changed"})
    assert {item.id: item for item in shown(memory)}[before.id].metadata == {"kind": "changed"}
    memory.delete(before.id)
    assert before.id not in {item.id for item in shown(memory)}


def test_what_a_caller_does_to_metadata_stays_with_the_caller() -> None:
    memory = filled(InMemoryStore())
    memory.update("t8", metadata={"tags": ["tea"]})
    for recalled in memory.search("green tea", user_id="ann", budget=30).turns:
        recalled.item.metadata["tags"] = "mine"  # type: ignore[index]
    for hit in memory.rank("green tea", user_id="ann"):
        hit.item.metadata.get("tags", []).append("mine")
    again = {hit.item.id: hit.item.metadata for hit in memory.rank("green tea", user_id="ann")}
    assert again == {f"t{n}": {"tags": ["tea"]} if n == 8 else {} for n in range(9)}


def test_the_turns_kept_stay_within_their_bytes_and_the_ones_read_last_are_kept() -> None:
    stored = {f"t{n}": turn(n, "tea " * 100) for n in range(400)} | {"long": made.turn("x" * 50_000, id="long")}
    reads: list[str] = []

    def fetch(ids: Sequence[str]) -> dict[str, MemoryItem]:
        reads.extend(ids)
        return {item_id: stored[item_id] for item_id in ids}

    recent = RecentTurns(fetch, most=100_000)
    for item_id in stored:
        assert recent.read([item_id], [1])[item_id].item == stored[item_id]
        assert recent.nbytes <= 100_000
    reads.clear()
    recent.read(["t399", "t0", "long"], [1, 1, 1])
    assert reads == ["t0", "long"]


def test_a_turn_kept_at_another_revision_is_read_again() -> None:
    reads: list[str] = []
    recent = RecentTurns(lambda ids: reads.extend(ids) or {item_id: turn(1, "tea") for item_id in ids})  # type: ignore[func-returns-value]
    for revision in (1, 1, 2, 2):
        recent.read(["t1"], [revision])
    assert reads == ["t1", "t1"]
    recent.forget(["t1", "unknown"])
    assert recent.nbytes == 0


def test_metadata_counts_with_the_turn_that_carries_it() -> None:
    large = replace(turn(1, "tea"), metadata={"image": "x" * 1_000_000})
    recent = RecentTurns(lambda ids: dict.fromkeys(ids, large), most=2_000_000)
    recent.read(["t1"], [1])
    assert recent.nbytes == 0
