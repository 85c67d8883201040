"""Copies share the memory; dumps and pickles leave it out, and find the same turns once they are given it again."""

from __future__ import annotations

import copy
import json
import pickle
from typing import Any

import pytest
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.workflow import Context
from llama_index.memory.llmslim import (
    LLMSlimChatStore,
    LLMSlimMemory,
    LLMSlimMemoryBlock,
    LLMSlimRetriever,
    LLMSlimToolSpec,
)

from llmslim_memory import InvalidTypeError, InvalidValueError, Memory

from .conftest import MakeMemory
from .llms import ScriptedLLM

SECRET = "postgresql://app:hunter2@127.0.0.1/app"


def user(text: str) -> ChatMessage:
    return ChatMessage(role="user", content=text)


@pytest.fixture
def session(write_through: MakeMemory) -> LLMSlimMemory:
    session: LLMSlimMemory = write_through("s1", token_budget=700, token_limit=5000, forget=True)
    session.put(user("My dog is called Bruno."))
    return session


def test_a_memory_is_rebuilt_from_its_description(memory: Memory, session: LLMSlimMemory) -> None:
    described = json.loads(json.dumps(session.to_dict(), default=lambda value: value.value))
    again = LLMSlimMemory.from_dict(described, memory=memory)
    assert again.get_all() == session.get_all() == [user("My dog is called Bruno.")]
    assert again.to_dict() == session.to_dict()


def test_a_copy_shares_the_memory(session: LLMSlimMemory) -> None:
    for again in (copy.deepcopy(session), copy.copy(session)):
        again.put(user("hello"))
    assert len(session.get_all()) == 3


def test_a_pickle_needs_its_memory_again(memory: Memory, session: LLMSlimMemory) -> None:
    again = pickle.loads(pickle.dumps(session))
    with pytest.raises(InvalidValueError, match="attach"):
        again.get_all()
    again.attach(memory)
    again.put(user("hello"))
    assert again.get_all() == session.get_all() == [user("My dog is called Bruno."), user("hello")]


def test_a_pickled_chat_store_needs_its_memory_again(memory: Memory) -> None:
    store = pickle.loads(pickle.dumps(LLMSlimChatStore(memory, user_id="ann")))
    assert store.user_id == "ann"
    store.attach(memory)
    assert copy.deepcopy(store).model_dump() == {
        "user_id": "ann",
        "agent_id": None,
        "forget": False,
        "keep_instructions": False,
    }


def test_a_pickled_retriever_and_tool_spec_need_their_memory_again(memory: Memory) -> None:
    memory.add({"role": "user", "content": "My dog is called Bruno."}, user_id="ann")
    retriever, spec = pickle.loads(
        pickle.dumps([LLMSlimRetriever(memory, user_id="ann"), LLMSlimToolSpec(memory, user_id="ann")])
    )
    with pytest.raises(InvalidValueError, match="attach"):
        retriever.retrieve("dog")
    with pytest.raises(InvalidValueError, match="attach"):
        spec.recall("dog")
    for again in (retriever, spec):
        again.attach(memory)
    assert [node.text for node in copy.deepcopy(retriever).retrieve("dog")] == ["My dog is called Bruno."]
    assert "Bruno" in copy.deepcopy(spec).recall("dog")


async def test_a_pickled_block_recalls_nothing_until_it_has_its_memory_again(memory: Memory) -> None:
    memory.add({"role": "user", "content": "My dog is called Bruno."}, user_id="ann")
    block = pickle.loads(pickle.dumps(LLMSlimMemoryBlock(memory, user_id="ann", token_budget=500)))
    assert await block.aget([user("What is my dog called?")], session_id="s1") == ""
    block.attach(memory)
    assert "Bruno" in await block.aget([user("What is my dog called?")], session_id="s1")
    assert "Bruno" in await copy.deepcopy(block).aget([user("What is my dog called?")], session_id="s2")


def test_nothing_that_is_written_down_holds_turns_or_a_password(tmp_path: Any) -> None:
    path = tmp_path / "hunter2.db"
    made = LLMSlimMemory.from_defaults(memory=path, user_id="ann", session_id="s1")
    made.put(user("My dog is called Bruno."))
    made.get(input="What is my dog called?")
    block, store = LLMSlimMemoryBlock(path, user_id="ann"), LLMSlimChatStore(path, user_id="ann")
    for thing in (made, block, store):
        written = f"{thing!r} {thing.model_dump()} {pickle.dumps(thing)!r}"
        assert "hunter2" not in written
        assert "Bruno" not in written


def test_a_url_with_a_password_is_in_no_dump() -> None:
    made = LLMSlimMemory.from_defaults(memory=SECRET, user_id="ann", tokenizer_fn=str.split)
    assert "hunter2" not in f"{made!r} {made.to_dict()} {pickle.dumps(made)!r}"


async def test_a_context_is_written_down_without_the_memory_and_goes_on_with_it(
    memory: Memory, write_through: MakeMemory
) -> None:
    agent = FunctionAgent(llm=ScriptedLLM("ok"))
    context = Context(agent)
    await agent.run(user_msg="one", ctx=context, memory=write_through("s1"))
    written = context.to_dict()
    again = Context.from_dict(agent, written)
    await agent.run(user_msg="two", ctx=again, memory=write_through("s1"))
    assert [item.content for item in memory.get_all(user_id="ann", run_id="s1")] == ["one", "ok", "two", "ok"]


def test_none_is_no_memory() -> None:
    with pytest.raises(InvalidTypeError, match="memory is None"):
        LLMSlimMemoryBlock(None, user_id="ann").attach(None)  # type: ignore[arg-type]
