"""The adapter does the same on every store of the core, and on one with the six methods of a store alone."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from blockbuster import blockbuster_ctx
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.runnables import RunnableLambda
from langchain_core.runnables.history import RunnableWithMessageHistory
from langchain_llmslim import LLMSlimChatMessageHistory, LLMSlimMemoryMiddleware, LLMSlimRetriever
from servers.fixtures import (
    collection,
    mongo_url,
    open_mongo,
    open_postgres,
    own_postgres_url,
    postgres_url,
    table,
)

from llmslim_memory import InMemoryStore, Memory, SQLiteStore

__all__ = ["collection", "mongo_url", "open_mongo", "open_postgres", "own_postgres_url", "postgres_url", "table"]

CALL = {"name": "find", "args": {"$where": "x", "a.b": [1, 2.5, None]}, "id": "c1", "type": "tool_call"}
SAID: list[BaseMessage] = [
    HumanMessage([{"type": "text", "text": "My dog is called Bruno."}, {"type": "image", "base64": "iVBORw0KGgo="}]),
    AIMessage(
        "", tool_calls=[CALL], id="a1", usage_metadata={"input_tokens": 1, "output_tokens": 2, "total_tokens": 3}
    ),
    ToolMessage("naïve 日本語 🐕", tool_call_id="c1", artifact={"$set": {"": True}, "big": 2**70}, id="t1"),
    AIMessage(
        [{"type": "thinking", "thinking": "hm", "signature": "c2ln"}, {"type": "text", "text": "Bruno."}], id="a2"
    ),
]


class BareStore:
    """Only what every store must have."""

    def __init__(self) -> None:
        inner = InMemoryStore()
        for name in ("add", "list", "get", "update", "delete", "delete_scope"):
            setattr(self, name, getattr(inner, name))


@pytest.fixture
def sqlite(tmp_path: Path) -> Iterator[SQLiteStore]:
    store = SQLiteStore(tmp_path / "memory.db")
    yield store
    store.close()


@pytest.fixture(params=["memory", "sqlite", "postgres", "mongodb", "bare"])
def store(request: pytest.FixtureRequest) -> Any:
    if request.param in ("memory", "bare"):
        return InMemoryStore() if request.param == "memory" else BareStore()
    if request.param == "sqlite":
        return request.getfixturevalue("sqlite")
    return request.getfixturevalue({"postgres": "open_postgres", "mongodb": "open_mongo"}[request.param])()


def test_a_session_is_kept_recalled_and_cleared_alike(store: Any, model: Any, run: Any) -> None:
    memory = Memory(store)
    history = LLMSlimChatMessageHistory(memory, session_id="s1", user_id="ann")
    history.add_messages(SAID)
    assert history.messages == SAID
    history.add_messages(SAID[1:3])
    assert history.messages == SAID
    chat = model("Bruno.")
    bot = create_agent(chat, [], middleware=[LLMSlimMemoryMiddleware(memory, user_id="ann", on_error="raise")])
    run(bot, {"messages": [("user", "What is my dog called?")]}, {"configurable": {"thread_id": "t1"}})
    assert "user: My dog is called Bruno." in chat.seen[0][0].text
    found = LLMSlimRetriever(memory=memory, user_id="ann", k=3).invoke("What is my dog called?")
    assert "My dog is called Bruno.\n[image]" in [document.page_content for document in found]
    history.clear()
    assert history.messages == []
    assert all("My dog" not in document.page_content for document in history.recall("my dog"))


@pytest.mark.filterwarnings("ignore:RunnableWithMessageHistory is deprecated")
def test_async_calls_of_a_chain_store_each_message_once(store: Any) -> None:
    memory = Memory(store)
    chain = RunnableWithMessageHistory(
        RunnableLambda(lambda said: AIMessage(f"re: {said[-1].text}")),
        lambda session: LLMSlimChatMessageHistory(memory, session_id=session, user_id="ann"),
    )

    async def talk() -> list[str]:
        with blockbuster_ctx():
            for number in range(5):
                await chain.ainvoke([HumanMessage(str(number))], {"configurable": {"session_id": "s1"}})
            history = LLMSlimChatMessageHistory(memory, session_id="s1", user_id="ann")
            return [message.text for message in await history.aget_messages()]

    assert asyncio.run(talk()) == [text for n in range(5) for text in (str(n), f"re: {n}")]
