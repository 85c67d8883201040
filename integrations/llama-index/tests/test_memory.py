"""The write-through memory: what is put into it stays, and comes back where it bears on a question."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.bridge.pydantic import Field
from llama_index.core.memory import StaticMemoryBlock
from llama_index.core.memory.memory import BaseMemoryBlock, InsertMethod
from llama_index.core.storage.chat_store.base_db import MessageStatus
from llama_index.memory.llmslim import LLMSlimMemory, chat_messages_to_turns

from llmslim_memory import AsyncMemory, InvalidTypeError, Memory

from .conftest import MakeMemory


def user(text: str) -> ChatMessage:
    return ChatMessage(role="user", content=text)


def assistant(text: str) -> ChatMessage:
    return ChatMessage(role="assistant", content=text)


def texts(messages: list[ChatMessage]) -> list[str | None]:
    return [message.content for message in messages]


def stored(memory: Memory) -> list[str]:
    return [item.content for item in memory.get_all(user_id="ann")]


async def test_a_session_of_two_messages_is_recalled_in_the_next(write_through: MakeMemory) -> None:
    await write_through("s1").aput_messages([user("My dog is called Bruno."), assistant("Noted.")])
    shown = await write_through("s2").aget(input="What is my dog called?")
    assert "My dog is called Bruno." in str(shown[0].content)


async def test_what_is_in_the_window_is_not_recalled_beside_it(write_through: MakeMemory) -> None:
    session = write_through()
    await session.aput_messages([user("My dog is called Bruno."), assistant("Noted.")])
    await session.aput(user("What is my dog called?"))
    assert await session.aget() == await session.aget_all()


async def test_what_left_the_window_is_recalled(memory: Memory, write_through: MakeMemory) -> None:
    session = write_through(token_limit=700, token_flush_size=50, chat_history_token_ratio=0.2)
    await session.aput(user("My dog is called Bruno."))
    for number in range(12):
        await session.aput_messages(
            [user(f"Tell me fact number {number}, please."), assistant(f"Fact {number} it is.")]
        )
    await session.aput(user("What is my dog called?"))
    window, archived = await session.aget_all(MessageStatus.ACTIVE), await session.aget_all(MessageStatus.ARCHIVED)
    assert "My dog is called Bruno." not in texts(window)
    assert "My dog is called Bruno." in texts(archived)
    assert "My dog is called Bruno." in str((await session.aget())[0].content)
    assert stored(memory) == [*texts(archived), *texts(window)]
    assert len(stored(memory)) == 26


async def test_the_same_text_said_twice_is_kept_twice(memory: Memory, write_through: MakeMemory) -> None:
    session = write_through()
    for _ in range(3):
        await session.aput(user("yes"))
    await session.aset(await session.aget_all())
    assert stored(memory) == ["yes"] * 3


def test_setting_a_history_records_only_what_is_new(memory: Memory, write_through: MakeMemory) -> None:
    session = write_through(chat_history=[user("hi"), assistant("hello")])
    session.set([user("hi"), assistant("hello"), user("My dog is called Bruno.")])
    assert stored(memory) == ["hi", "hello", "My dog is called Bruno."]


async def test_a_reset_ends_the_window_and_forgets_only_when_told(memory: Memory, write_through: MakeMemory) -> None:
    session = write_through()
    await session.aput(user("My dog is called Bruno."))
    await session.areset()
    assert await session.aget_all() == []
    assert stored(memory) == ["My dog is called Bruno."]
    await session.areset(forget=True)
    assert stored(memory) == []


async def test_a_memory_made_to_forget_forgets_at_a_reset(memory: Memory, write_through: MakeMemory) -> None:
    session = write_through(forget=True)
    await session.aput(user("My dog is called Bruno."))
    await session.areset()
    assert stored(memory) == []


@pytest.mark.parametrize("erase", [{"user_id": "ann"}, {"user_id": "ann", "run_id": "s1"}])
async def test_a_deleted_user_or_session_is_not_recalled(
    memory: Memory, write_through: MakeMemory, erase: dict[str, str]
) -> None:
    await write_through("s1").aput(user("My dog is called Bruno."))
    memory.delete_all(**erase)
    assert await write_through("s2").aget(input="What is my dog called?") == []


async def test_a_message_is_taken_as_input_as_well_as_text(write_through: MakeMemory) -> None:
    await write_through("s1").aput(user("My dog is called Bruno."))
    shown = await write_through("s2").aget(input=user("What is my dog called?"), initial_token_count=7, other=None)
    assert "Bruno" in str(shown[0].content)


async def test_tool_calls_and_their_results_leave_the_window_together(write_through: MakeMemory) -> None:
    session = write_through(token_limit=160, token_flush_size=20)
    for number in range(10):
        call = {"id": f"c{number}", "function": {"name": "find", "arguments": "{}"}}
        await session.aput(user(f"Find thing number {number} for me."))
        await session.aput_messages(
            [
                ChatMessage(role="assistant", content="", additional_kwargs={"tool_calls": [call]}),
                ChatMessage(role="tool", content=f"found {number}", additional_kwargs={"tool_call_id": f"c{number}"}),
                assistant(f"Thing {number} is found."),
            ]
        )
        shown = [message for message in await session.aget() if message.role.value != "system"]
        assert shown[0].role.value == "user"
        called = {c["id"] for message in shown for c in message.additional_kwargs.get("tool_calls", [])}
        assert {m.additional_kwargs["tool_call_id"] for m in shown if m.role.value == "tool"} == called


@pytest.mark.parametrize("insert_method", list(InsertMethod))
async def test_the_system_message_stays_first(write_through: MakeMemory, insert_method: InsertMethod) -> None:
    await write_through("s1").aput(user("My dog is called Bruno."))
    session = write_through("s2", insert_method=insert_method)
    await session.aput_messages([ChatMessage(role="system", content="Be brief."), user("What is my dog called?")])
    shown = await session.aget()
    assert [message.role.value for message in shown] == ["system", "user"]
    assert "Be brief." in str(shown[0].content)
    assert any("Bruno" in str(message.content) for message in shown)


@pytest.mark.parametrize(("limit", "budget"), [(1, 1000), (20, 1000), (1000, 0), (1, 1)])
async def test_no_limit_is_too_small_to_go_on(
    memory: Memory, write_through: MakeMemory, limit: int, budget: int
) -> None:
    memory.add({"role": "user", "content": "My dog is called Bruno."}, user_id="ann", run_id="s0")
    session = write_through(token_limit=limit, token_flush_size=1, token_budget=budget)
    for number in range(3):
        await session.aput(user(f"What is my dog called, for the {number}th time, and what does it eat?"))
        shown = await session.aget()
        assert (shown[-1].content or "").endswith(f"for the {number}th time, and what does it eat?")
    assert len(stored(memory)) == 4


@pytest.mark.parametrize("role", ["system", "developer"])
async def test_instructions_to_the_model_stay_in_a_window_that_overflows(write_through: MakeMemory, role: str) -> None:
    session = write_through(token_limit=300, token_flush_size=50)
    await session.aput(ChatMessage(role=role, content="Be kind."))
    for number in range(12):
        await session.aput(user(f"word {number} " * 10))
        await session.aput(assistant(f"answer {number} " * 10))
    window = [message for message in await session.aget() if "recalled-history" not in str(message.content)]
    assert (window[0].role, window[0].content) == (role, "Be kind.")
    assert window[1].role == "user"
    assert len(window) < 15
    assert len(await session.aget_all()) == 25


class Told(BaseMemoryBlock[str]):
    """A block that notes what leaves the window."""

    heard: list[str] = Field(default_factory=list)

    async def _aget(self, messages: Any = None, **kwargs: Any) -> str:
        return ""

    async def _aput(self, messages: list[ChatMessage]) -> None:
        self.heard += [str(message.content) for message in messages]


@pytest.mark.parametrize("flush", [50, 200])
async def test_a_window_with_long_instructions_keeps_to_its_limit(write_through: MakeMemory, flush: int) -> None:
    told = Told(name="told")
    session = write_through(token_limit=700, token_flush_size=flush, memory_blocks=[told])
    for role in ("system", "developer"):
        await session.aput(ChatMessage(role=role, content="Be kind to everyone. " * 20))
    for number in range(30):
        await session.aput(user(f"word {number} " * 10))
        await session.aput(assistant(f"answer {number} " * 10))
    store = session.sql_store
    window = await store.get_messages(session.session_id)
    assert [message.role.value for message in window[:3]] == ["system", "developer", "user"]
    assert sum(session._estimate_token_count(message) for message in window) <= 700 * session.chat_history_token_ratio
    archived = await store.get_messages(session.session_id, MessageStatus.ARCHIVED)
    assert told.heard == texts(archived)


async def test_other_blocks_stand_beside_it(write_through: MakeMemory) -> None:
    block = StaticMemoryBlock(name="facts", static_content="The shop opens at nine.")
    shown = await write_through(memory_blocks=[block]).aget(input="When?")
    assert "The shop opens at nine." in str(shown[0].content)


def test_messages_kept_elsewhere_are_refused_with_the_alternative(memory: Memory) -> None:
    with pytest.raises(InvalidTypeError, match=r"takes no table_name: .*LLMSlimMemoryBlock"):
        LLMSlimMemory.from_defaults(memory=memory, user_id="ann", table_name="messages")


@pytest.mark.parametrize("owner", [{}, {"user_id": ""}, {"user_id": 7}])
def test_no_user_or_an_unusable_one_is_refused_before_any_model_call(memory: Memory, owner: Any) -> None:
    with pytest.raises((ValueError, TypeError), match=r"scope is empty|blank|must be a string"):
        LLMSlimMemory.from_defaults(memory=memory, **owner)


async def test_twenty_puts_at_once_are_stored_in_one_order(tmp_path: Path) -> None:
    session = LLMSlimMemory.from_defaults(memory=tmp_path / "memory.db", user_id="ann", session_id="s1")
    for stage in ("cold", "warm"):
        await asyncio.gather(*(session.aput(user(f"{stage} {number}")) for number in range(20)))
    said = await session.aget_all()
    assert sorted(texts(said)) == sorted(f"{stage} {n}" for stage in ("cold", "warm") for n in range(20))
    async with AsyncMemory(tmp_path / "memory.db") as memory:
        items = await memory.get_all(user_id="ann")
    assert [turn["content"] for turn in chat_messages_to_turns(said)] == [item.content for item in items]
    assert len({item.seq for item in items}) == 40


async def test_puts_at_once_into_a_full_window_leave_a_full_window(write_through: MakeMemory) -> None:
    session = write_through(token_limit=400, token_flush_size=20, chat_history_token_ratio=0.5)
    await asyncio.gather(*(session.aput(user(f"Message number {number} of a crowd.")) for number in range(60)))
    window = await session.aget_all(MessageStatus.ACTIVE)
    assert 150 < sum(session._estimate_token_count(message) for message in window) <= 200


def test_puts_from_many_threads_are_all_stored(tmp_path: Path) -> None:
    session = LLMSlimMemory.from_defaults(memory=tmp_path / "memory.db", user_id="ann", session_id="s1")
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: session.put(user(str(number))), range(40)))
    assert sorted(texts(session.get_all()), key=lambda text: int(text or 0)) == [str(number) for number in range(40)]


def test_one_object_serves_two_event_loops_one_after_the_other(write_through: MakeMemory) -> None:
    session = write_through()
    for text in ("one", "two"):
        asyncio.run(session.aput(user(text)))
    assert texts(asyncio.run(session.aget_all())) == ["one", "two"]


def test_sync_methods_work_inside_a_running_loop(write_through: MakeMemory) -> None:
    session = write_through()

    async def notebook_cell() -> list[ChatMessage]:
        session.put(user("hi"))
        session.put_messages([assistant("hello")])
        found: list[ChatMessage] = session.get()
        return found

    assert texts(asyncio.run(notebook_cell())) == ["hi", "hello"]
    session.set([user("other")])
    session.reset()
    assert session.get_all() == []


def test_sync_methods_work_in_a_thread_without_a_loop(write_through: MakeMemory) -> None:
    session = write_through()
    thread = threading.Thread(target=lambda: session.put(user("hi")))
    thread.start()
    thread.join()
    assert texts(session.get_all()) == ["hi"]


async def test_a_hundred_sessions_and_users_at_once_never_see_each_other(memory: Memory) -> None:
    async def talk(number: int) -> list[ChatMessage]:
        owner = {"user_id": f"user{number}", "agent_id": "bot"}
        first = LLMSlimMemory.from_defaults(memory=memory, session_id="default", **owner)
        await first.aput_messages([user(f"My secret word is word{number}."), assistant("Noted.")])
        second = LLMSlimMemory.from_defaults(memory=memory, **owner)
        shown: list[ChatMessage] = await second.aget(input="What is my secret word?")
        return shown

    for number, shown in enumerate(await asyncio.gather(*(talk(number) for number in range(100)))):
        assert str(shown[0].content).count("word is word") == 1
        assert f"My secret word is word{number}." in str(shown[0].content)
