"""The chat store keeps the contract of LlamaIndex's own, durably and for the long term."""

from __future__ import annotations

import asyncio
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.memory import Memory as LlamaMemory
from llama_index.core.storage.chat_store.base_db import MessageStatus
from llama_index.core.storage.chat_store.sql import SQLAlchemyChatStore
from llama_index.memory.llmslim import LLMSlimChatStore, turns_to_chat_messages
from llama_index.memory.llmslim.transcript import Transcript
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.pool import StaticPool

from llmslim_memory import Applied, Batch, ContextEnvelope, InMemoryStore, Memory

ACTIVE, ARCHIVED = MessageStatus.ACTIVE, MessageStatus.ARCHIVED


def user(text: str) -> ChatMessage:
    return ChatMessage(role="user", content=text)


def assistant(text: str) -> ChatMessage:
    return ChatMessage(role="assistant", content=text)


def texts(messages: list[ChatMessage]) -> list[str | None]:
    return [message.content for message in messages]


said = st.builds(
    ChatMessage, role=st.sampled_from(["user", "assistant", "system", "tool"]), content=st.sampled_from(["a", "b", "c"])
)
histories = st.lists(said, max_size=6)
keys = st.sampled_from(["s1", "s2"])
statuses = st.sampled_from([ACTIVE, ARCHIVED])
steps = st.lists(
    st.one_of(
        st.tuples(st.just("add_message"), keys, said, statuses),
        st.tuples(st.just("add_messages"), keys, histories.filter(bool), statuses),
        st.tuples(st.just("set_messages"), keys, histories, statuses),
        st.tuples(st.just("delete_messages"), keys, statuses | st.none()),
        st.tuples(st.just("delete_oldest_messages"), keys, st.integers(0, 4)),
        st.tuples(st.just("archive_oldest_messages"), keys, st.integers(0, 4)),
    ),
    max_size=10,
)


async def view(store: Any) -> dict[str, Any]:
    found: dict[str, Any] = {"keys": sorted(await store.get_keys())}
    for key in ("s1", "s2"):
        for status in (ACTIVE, ARCHIVED, None):
            found[f"{key} {status}"] = await store.get_messages(key, status=status)
            found[f"{key} {status} count"] = await store.count_messages(key, status=status)
    return found


async def replay(store: Any, done: list[Any]) -> list[Any]:
    answers = [await getattr(store, name)(*arguments) for name, *arguments in done]
    return [*answers, await view(store)]


@given(steps)
@settings(max_examples=80, deadline=None)
def test_the_store_does_what_llama_indexs_own_store_does(done: list[Any]) -> None:
    async def both() -> tuple[list[Any], list[Any]]:
        # One shared connection: the default in-memory database gives each connection its own, empty one.
        engine = create_async_engine("sqlite+aiosqlite://", poolclass=StaticPool)
        try:
            theirs = await replay(SQLAlchemyChatStore(table_name="messages", async_engine=engine), done)
        finally:
            await engine.dispose()
        return await replay(LLMSlimChatStore(Memory(), user_id="ann"), done), theirs

    ours, theirs = asyncio.run(both())
    assert ours == theirs


@given(st.lists(histories, max_size=5))
@settings(max_examples=50, deadline=None)
def test_a_history_set_again_and_again_is_what_was_set_last(settings_done: list[list[ChatMessage]]) -> None:
    transcript = Transcript(Memory(), user_id="ann", agent_id=None, session_id="s1")
    store = LLMSlimChatStore(transcript._memory, user_id="ann")
    for history in settings_done:
        transcript.replace(history)
        assert asyncio.run(store.get_messages("s1")) == history


async def test_a_history_that_a_client_resends_each_time_is_stored_once(memory: Memory) -> None:
    store = LLMSlimChatStore(memory, user_id="ann")
    history: list[ChatMessage] = []
    for number in range(4):
        await store.set_messages("s1", history)
        history += [user("yes"), assistant(f"noted {number}")]
        await store.add_messages("s1", history[-2:])
    assert texts(await store.get_messages("s1")) == [m.content for m in history]
    assert len(memory.get_all(user_id="ann")) == 8


async def test_a_shortened_history_keeps_what_was_said_for_the_long_term(memory: Memory) -> None:
    store = LLMSlimChatStore(memory, user_id="ann")
    await store.add_messages("s1", [user("My dog is Bruno."), assistant("Noted."), user("Bye.")])
    await store.set_messages("s1", [ChatMessage(role="system", content="Summary: a dog."), user("Bye.")])
    assert texts(await store.get_messages("s1")) == ["Summary: a dog.", "Bye."]
    found = await asyncio.to_thread(memory.search, "What is my dog called?", user_id="ann")
    assert "Bruno" in found.text


async def test_two_processes_that_set_the_same_history_at_once_store_it_once(tmp_path: Path) -> None:
    history = [user("hi"), assistant("hello"), user("My dog is Bruno.")]
    stores = [LLMSlimChatStore(tmp_path / "memory.db", user_id="ann") for _ in range(4)]
    await asyncio.gather(*(store.set_messages("s1", history) for store in stores))
    assert await stores[0].get_messages("s1") == history
    assert await stores[0].count_messages("s1") == 3


class CountingStore(InMemoryStore):
    """Counts its writes."""

    writes = 0

    def apply(self, batch: Batch) -> Applied:
        self.writes += 1
        return super().apply(batch)


async def test_a_history_is_set_archived_and_deleted_in_one_write_each() -> None:
    inner = CountingStore()
    store = LLMSlimChatStore(Memory(inner), user_id="ann")
    await store.add_messages("s1", [user("one"), assistant("two"), user("three"), assistant("four")])
    for change in (
        store.set_messages("s1", [user("zero"), user("three"), assistant("four"), user("five")]),
        store.archive_oldest_messages("s1", 2),
        store.delete_oldest_messages("s1", 2),
        store.delete_messages("s1"),
        store.delete_messages("s1", forget=True),
    ):
        before = inner.writes
        await change
        assert inner.writes == before + 1


class Crash(BaseException):
    """The process dies here."""


class CrashingStore:
    """A store with the six methods alone, whose process dies after so many more writes."""

    def __init__(self) -> None:
        self.inner, self.left = InMemoryStore(), 1000
        for name in ("list", "get"):
            setattr(self, name, getattr(self.inner, name))
        for name in ("add", "update", "delete", "delete_scope"):
            setattr(self, name, partial(self._write, name))

    def _write(self, name: str, *arguments: Any, **options: Any) -> Any:
        if self.left == 0:
            raise Crash
        self.left -= 1
        return getattr(self.inner, name)(*arguments, **options)


@pytest.mark.parametrize("crash_at", range(6))
def test_a_history_whose_setting_was_cut_short_has_lost_nothing_and_can_be_set_again(crash_at: int) -> None:
    store = CrashingStore()
    memory = Memory(store)  # type: ignore[arg-type]
    session = Transcript(memory, user_id="ann", agent_id=None, session_id="s1")
    session.append([user("one"), assistant("two"), user("three")])
    wanted = [user("zero"), assistant("two"), user("four"), assistant("five")]
    store.left = crash_at
    with pytest.raises(Crash) if crash_at < 3 else nullcontext():
        session.replace(wanted)
    store.left = 1000
    said = {item.content for item in memory.get_all(user_id="ann")}
    assert said >= {"one", "two", "three"}
    assert crash_at == 0 or said >= {"zero", "four", "five"}
    session.replace(wanted)
    assert turns_to_chat_messages(session.turns("active")) == wanted
    assert sorted(item.content for item in session.turns()) == ["five", "four", "one", "three", "two", "zero"]


async def test_what_was_recalled_is_not_stored_as_if_it_had_been_said(memory: Memory) -> None:
    store = LLMSlimChatStore(memory, user_id="ann")
    recalled = ContextEnvelope("user: I live in Pune.").to_text()
    prompt = ChatMessage(role="user", blocks=[*user(f"<memory>\n{recalled}\n</memory>").blocks, *user("Hi!").blocks])
    await store.set_messages("s1", [ChatMessage(role="system", content=recalled), prompt])
    assert texts(await store.get_messages("s1")) == ["Hi!"]
    assert texts_of(memory) == ["Hi!"]


async def test_a_message_that_quotes_recalled_history_stays_in_its_session(memory: Memory) -> None:
    store = LLMSlimChatStore(memory, user_id="ann")
    recalled = ContextEnvelope("user: I live in Pune.").to_text()
    said = [user(f"What does this mean?\n{recalled}"), assistant(recalled)]
    await store.add_messages("s1", said)
    assert await store.get_messages("s1") == said
    assert texts_of(memory) == ["", ""]


def texts_of(memory: Memory) -> list[str]:
    return [item.content for item in memory.get_all(user_id="ann")]


async def test_a_system_message_is_kept_for_the_session_and_never_recalled(memory: Memory) -> None:
    store = LLMSlimChatStore(memory, user_id="ann")
    await store.add_message("s1", ChatMessage(role="system", content="The code word is swordfish."))
    assert texts(await store.get_messages("s1")) == ["The code word is swordfish."]
    assert "swordfish" not in memory.search("What is the code word?", user_id="ann").text


async def test_deleting_ends_the_session_and_leaves_the_long_term_memory(memory: Memory) -> None:
    store = LLMSlimChatStore(memory, user_id="ann")
    await store.add_messages("s1", [user("My dog is Bruno."), user("Bye.")])
    removed = await store.delete_message("s1", 0)
    assert removed == user("My dog is Bruno.")
    await store.delete_messages("s1")
    assert await store.get_messages("s1", status=None) == []
    assert await store.get_keys() == []
    assert "Bruno" in memory.search("What is my dog called?", user_id="ann").text


@pytest.mark.parametrize("position", [-1, 5])
async def test_deleting_a_message_that_is_not_there_gives_none(memory: Memory, position: int) -> None:
    store = LLMSlimChatStore(memory, user_id="ann")
    await store.add_message("s1", user("hi"))
    assert await store.delete_message("s1", position) is None
    assert await store.count_messages("s1") == 1


async def test_forgetting_erases_what_earlier_resets_left(memory: Memory) -> None:
    store = LLMSlimChatStore(memory, user_id="ann")
    await store.add_message("s1", user("My dog is Bruno."))
    await store.delete_messages("s1")
    await store.delete_messages("s1", forget=True)
    assert texts_of(memory) == []


async def test_messages_come_by_page(memory: Memory) -> None:
    store = LLMSlimChatStore(memory, user_id="ann")
    await store.add_messages("s1", [user(str(n)) for n in range(5)])
    assert texts(await store.get_messages("s1", limit=2, offset=1)) == ["1", "2"]


async def test_a_session_of_another_user_or_agent_with_the_same_key_is_not_seen(memory: Memory) -> None:
    stores = [
        LLMSlimChatStore(memory, user_id="u1"),
        LLMSlimChatStore(memory, user_id="u10"),
        LLMSlimChatStore(memory, user_id="u1", agent_id="a_b"),
        LLMSlimChatStore(memory, user_id="u1", agent_id="axb"),
        LLMSlimChatStore(memory, agent_id="a_b"),
    ]
    for number, store in enumerate(stores):
        await store.add_message("default", user(f"secret {number}"))
    for number, store in enumerate(stores):
        assert texts(await store.get_messages("default")) == [f"secret {number}"]
        assert await store.get_keys() == ["default"]


@pytest.mark.parametrize("owner", [{}, {"user_id": " "}, {"user_id": None, "agent_id": None}, {"user_id": 7}])
def test_nobody_or_an_unusable_user_is_refused_at_once(memory: Memory, owner: dict[str, Any]) -> None:
    with pytest.raises((ValueError, TypeError), match=r"scope is empty|blank|must be a string"):
        LLMSlimChatStore(memory, **owner)


async def test_twenty_puts_at_once_are_stored_twenty_times_from_cold_and_warm(tmp_path: Path) -> None:
    store = LLMSlimChatStore(tmp_path / "memory.db", user_id="ann")
    for stage in ("cold", "warm"):
        await asyncio.gather(*(store.add_message(stage, user(f"{stage} {n}")) for n in range(20)))
        assert sorted(texts(await store.get_messages(stage))) == sorted(f"{stage} {n}" for n in range(20))


@pytest.mark.skipif(
    "chat_store" not in LlamaMemory.from_defaults.__code__.co_varnames,
    reason="llama-index-core 0.14.0 takes only its own",
)
async def test_llama_indexs_own_memory_works_on_the_store(memory: Memory) -> None:
    store = LLMSlimChatStore(memory, user_id="ann")
    chat = LlamaMemory.from_defaults(session_id="s1", chat_store=store)
    await chat.aput(user("My dog is Bruno."))
    assert texts(await chat.aget()) == ["My dog is Bruno."]
    assert "Bruno" in texts_of(memory)[0]
