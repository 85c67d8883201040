"""A block that is asked several times in a run gives the same text, for as long as what it tells stands."""

from __future__ import annotations

from typing import Any

import pytest
from llama_index.core.base.llms.types import ChatMessage
from llama_index.memory.llmslim import LLMSlimMemoryBlock

from llmslim_memory import Memory, MemoryContext

NEWS = [f"Day {day}: the dog Bruno ate bone number {day} and slept by the river." for day in range(40)]


def user(text: str) -> ChatMessage:
    return ChatMessage(role="user", content=text)


def assistant(text: str) -> ChatMessage:
    return ChatMessage(role="assistant", content=text)


class CountingMemory(Memory):
    """Counts how often it is searched."""

    searches = 0

    def search(self, *arguments: Any, **options: Any) -> MemoryContext:
        self.searches += 1
        return super().search(*arguments, **options)


async def test_an_agent_that_asks_several_times_in_a_run_is_given_the_same_text() -> None:
    memory = CountingMemory()
    memory.add([{"role": "user", "content": text} for text in NEWS], user_id="ann", run_id="s0")
    block = LLMSlimMemoryBlock(memory, user_id="ann", token_budget=300)
    window = [user("Where did Bruno sleep on day 7?")]
    first = await block.aget(window, session_id="s1")
    assert "Day 7" in first
    call = assistant("let me look")
    call.additional_kwargs["tool_calls"] = [{"function": {"name": "look", "arguments": "{}"}}]
    window += [call, ChatMessage(role="tool", content="Bruno, bone, river, day 7: nothing found")]
    assert await block.aget([*window, window[0]], session_id="s1") == first
    assert await block.aget([*window, assistant("By the river.")], session_id="s1") == first
    assert memory.searches == 1
    assert await block.aget([*window, user("And on day 8?")], session_id="s1") != first
    await block.aget(window[:1], session_id="s2")
    assert memory.searches == 3


async def test_what_others_said_since_is_recalled_although_the_question_was_asked_before(memory: Memory) -> None:
    memory.add({"role": "user", "content": "I live in Pune."}, user_id="ann", run_id="s0")
    block = LLMSlimMemoryBlock(memory, user_id="ann")
    window = [user("Where do I live?")]
    assert "Lima" not in await block.aget(window, session_id="s1")
    memory.add({"role": "user", "content": "I live in Lima now."}, user_id="ann", run_id="s0")
    assert "Lima" in await block.aget(window, session_id="s1")


async def test_a_block_that_is_given_another_user_recalls_nothing_of_the_first(memory: Memory) -> None:
    memory.add({"role": "user", "content": "My dog is called Bruno."}, user_id="ann", run_id="s0")
    block = LLMSlimMemoryBlock(memory, user_id="ann")
    window = [user("What is my dog called?")]
    assert "Bruno" in await block.aget(window, session_id="s1")
    block.user_id = "ben"
    assert "Bruno" not in await block.aget(window, session_id="s1")


@pytest.mark.parametrize("change", ["erase", "correct"])
async def test_what_is_erased_or_corrected_during_a_run_is_not_shown_again(memory: Memory, change: str) -> None:
    (item,) = memory.add({"role": "user", "content": "My dog is called Bruno."}, user_id="ann", run_id="s0")
    block = LLMSlimMemoryBlock(memory, user_id="ann")
    window = [user("What is my dog called?")]
    assert "Bruno" in await block.aget(window, session_id="s1")
    if change == "erase":
        memory.delete(item.id)
    else:
        memory.update(item.id, "My dog is called Rex.")
    again = await block.aget(window, session_id="s1")
    assert "Bruno" not in again
    assert ("Rex" in again) == (change == "correct")
