"""A memory that fails or is slow does not end the conversation, unless that is asked for."""

from __future__ import annotations

import asyncio
import logging
import time
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import tool
from langchain_llmslim import LLMSlimMemoryMiddleware, create_recall_tool, memory_context
from langgraph.checkpoint.memory import InMemorySaver

from llmslim_memory import AsyncMemory, InMemoryStore, Memory, StoreError, StoreUnavailableError

THREAD = {"configurable": {"thread_id": "t1"}}


class BrokenStore(InMemoryStore):
    """A store whose database went away, and whose driver's error shows what was said."""

    broken: type[Exception] | None = None

    def _check(self) -> None:
        if self.broken is not None:
            raise self.broken("secret")

    def apply(self, *args: Any, **kwargs: Any) -> Any:
        self._check()
        return super().apply(*args, **kwargs)

    def changes(self, *args: Any, **kwargs: Any) -> Any:
        self._check()
        return super().changes(*args, **kwargs)

    def list(self, *args: Any, **kwargs: Any) -> Any:
        self._check()
        return super().list(*args, **kwargs)


class SlowStore(InMemoryStore):
    def apply(self, *args: Any, **kwargs: Any) -> Any:
        time.sleep(0.1)
        return super().apply(*args, **kwargs)

    def changes(self, *args: Any, **kwargs: Any) -> Any:
        time.sleep(0.1)
        return super().changes(*args, **kwargs)


@tool
def search(query: str) -> str:
    """Search."""
    return f"found {query}"


CALL = AIMessage("", tool_calls=[{"name": "search", "args": {"query": "x"}, "id": "c1"}])
ASKED = {"messages": [{"role": "user", "content": "secret"}]}


@pytest.fixture
def store() -> BrokenStore:
    return BrokenStore()


@pytest.mark.parametrize("error", [StoreUnavailableError, RuntimeError])
def test_a_run_goes_on_without_memory_and_warns_once(
    store: BrokenStore, error: type[Exception], model: Any, run: Any, caplog: pytest.LogCaptureFixture
) -> None:
    store.broken = error
    middleware = [LLMSlimMemoryMiddleware(Memory(store), user_id="ann")]
    bot = create_agent(model(CALL, "Done."), [search], middleware=middleware)
    assert run(bot, ASKED, THREAD)["messages"][-1].content == "Done."
    (record,) = [r for r in caplog.records if r.name == "langchain_llmslim.agent_memory"]
    assert record.levelno == logging.WARNING
    assert record.getMessage().startswith(f"memory failed at record in session 't1': {error.__name__}")
    if error is RuntimeError:
        assert "secret" not in record.getMessage()


def test_a_database_that_cannot_be_opened_warns_too(
    model: Any, tmp_path: Any, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "memory.db").write_bytes(b"this is no database" * 100)
    middleware = [LLMSlimMemoryMiddleware(AsyncMemory(tmp_path / "memory.db"), user_id="ann")]
    create_agent(model("Done."), [], middleware=middleware).invoke(ASKED, THREAD)
    assert len([r for r in caplog.records if r.name == "langchain_llmslim.agent_memory"]) == 1


def test_a_memory_that_was_closed_is_named_in_the_warning(
    memory_file: Memory, model: Any, run: Any, caplog: pytest.LogCaptureFixture
) -> None:
    bot = create_agent(model("ok"), [], middleware=[LLMSlimMemoryMiddleware(memory_file, user_id="ann")])
    memory_file.close()
    assert run(bot, ASKED, {"configurable": {"thread_id": "t1"}})["messages"][-1].content == "ok"
    (record,) = [record for record in caplog.records if record.name.startswith("langchain_llmslim")]
    assert "memory failed at record in session 't1': StoreClosedError: " in record.getMessage()


def test_each_run_warns_anew(store: BrokenStore, model: Any, run: Any, caplog: pytest.LogCaptureFixture) -> None:
    store.broken = StoreUnavailableError
    middleware = [LLMSlimMemoryMiddleware(Memory(store), user_id="ann")]
    bot = create_agent(model("a", "b"), [], middleware=middleware, checkpointer=InMemorySaver())
    run(bot, ASKED, THREAD)
    run(bot, ASKED, THREAD)
    assert len([r for r in caplog.records if r.name == "langchain_llmslim.agent_memory"]) == 2


def test_what_was_not_stored_is_stored_once_the_memory_is_back(store: BrokenStore, model: Any, run: Any) -> None:
    memory = Memory(store)
    middleware = [LLMSlimMemoryMiddleware(memory, user_id="ann")]
    bot = create_agent(model("a", "b"), [], middleware=middleware, checkpointer=InMemorySaver())
    store.broken = StoreUnavailableError
    run(bot, ASKED, THREAD)
    store.broken = None
    run(bot, {"messages": [{"role": "user", "content": "again"}]}, THREAD)
    assert [item.content for item in memory.get_all(user_id="ann")] == ["secret", "a", "again", "b"]


def test_a_failure_can_end_the_run(store: BrokenStore, model: Any, run: Any) -> None:
    store.broken = StoreUnavailableError
    chat = model("never")
    middleware = [LLMSlimMemoryMiddleware(Memory(store), user_id="ann", on_error="raise")]
    with pytest.raises(StoreUnavailableError):
        run(create_agent(chat, [], middleware=middleware), ASKED, THREAD)
    assert chat.seen == []


def test_a_failure_can_be_handled_by_a_function(
    store: BrokenStore, model: Any, run: Any, caplog: pytest.LogCaptureFixture
) -> None:
    store.broken = StoreUnavailableError
    told: list[tuple[str, str]] = []
    middleware = LLMSlimMemoryMiddleware(
        Memory(store), user_id="ann", on_error=lambda stage, error: told.append((stage, type(error).__name__))
    )
    run(create_agent(model("Done."), [], middleware=[middleware]), ASKED, THREAD)
    assert set(told) == {("record", "StoreUnavailableError"), ("recall", "StoreUnavailableError")}
    assert not [r for r in caplog.records if r.name == "langchain_llmslim.agent_memory"]


async def test_a_slow_memory_does_not_hold_up_the_event_loop(model: Any) -> None:
    memory = Memory(SlowStore())
    bot = create_agent(model("Done."), [], middleware=[LLMSlimMemoryMiddleware(memory, user_id="ann")])
    running = asyncio.ensure_future(bot.ainvoke(ASKED, THREAD))
    beats = 0
    while not running.done():
        await asyncio.sleep(0.01)
        beats += 1
    assert (await running)["messages"][-1].content == "Done."
    assert beats > 5


def test_the_tool_tells_the_model_that_memory_cannot_be_read(store: BrokenStore, model: Any, run: Any) -> None:
    store.broken = StoreError
    recall = create_recall_tool(Memory(store), user_id="ann")
    asked = AIMessage("", tool_calls=[{"name": "recall_memory", "args": {"query": "x"}, "id": "c1"}])
    result = run(create_agent(model(asked, "Sorry."), [recall]), ASKED, THREAD)
    (answer,) = [m for m in result["messages"] if isinstance(m, ToolMessage)]
    assert (answer.status, answer.content) == ("error", "memory cannot be read now (StoreError)")


def test_a_chain_raises_what_memory_raises(store: BrokenStore) -> None:
    store.broken = StoreUnavailableError
    with pytest.raises(StoreUnavailableError):
        memory_context(Memory(store), user_id="ann").invoke("What?")
