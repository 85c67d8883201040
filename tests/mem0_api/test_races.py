"""An update and a deletion of one memory at the same moment: the history tells of both, and a purged one of neither."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from llmslim_memory import Memory as TurnMemory
from llmslim_memory.mem0 import Memory
from llmslim_memory.mem0.exceptions import MemoryNotFoundError
from llmslim_memory.mem0.records import CHANGE, HISTORY
from llmslim_memory.types import Record


@pytest.fixture
def memory(any_store: Any) -> Memory:
    return Memory(db=TurnMemory(any_store, encoding=len))


def said(memory: Memory) -> str:
    memory_id: str = memory.add("one", user_id="ann")["results"][0]["id"]
    return memory_id


def when_it_has_read_the_history(memory: Memory, monkeypatch: pytest.MonkeyPatch, act: Callable[[], object]) -> None:
    """Have ``act`` done by another the next time that the rows of a history were read."""
    records = memory._engine._records.records

    def reading(kind: str, **asked: Any) -> list[Record]:
        found = records(kind, **asked)
        if kind == HISTORY:
            monkeypatch.undo()
            act()
        return found

    monkeypatch.setattr(memory._engine._records, "records", reading)


def kept(memory: Memory) -> list[Record]:
    return [record for kind in (HISTORY, CHANGE) for record in memory._engine._records.records(kind)]


@pytest.mark.parametrize("everything", [False, True])
def test_a_deletion_keeps_the_row_of_an_update_that_came_between(
    memory: Memory, monkeypatch: pytest.MonkeyPatch, everything: bool
) -> None:
    memory_id = said(memory)
    when_it_has_read_the_history(memory, monkeypatch, lambda: memory.update(memory_id, "two"))
    if everything:
        memory.delete_all(user_id="ann")
    else:
        memory.delete(memory_id)
    told = [(row["event"], row["old_memory"], row["new_memory"]) for row in memory.history(memory_id)]
    assert told == [("ADD", None, "one"), ("UPDATE", "one", "two"), ("DELETE", "two", None)]
    assert {record.kind for record in kept(memory)} == {HISTORY}


@pytest.mark.parametrize("purge", [False, True])
def test_an_update_finds_no_memory_that_was_deleted_meanwhile_and_leaves_no_trace(
    memory: Memory, monkeypatch: pytest.MonkeyPatch, purge: bool
) -> None:
    memory_id = said(memory)
    apply = memory._engine.memory.apply

    def deleted_first(batch: Any) -> Any:
        monkeypatch.undo()
        memory.delete(memory_id, purge=purge)
        return apply(batch)

    monkeypatch.setattr(memory._engine.memory, "apply", deleted_first)
    with pytest.raises(MemoryNotFoundError):
        memory.update(memory_id, "two")
    assert [row["event"] for row in memory.history(memory_id)] == ([] if purge else ["ADD", "DELETE"])
    assert len(kept(memory)) == (0 if purge else 2)


def test_a_memory_that_was_deleted_another_way_and_came_back_can_be_updated(memory: Memory) -> None:
    memory_id = said(memory)
    memory.update(memory_id, "two")
    turns = memory._engine.memory
    (item,) = turns.get_all(user_id="ann")
    turns.delete(memory_id)
    turns.restore([item])
    memory.update(memory_id, "three")
    assert memory.get(memory_id)["memory"] == "three"
