"""The block in LlamaIndex's own memory: sees everything once, recalls within its budget, never ends a run."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from llama_index.core.base.llms.types import ChatMessage, ImageBlock
from llama_index.core.memory import BaseMemoryBlock
from llama_index.core.memory import Memory as LlamaMemory
from llama_index.core.utils import get_tokenizer
from llama_index.memory.llmslim import LLMSlimMemoryBlock
from llama_index.memory.llmslim.alignment import align
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.pool import StaticPool

from llmslim_memory import ContextEnvelope, Memory, StoreError

from .conftest import MakeMemory

NEWS = [f"Day {day}: the dog Bruno ate bone number {day} and slept by the river." for day in range(40)]


def user(text: str) -> ChatMessage:
    return ChatMessage(role="user", content=text)


def assistant(text: str) -> ChatMessage:
    return ChatMessage(role="assistant", content=text)


def stored(memory: Memory) -> list[str]:
    return [item.content for item in memory.get_all(user_id="ann")]


@pytest.fixture
def news(memory: Memory) -> Memory:
    memory.add([{"role": "user", "content": text} for text in NEWS], user_id="ann", run_id="s0")
    return memory


async def test_a_question_that_was_never_answered_is_remembered(memory: Memory, with_block: MakeMemory) -> None:
    session = with_block("s1")
    await session.aput(user("My dog is called Bruno."))
    await session.aget()
    shown = await with_block("s2").aget(input="What is my dog called?")
    assert "My dog is called Bruno." in str(shown[0].content)
    assert stored(memory) == ["My dog is called Bruno.", "What is my dog called?"]


async def test_a_window_seen_again_is_not_stored_again(memory: Memory, with_block: MakeMemory) -> None:
    session = with_block()
    for text in ("yes", "yes", "no"):
        await session.aget(input=text)  # as engines ask, before they put the question into the memory
        await session.aput(user(text))
        await session.aget()
        await session.aget(input=text)  # as agents ask, after they did
        await session.aput(assistant("noted"))
        await session.aget()
    assert stored(memory) == ["yes", "noted", "yes", "noted", "no", "noted"]


async def test_the_same_text_twice_in_a_row_is_stored_twice_once_answered(
    memory: Memory, with_block: MakeMemory
) -> None:
    session = with_block()
    await session.aput_messages([user("yes"), user("yes")])
    await session.aget()
    await session.aput(assistant("noted"))
    await session.aget()
    assert stored(memory) == ["yes", "yes", "noted"]


async def test_messages_that_leave_the_window_are_stored_once_and_in_order(
    memory: Memory, with_block: MakeMemory
) -> None:
    session = with_block(token_limit=300, token_flush_size=30, chat_history_token_ratio=0.1)
    said = []
    for number in range(12):
        turns = [user("yes" if number % 2 else f"question {number}"), assistant("noted")]
        await session.aput_messages(turns)
        said += [message.content for message in turns]
        if number % 3 == 0:
            await session.aget()
    await session.aget()
    assert stored(memory) == said


async def test_a_block_that_stores_what_is_flushed_stores_nothing_before(memory: Memory) -> None:
    block = LLMSlimMemoryBlock(memory, user_id="ann", capture="flush")
    await block.aget([user("hi")], session_id="s1")
    assert stored(memory) == []
    for _ in range(2):
        await block.aput([user("hi"), assistant("hello")], from_short_term_memory=True, session_id="s1")
    assert stored(memory) == ["hi", "hello"] * 2


async def test_a_block_that_stores_nothing_stores_nothing(memory: Memory) -> None:
    block = LLMSlimMemoryBlock(memory, user_id="ann", capture="none")
    await block.aget([user("hi")], session_id="s1")
    await block.aput([user("hi")], session_id="s1")
    assert stored(memory) == []


async def test_a_message_put_into_the_block_is_stored_and_left_alone(memory: Memory) -> None:
    block = LLMSlimMemoryBlock(memory, user_id="ann")
    message = user("hi")
    await block.aput([message], session_id="s1")
    assert message == user("hi")
    assert [
        (item.content, item.run_id, dict(item.metadata)["llama_index"]) for item in memory.get_all(user_id="ann")
    ] == [("hi", "s1", {"status": "archived"})]


async def test_the_session_id_of_another_block_is_neither_stored_nor_removed(
    memory: Memory,
) -> None:
    block = LLMSlimMemoryBlock(memory, user_id="ann")
    shared = ChatMessage(role="user", content="hi", additional_kwargs={"session_id": "s1", "mine": 1})
    await block.aput([shared], from_short_term_memory=True, session_id="s1")
    assert shared.additional_kwargs == {"session_id": "s1", "mine": 1}
    [item] = memory.get_all(user_id="ann")
    assert item.metadata["llama_index"]["additional_kwargs"] == {"mine": 1}


async def test_instructions_to_the_model_are_not_stored(memory: Memory) -> None:
    block = LLMSlimMemoryBlock(memory, user_id="ann")
    await block.aget([ChatMessage(role="system", content="Be brief."), user("hi")], session_id="s1")
    assert stored(memory) == ["hi"]


async def test_a_turn_erased_while_its_session_runs_does_not_come_back(memory: Memory) -> None:
    block = LLMSlimMemoryBlock(memory, user_id="ann")
    window = [user("My card is 1234."), assistant("Noted.")]
    await block.aget(window, session_id="s1")
    memory.delete_all(user_id="ann")
    await block.aget([*window, user("Thanks.")], session_id="s1")
    assert stored(memory) == ["Thanks."]


async def test_a_turn_erased_while_its_session_runs_does_not_come_back_as_it_leaves_the_window(memory: Memory) -> None:
    block = LLMSlimMemoryBlock(memory, user_id="ann")
    window = [user("My card is 1234."), assistant("Noted.")]
    await block.aget(window, session_id="s1")
    memory.delete_all(user_id="ann")
    await block.aput(window[:1], from_short_term_memory=True, session_id="s1")
    await block.aget([*window[1:], user("Thanks.")], session_id="s1")
    await block.aput(window[1:], from_short_term_memory=True, session_id="s1")
    assert stored(memory) == ["Thanks."]


async def test_an_erased_session_does_not_come_back_from_the_window_of_another_process(memory: Memory) -> None:
    window = [user("My dog is called Bruno."), assistant("A fine name."), user("Bye.")]
    await LLMSlimMemoryBlock(memory, user_id="ann").aget(window, session_id="s1")
    memory.delete_all(user_id="ann")
    later = LLMSlimMemoryBlock(memory, user_id="ann")
    assert await later.aget(window, session_id="s1") == ""
    assert stored(memory) == []


async def test_one_block_serves_many_sessions(memory: Memory) -> None:
    block = LLMSlimMemoryBlock(memory, user_id="ann")
    await block.aget([user("My dog is called Bruno.")], session_id="s1")
    for session in ("s2", "s3"):
        assert "Bruno" in await block.aget([user("What is my dog called?")], session_id=session)


async def test_one_block_serves_a_hundred_sessions_at_once(memory: Memory) -> None:
    block = LLMSlimMemoryBlock(memory, user_id="ann", token_budget=300)
    asked = (block.aget([user(f"My word is word{n}."), assistant("ok")], session_id=f"s{n}") for n in range(100))
    await asyncio.gather(*asked)
    assert {item.run_id: item.content for item in memory.get_all(user_id="ann") if item.role == "user"} == {
        f"s{n}": f"My word is word{n}." for n in range(100)
    }
    assert len(memory.get_all(user_id="ann")) == 200


async def test_the_last_user_message_is_the_question_whoever_spoke_last(news: Memory) -> None:
    block = LLMSlimMemoryBlock(news, user_id="ann", token_budget=220, capture="none")
    window = [user("Which bone on day 7?"), assistant("Let me see."), ChatMessage(role="tool", content="day 31")]
    assert NEWS[7] in await block.aget(window, session_id="s1")


@pytest.mark.parametrize(
    "window",
    [None, [], [assistant("hello")], [ChatMessage(role="user", blocks=[ImageBlock(url="https://example.org/a.png")])]],
)
async def test_without_a_question_nothing_is_recalled(news: Memory, window: Any) -> None:
    assert await LLMSlimMemoryBlock(news, user_id="ann").aget(window, session_id="s1") == ""


@pytest.mark.parametrize("budget", [-5, 0, 1, 50, 100, 150, 300, 1000])
async def test_the_text_stays_within_its_budget(news: Memory, budget: int) -> None:
    block = LLMSlimMemoryBlock(news, user_id="ann", token_budget=budget, capture="none")
    assert news.counter(await block.aget([user("What did Bruno eat?")], session_id="s1")) <= max(budget, 0)


async def test_an_empty_memory_recalls_nothing(memory: Memory) -> None:
    assert await LLMSlimMemoryBlock(memory, user_id="ann").aget([user("What?")], session_id="s1") == ""


@pytest.mark.parametrize("asked", [1, 50, 200, 400, 10_000])
async def test_shortening_saves_what_was_asked_or_leaves_nothing(news: Memory, asked: int) -> None:
    block = LLMSlimMemoryBlock(news, user_id="ann", capture="none")
    text = await block.aget([user("What did Bruno eat on day 7?")], session_id="s1")
    count = get_tokenizer()
    shorter = await block.atruncate(text, asked)
    if shorter is None:
        assert asked > len(count(text)) // 2
    else:
        assert len(count(text)) - len(count(shorter)) >= asked
        assert NEWS[7] in ContextEnvelope.unwrap(shorter)
        again = await block.atruncate(shorter, 20)
        assert again is None or len(count(again)) <= len(count(shorter)) - 20


@pytest.mark.parametrize("asked", [100, 300])
async def test_shortening_saves_what_was_asked_by_the_tokenizer_of_the_window(news: Memory, asked: int) -> None:
    block = LLMSlimMemoryBlock(news, user_id="ann", capture="none", tokenizer_fn=str.split)
    text = await block.aget([user("What did Bruno eat on day 7?")], session_id="s1")
    shorter = await block.atruncate(text, asked)
    assert shorter is not None
    assert len(text.split()) - len(shorter.split()) >= asked
    assert NEWS[7] in ContextEnvelope.unwrap(shorter)


@pytest.mark.parametrize("content", ["", [], "a text of some other block"])
async def test_shortening_what_it_did_not_recall_leaves_nothing(memory: Memory, content: Any) -> None:
    assert await LLMSlimMemoryBlock(memory, user_id="ann").atruncate(content, 10) is None


@pytest.mark.parametrize("priority", [0, 1, 2])
async def test_a_full_window_shortens_the_block_unless_its_priority_forbids(news: Memory, priority: int) -> None:
    block = LLMSlimMemoryBlock(news, user_id="ann", capture="none", priority=priority)
    limit = 500
    session = LlamaMemory.from_defaults(session_id="s1", memory_blocks=[block], token_limit=limit)
    content = {block.name: await block.aget([user("What did Bruno eat on day 7?")], session_id="s1")}
    tokens = session._estimate_token_count(content[block.name])
    left = await session._truncate_memory_blocks(content, tokens, 100)
    kept = session._estimate_token_count(left.get(block.name, "")) + 100
    assert (kept > limit) if priority == 0 else (kept <= limit)
    assert NEWS[7] in left[block.name]


class BrokenStore:
    """Stands for a database that is down."""

    def __getattr__(self, name: str) -> Any:
        def fail(*arguments: Any, **named: Any) -> Any:
            raise StoreError("the database is down")

        return fail


async def test_a_failing_memory_gives_nothing_and_one_warning(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING)
    block = LLMSlimMemoryBlock(Memory(BrokenStore()), user_id="ann")  # type: ignore[arg-type]
    for _ in range(3):
        assert await block.aget([user("My password is hunter2. What did I say?")], session_id="s1") == ""
    assert [record.message for record in caplog.records] == [
        "llmslim_memory could not store the session (StoreError); going on without"
    ]


async def test_a_failing_memory_raises_if_asked(memory: Memory) -> None:
    block = LLMSlimMemoryBlock(Memory(BrokenStore()), user_id="ann", on_error="raise")  # type: ignore[arg-type]
    with pytest.raises(StoreError, match="down"):
        await block.aget([user("hi")], session_id="s1")


async def test_a_lost_write_is_always_raised() -> None:
    block = LLMSlimMemoryBlock(Memory(BrokenStore()), user_id="ann", capture="flush")  # type: ignore[arg-type]
    with pytest.raises(StoreError, match="down"):
        await block.aput([user("hi")], from_short_term_memory=True, session_id="s1")


def test_it_is_a_block_with_a_name_and_a_priority_that_may_be_shortened(memory: Memory) -> None:
    block = LLMSlimMemoryBlock(memory, user_id="ann")
    assert isinstance(block, BaseMemoryBlock)
    assert (block.name, block.priority) == ("llmslim_memory", 1)


@pytest.mark.parametrize("owner", [{}, {"user_id": "\t"}, {"agent_id": 3}])
def test_nobody_or_an_unusable_owner_is_refused(memory: Memory, owner: Any) -> None:
    with pytest.raises((ValueError, TypeError), match=r"scope is empty|blank|must be a string"):
        LLMSlimMemoryBlock(memory, **owner)


def test_a_misspelt_argument_is_refused(memory: Memory) -> None:
    with pytest.raises(TypeError, match="takes no token_budgt"):
        LLMSlimMemoryBlock(memory, user_id="ann", token_budgt=5)


utterances = st.tuples(st.sampled_from(["user", "assistant"]), st.sampled_from(["yes", "no", "a long story " * 20]))


@given(st.lists(st.lists(utterances, min_size=1, max_size=4), min_size=1, max_size=8))
@settings(max_examples=60, deadline=None)
def test_whatever_is_said_and_whenever_the_window_moves_each_turn_is_stored_once(
    rounds: list[list[tuple[str, str]]],
) -> None:
    async def converse(memory: Memory) -> None:
        engine = create_async_engine("sqlite+aiosqlite://", poolclass=StaticPool)
        session = LlamaMemory.from_defaults(
            session_id="s1",
            memory_blocks=[LLMSlimMemoryBlock(memory, user_id="ann")],
            token_limit=400,
            token_flush_size=40,
            chat_history_token_ratio=0.3,
            async_engine=engine,
        )
        for said in [*rounds, [("assistant", "Goodbye.")]]:
            await session.aput_messages([ChatMessage(role=role, content=text) for role, text in said])
            await session.aget()
        await engine.dispose()

    memory = Memory()
    asyncio.run(converse(memory))
    said = [utterance for part in rounds for utterance in part]
    assert [(item.role, item.content) for item in memory.get_all(user_id="ann")] == [*said, ("assistant", "Goodbye.")]


letters = st.sampled_from("abc")


@given(st.lists(letters, max_size=8), st.lists(letters, max_size=4), st.integers(0, 8))
def test_a_window_that_moved_on_is_matched_where_it_is(stored_: list[str], new: list[str], start: int) -> None:
    window = stored_[start:]
    matches = align(stored_[start:], window + new)
    assert matches[: len(window)] == list(range(len(window)))
    assert matches[len(window) :] == [None] * len(new)


@given(st.lists(letters, max_size=8), st.lists(letters, max_size=8))
@settings(max_examples=200)
def test_a_match_is_the_same_text_and_keeps_the_order(stored_: list[str], shown: list[str]) -> None:
    matches = align(stored_, shown)
    found = [at for at in matches if at is not None]
    assert found == sorted(set(found))
    assert all(stored_[at] == text for at, text in zip(matches, shown, strict=True) if at is not None)
