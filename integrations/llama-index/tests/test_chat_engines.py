"""The chat engines of LlamaIndex with this memory, called, awaited and streamed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.chat_engine import (
    CondensePlusContextChatEngine,
    CondenseQuestionChatEngine,
    ContextChatEngine,
    SimpleChatEngine,
)
from llama_index.core.llms import MockLLM
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.response_synthesizers import get_response_synthesizer
from llama_index.memory.llmslim import LLMSlimMemory, LLMSlimRetriever

from llmslim_memory import Memory

from .llms import ScriptedLLM

QUESTION = "What is my dog called?"


def simple(memory: Any, llm: Any, facts: Memory) -> Any:
    return SimpleChatEngine.from_defaults(llm=llm, memory=memory, system_prompt="Be brief.")


def context(memory: Any, llm: Any, facts: Memory) -> Any:
    retriever = LLMSlimRetriever(facts, user_id="docs")
    return ContextChatEngine.from_defaults(retriever=retriever, llm=llm, memory=memory)


def condense_question(memory: Any, llm: Any, facts: Memory) -> Any:
    engine = RetrieverQueryEngine(
        LLMSlimRetriever(facts, user_id="docs"), get_response_synthesizer(llm=llm, streaming=False)
    )
    return CondenseQuestionChatEngine.from_defaults(query_engine=engine, llm=llm, memory=memory)


def condense_plus_context(memory: Any, llm: Any, facts: Memory) -> Any:
    retriever = LLMSlimRetriever(facts, user_id="docs")
    return CondensePlusContextChatEngine.from_defaults(retriever=retriever, llm=llm, memory=memory)


def answer(shown: Sequence[ChatMessage]) -> str:
    """Condense any question to the one that is always asked, and answer it."""
    return QUESTION if "Standalone question" in str(shown[-1].content) else "Bruno."


ENGINES = [simple, context, condense_question, condense_plus_context]


@pytest.fixture
def facts() -> Memory:
    """A knowledge base, as turns of a user of its own."""
    facts = Memory()
    facts.add({"role": "user", "content": "A dog is an animal that is called by its name."}, user_id="docs")
    return facts


def chat(engine: Any) -> str:
    return str(engine.chat(QUESTION))


def stream(engine: Any) -> str:
    return "".join(engine.stream_chat(QUESTION).response_gen)


async def achat(engine: Any) -> str:
    return str(await engine.achat(QUESTION))


async def astream(engine: Any) -> str:
    answer = await engine.astream_chat(QUESTION)
    return "".join([token async for token in answer.async_response_gen()])


def said(memory: Memory) -> list[tuple[str, str]]:
    return [(item.role, item.content) for item in memory.get_all(user_id="ann", run_id="s1")]


def session_of(memory: Memory) -> LLMSlimMemory:
    memory.add({"role": "user", "content": "My dog is called Bruno."}, user_id="ann", run_id="s0")
    return LLMSlimMemory.from_defaults(memory=memory, user_id="ann", session_id="s1")


@pytest.mark.parametrize("make_engine", ENGINES)
@pytest.mark.parametrize("ask", [chat, stream])
def test_question_and_answer_are_stored_once(memory: Memory, facts: Memory, make_engine: Any, ask: Any) -> None:
    engine = make_engine(session_of(memory), ScriptedLLM(answer), facts)
    for _ in range(2):
        assert ask(engine) == "Bruno."
    settle(lambda: len(said(memory)) == 4)
    assert said(memory) == [("user", QUESTION), ("assistant", "Bruno.")] * 2


@pytest.mark.parametrize("make_engine", ENGINES)
@pytest.mark.parametrize("ask", [achat, astream])
async def test_question_and_answer_are_stored_once_when_awaited(
    memory: Memory, facts: Memory, make_engine: Any, ask: Any
) -> None:
    engine = make_engine(session_of(memory), ScriptedLLM(answer), facts)
    for _ in range(2):
        assert await ask(engine) == "Bruno."
        await asyncio.sleep(0.05)
    assert said(memory) == [("user", QUESTION), ("assistant", "Bruno.")] * 2


@pytest.mark.parametrize("make_engine", ENGINES)
def test_the_model_is_shown_what_an_earlier_session_said(memory: Memory, facts: Memory, make_engine: Any) -> None:
    model = ScriptedLLM(answer)
    make_engine(session_of(memory), model, facts).chat(QUESTION)
    assert any("My dog is called Bruno." in str(message.content) for shown in model.seen for message in shown)


@pytest.mark.parametrize("make_engine", [simple, context, condense_plus_context])
def test_a_history_given_with_a_question_is_stored_once(memory: Memory, facts: Memory, make_engine: Any) -> None:
    engine = make_engine(session_of(memory), ScriptedLLM(answer), facts)
    engine.chat(QUESTION)
    engine.chat("Sure that it is called that?", chat_history=engine.chat_history)
    assert [text for _, text in said(memory)] == [QUESTION, "Bruno.", "Sure that it is called that?", "Bruno."]


@pytest.mark.parametrize("make_engine", ENGINES)
def test_a_reset_ends_the_session_and_not_the_memory(memory: Memory, facts: Memory, make_engine: Any) -> None:
    engine = make_engine(session_of(memory), MockLLM(max_tokens=3), facts)
    engine.chat(QUESTION)
    engine.reset()
    assert engine.chat_history == []
    assert len(said(memory)) == 2


def settle(done: Callable[[], bool]) -> None:
    """Wait for the thread that writes a streamed answer into the history."""
    for _ in range(100):
        if done():
            return
        asyncio.run(asyncio.sleep(0.02))
