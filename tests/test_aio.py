"""AsyncMemory does what Memory does, and the event loop never waits for it."""

from __future__ import annotations

import asyncio
import threading
import time
from pathlib import Path

import pytest
from blockbuster import BlockBuster

from llmslim_memory import Applied, AsyncMemory, Batch, InMemoryStore, Memory, MemoryItem, Scope
from llmslim_memory.errors import StoreClosedError


@pytest.fixture(autouse=True)
def no_blocking() -> object:
    buster = BlockBuster()
    buster.activate()
    yield
    buster.deactivate()


async def test_it_remembers_in_a_file_and_closes_it(tmp_path: Path) -> None:
    async with AsyncMemory(tmp_path / "m.db") as memory:
        await memory.add({"role": "user", "content": "I moved to Pune."}, user_id="u1")
        context = await memory.search("Where do I live?", user_id="u1")
        assert "Pune" in context.text
        assert [hit.text for hit in await memory.rank("moved", user_id="u1")] == ["I moved to Pune."]
        (item,) = await memory.get_all(user_id="u1")
        assert await memory.get(item.id) == item
        assert memory.item_id("m", user_id="u1") == Memory.item_id("m", user_id="u1")
    with pytest.raises(StoreClosedError):
        await memory.get_all(user_id="u1")


async def test_a_memory_that_was_passed_in_is_shared_and_stays_open() -> None:
    inner = Memory()
    async with AsyncMemory(inner) as memory:
        await memory.add({"role": "user", "content": "x"}, user_id="u1")
    assert len(inner.get_all(user_id="u1")) == 1


async def test_options_beside_a_memory_are_refused() -> None:
    with pytest.raises(TypeError, match="budget"):
        AsyncMemory(Memory(), budget=5)


async def test_fifty_tasks_store_fifty_turns() -> None:
    memory = AsyncMemory()
    await asyncio.gather(*(memory.add({"role": "user", "content": str(n)}, user_id="u1") for n in range(50)))
    assert sorted(int(item.content) for item in await memory.get_all(user_id="u1")) == list(range(50))


class SlowStore(InMemoryStore):
    def get(self, item_id: str) -> MemoryItem | None:
        time.sleep(0.2)
        return super().get(item_id)


async def test_the_loop_goes_on_while_the_store_is_slow() -> None:
    memory = AsyncMemory(SlowStore())
    waiting = asyncio.create_task(memory.get("x"))
    ticks = 0
    while not waiting.done():
        await asyncio.sleep(0.01)
        ticks += 1
    assert ticks > 3


class WaitingStore(InMemoryStore):
    """Begins to write, and goes on when it is told to."""

    def __init__(self) -> None:
        super().__init__()
        self.begun, self.told, self.done = threading.Event(), threading.Event(), threading.Event()

    def apply(self, batch: Batch) -> Applied:
        self.begun.set()
        self.told.wait(30)
        applied = super().apply(batch)
        self.done.set()
        return applied


async def test_a_write_that_had_begun_when_it_was_cancelled_is_finished() -> None:
    store = WaitingStore()
    memory = AsyncMemory(store)
    task = asyncio.create_task(memory.add([{"role": "user", "content": str(n)} for n in range(100)], user_id="u1"))
    await asyncio.to_thread(store.begun.wait, 30)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert store.list(Scope("u1")) == []
    store.told.set()
    await asyncio.to_thread(store.done.wait, 30)
    assert len(store.list(Scope("u1"))) == 100
