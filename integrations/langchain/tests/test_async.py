"""Nothing blocks the event loop: neither the first call, which opens the database and loads a tokenizer, nor others."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage
from langchain_llmslim import LLMSlimMemoryMiddleware, create_recall_tool
from langgraph.checkpoint.memory import InMemorySaver

from llmslim_memory import AsyncMemory, InMemoryStore, Memory

CALL = AIMessage("", tool_calls=[{"name": "recall_memory", "args": {"query": "bike"}, "id": "c1"}])


def user(text: str) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": text}]}


def thread(name: str) -> dict[str, Any]:
    return {"configurable": {"thread_id": name}}


def agent(model: Any, memory: Any) -> Any:
    return create_agent(
        model,
        [create_recall_tool(memory, user_id="ann")],
        middleware=[LLMSlimMemoryMiddleware(memory, user_id="ann", on_error="raise")],
        checkpointer=InMemorySaver(),
    )


async def test_an_agent_opens_its_database_at_the_first_call(model: Any, tmp_path: Path) -> None:
    chat = model("Noted.", CALL, "Red.")
    async with AsyncMemory(tmp_path / "memory.db") as memory:
        bot = agent(chat, memory)
        await bot.ainvoke(user("My bike is red."), thread("t1"))
        result = await bot.ainvoke(user("What colour is my bike?"), thread("t2"))
    assert "My bike is red." in chat.seen[1][0].content
    assert "My bike is red." in result["messages"][-2].content


async def test_an_agent_with_a_shared_memory_streams_and_batches(model: Any, tmp_path: Path) -> None:
    memory = await asyncio.to_thread(Memory, tmp_path / "memory.db")
    bot = agent(model("one two", "three", "four"), memory)
    parts = [part async for part in bot.astream(user("Count"), thread("t1"), stream_mode="messages")]
    assert len(parts) > 1
    await bot.abatch([user("Go on"), user("Go on")], [thread("t2"), thread("t3")])
    items = await asyncio.to_thread(memory.get_all, user_id="ann")
    await asyncio.to_thread(memory.close)
    assert sorted(item.content for item in items) == ["Count", "Go on", "Go on", "four", "one two", "three"]


class WatchedStore(InMemoryStore):
    """Remembers which threads used it."""

    def __init__(self) -> None:
        super().__init__()
        self.threads: set[str] = set()

    def apply(self, *args: Any, **kwargs: Any) -> Any:
        self.threads.add(threading.current_thread().name)
        return super().apply(*args, **kwargs)

    def changes(self, *args: Any, **kwargs: Any) -> Any:
        self.threads.add(threading.current_thread().name)
        return super().changes(*args, **kwargs)


async def test_the_store_is_never_used_in_the_event_loops_thread(model: Any) -> None:
    store = WatchedStore()
    bot = agent(model("Noted.", CALL, "Red."), Memory(store))
    await bot.ainvoke(user("My bike is red."), thread("t1"))
    await bot.ainvoke(user("What colour?"), thread("t1"))
    assert store.threads
    assert threading.current_thread().name not in store.threads


async def test_a_sync_agent_runs_in_a_thread_of_an_async_program(model: Any) -> None:
    memory = Memory()
    bot = agent(model("Noted."), memory)
    await asyncio.to_thread(bot.invoke, user("My bike is red."), thread("t1"))
    assert len(memory.get_all(user_id="ann")) == 2


def test_one_middleware_serves_one_event_loop_after_the_other(model: Any) -> None:
    memory = Memory()
    bot = agent(model("a", "b"), memory)
    for _ in range(2):
        asyncio.run(bot.ainvoke(user("Hello"), thread("t1")))
    assert len(memory.get_all(user_id="ann")) == 4


async def test_a_cancelled_run_keeps_what_the_user_said(model: Any) -> None:
    memory = Memory()
    started = asyncio.Event()

    class Slow(type(model())):  # type: ignore[misc]
        async def _agenerate(self, *args: Any, **kwargs: Any) -> Any:
            started.set()
            await asyncio.sleep(60)

    bot = agent(Slow(messages=iter([])), memory)
    running = asyncio.ensure_future(bot.ainvoke(user("My bike is red."), thread("t1")))
    await started.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert [item.content for item in memory.get_all(user_id="ann")] == ["My bike is red."]
