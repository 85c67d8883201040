"""`memory_context` puts remembered text into a prompt."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnablePassthrough
from langchain_llmslim import memory_context

from llmslim_memory import AsyncMemory, ContextEnvelope, Memory

ANN = {"configurable": {"user_id": "ann"}}


@pytest.fixture
def filled(memory: Memory) -> Memory:
    memory.add({"role": "user", "content": "My bike is red."}, user_id="ann", run_id="s1")
    memory.add({"role": "user", "content": "My bike is blue."}, user_id="bob", run_id="s1")
    return memory


def test_a_question_becomes_what_answers_it_in_an_envelope(filled: Memory) -> None:
    text = memory_context(filled, user_id="ann").invoke({"question": "What colour is my bike?"})
    assert "My bike is red." in ContextEnvelope.unwrap(text)
    assert "blue" not in text


def test_the_question_may_be_plain_text_or_under_another_key(filled: Memory) -> None:
    context = memory_context(filled, user_id="ann", input_key="input")
    assert context.invoke("bike?") == context.invoke({"input": "bike?", "other": 1})


def test_the_user_is_named_by_the_config(filled: Memory) -> None:
    assert "red" in memory_context(filled).invoke("bike?", ANN)


def test_a_session_alone_is_searched_where_no_user_is_known(filled: Memory) -> None:
    filled.add({"role": "user", "content": "My bike is green."}, run_id="s2")
    text = memory_context(filled).invoke("bike?", {"configurable": {"session_id": "s2"}})
    assert "green" in text
    assert "red" not in text


def test_nobodys_memory_is_refused(filled: Memory) -> None:
    with pytest.raises(ValueError, match="whose memory is this"):
        memory_context(filled).invoke("bike?")


def test_nothing_found_and_nothing_asked_give_nothing(filled: Memory) -> None:
    context = memory_context(filled, user_id="eve")
    assert context.invoke("bike?") == context.invoke("  ") == ""


@pytest.mark.parametrize("budget", [1, 100, 150, 400])
def test_the_text_stays_within_its_budget(memory: Memory, budget: int) -> None:
    memory.add([{"role": "user", "content": f"Bike {n} is red and old."} for n in range(60)], user_id="ann")
    text = memory_context(memory, user_id="ann", token_budget=budget).invoke("bike?")
    assert memory.counter(text) <= budget


def test_a_chain_passes_it_to_the_model(filled: Memory, model: Any) -> None:
    chat = model("Red.")
    prompt = ChatPromptTemplate([("system", "{memory}"), ("user", "{question}")])
    chain = RunnablePassthrough.assign(memory=memory_context(filled)) | prompt | chat
    assert chain.invoke({"question": "What colour is my bike?"}, ANN).content == "Red."
    assert "My bike is red." in chat.seen[0][0].content


async def test_async_chains_stream_and_batch_off_the_event_loop(tmp_path: Any) -> None:
    async with AsyncMemory(tmp_path / "memory.db") as memory:
        await memory.add({"role": "user", "content": "My bike is red."}, user_id="ann")
        context = memory_context(memory, user_id="ann")
        one = await context.ainvoke("bike?")
        assert "My bike is red." in one
        assert await context.abatch(["bike?", "bike?"]) == [one, one]
        assert [chunk async for chunk in context.astream("bike?")] == [one]
