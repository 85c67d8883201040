"""The adapter does the same on every store of the core, and on one with the six methods of a store alone."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from llama_index.core.base.llms import types
from llama_index.core.base.llms.types import ChatMessage, ImageBlock, TextBlock
from llama_index.core.storage.chat_store.base_db import MessageStatus
from llama_index.memory.llmslim import LLMSlimChatStore, LLMSlimMemory, LLMSlimRetriever
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

PICTURE = base64.b64encode(b"\x89PNG\r\n\x1a\n" + bytes(range(256)))


def said() -> list[ChatMessage]:
    """A session with something of everything that databases find hard to keep."""
    extras = {"$set": {"a.b": [1, 2.5, None]}, "": True, "big": 2**70, "not a number": float("inf"), "raw": b"\xff\x00"}
    call = {"id": "c1", "function": {"name": "find", "arguments": '{"$where": "x"}'}}
    messages = [
        ChatMessage(role="system", content="Be brief."),
        ChatMessage(role="user", blocks=[TextBlock(text="My dog is called Bruno."), ImageBlock(image=PICTURE)]),
        ChatMessage(role="assistant", content="", additional_kwargs={"tool_calls": [call]}),
        ChatMessage(role="tool", content="naïve 日本語 🐕", additional_kwargs={"tool_call_id": "c1", **extras}),
        ChatMessage(role="assistant", content="Bruno, then."),
    ]
    if hasattr(types, "ThinkingBlock"):
        messages[-1].blocks.insert(0, types.ThinkingBlock(content="hm", additional_information={"signature": "c2ln"}))
    return messages


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


def test_a_session_is_kept_recalled_and_ended_alike(store: Any) -> None:
    memory = Memory(store)

    async def scenario() -> None:
        session = LLMSlimMemory.from_defaults(memory=memory, user_id="ann", session_id="s1")
        await session.aput_messages(said())
        assert await session.aget_all() == said()
        await session.aset(said()[1:])
        assert await session.aget_all() == said()[1:]
        chats = LLMSlimChatStore(memory, user_id="ann")
        assert await chats.archive_oldest_messages("s1", 1) == said()[1:2]
        assert await chats.get_messages("s1", status=MessageStatus.ARCHIVED) == said()[1:2]
        later = LLMSlimMemory.from_defaults(memory=memory, user_id="ann", session_id="s2")
        [recalled] = await later.aget(input="What is my dog called?")
        assert "user: My dog is called Bruno." in str(recalled.content)
        assert "Be brief." not in str(recalled.content)
        found = await LLMSlimRetriever(memory, user_id="ann").aretrieve("What is my dog called?")
        assert found[0].get_content() == "My dog is called Bruno.\n[image]"
        await session.areset(forget=True)
        assert await later.aget(input="What is my dog called?") == []

    asyncio.run(scenario())


def test_twenty_puts_at_once_are_stored_twenty_times(store: Any) -> None:
    chats = LLMSlimChatStore(Memory(store), user_id="ann")

    async def crowd() -> list[ChatMessage]:
        messages = [ChatMessage(role="user", content=str(number)) for number in range(20)]
        await asyncio.gather(*(chats.add_message("s1", message) for message in messages))
        return await chats.get_messages("s1")

    assert sorted(int(message.content or 0) for message in asyncio.run(crowd())) == list(range(20))
