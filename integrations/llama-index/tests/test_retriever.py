"""The retriever and the tool over everything that was said."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.response_synthesizers import get_response_synthesizer
from llama_index.core.schema import MetadataMode, QueryBundle
from llama_index.memory.llmslim import (
    LLMSlimMemoryBlock,
    LLMSlimRetriever,
    LLMSlimToolSpec,
    RecalledNode,
    recall_tool,
)

from llmslim_memory import InvalidValueError, Memory

from .llms import ScriptedLLM

QUESTION = "What does the dog Bruno eat?"


@pytest.fixture
def dogs(memory: Memory) -> Memory:
    turns = [f"Bruno the dog eats bone number {number} on day {number}." for number in range(15)]
    memory.add([{"role": "user", "content": text} for text in turns], user_id="ann", run_id="s1")
    memory.add({"role": "user", "content": "The dog Rex eats rice."}, user_id="bob", run_id="s1")
    memory.add({"role": "assistant", "content": "Dogs eat. " * 200 + "Bruno eats fish on Fridays."}, user_id="ann")
    return memory


@pytest.mark.parametrize("most", [1, 3, 10])
def test_as_many_passages_come_as_are_asked_for_best_first(dogs: Memory, most: int) -> None:
    found = LLMSlimRetriever(dogs, user_id="ann", similarity_top_k=most).retrieve(QUESTION)
    assert len(found) == most
    scores = [node.score for node in found]
    assert scores == sorted(scores, reverse=True)
    assert all(score is not None and 0 <= score <= 1 for score in scores)


def test_ids_are_stable_and_name_the_turn(dogs: Memory) -> None:
    retriever = LLMSlimRetriever(dogs, user_id="ann", similarity_top_k=20)
    found = retriever.retrieve(QUESTION)
    assert [node.node_id for node in retriever.retrieve(QUESTION)] == [node.node_id for node in found]
    assert len({node.node_id for node in found}) == len(found)
    for node in found:
        item = dogs.get(node.node.metadata["turn_id"])
        assert item is not None
        assert node.node.get_content() in item.content
        assert node.node_id.startswith(item.id)


def test_metadata_say_whose_and_when_and_that_it_is_untrusted(dogs: Memory) -> None:
    [node] = LLMSlimRetriever(dogs, user_id="ann", similarity_top_k=1).retrieve(QUESTION)
    assert isinstance(node.node, RecalledNode)
    assert node.node.metadata["role"] == "user"
    assert node.node.metadata["session_id"] == "s1"
    assert node.node.metadata["untrusted"] is True
    assert node.node.get_content(MetadataMode.EMBED) == node.node.text
    assert RecalledNode.from_dict(node.node.to_dict()).get_content(MetadataMode.LLM) == node.node.get_content(
        MetadataMode.LLM
    )


@pytest.mark.parametrize("budget", [1, 100, 250, 1000])
def test_passages_stay_within_a_token_budget_as_a_model_sees_them(dogs: Memory, budget: int) -> None:
    found = LLMSlimRetriever(dogs, user_id="ann", token_budget=budget).retrieve(QUESTION)
    assert sum(dogs.counter(node.get_content(MetadataMode.LLM)) for node in found) <= budget
    assert bool(found) == (budget > 99)


def test_no_other_user_is_found(dogs: Memory) -> None:
    found = LLMSlimRetriever(dogs, user_id="bob").retrieve(QUESTION)
    assert [node.get_content() for node in found] == ["The dog Rex eats rice."]


def test_one_session_can_be_searched_alone(dogs: Memory) -> None:
    assert LLMSlimRetriever(dogs, user_id="ann", session_id="s2").retrieve(QUESTION) == []


@pytest.mark.parametrize("question", ["", "   ", "quantum chromodynamics"])
def test_where_nothing_bears_on_the_question_nothing_is_found(dogs: Memory, question: str) -> None:
    assert LLMSlimRetriever(dogs, user_id="ann").retrieve(QueryBundle(question)) == []


async def test_awaiting_gives_the_same_and_never_blocks(dogs: Memory) -> None:
    retriever = LLMSlimRetriever(dogs, user_id="ann")
    answers = await asyncio.gather(*(retriever.aretrieve(QUESTION) for _ in range(8)))
    expected = [node.node_id for node in await asyncio.to_thread(retriever.retrieve, QUESTION)]
    assert [[node.node_id for node in found] for found in answers] == [expected] * 8


async def test_a_database_is_opened_and_searched_off_the_event_loop(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"

    def fill() -> None:
        with Memory(path) as memory:
            memory.add({"role": "user", "content": "Bruno the dog eats fish."}, user_id="ann")

    await asyncio.to_thread(fill)
    found = await LLMSlimRetriever(path, user_id="ann").aretrieve(QUESTION)
    assert [node.text for node in found] == ["Bruno the dog eats fish."]
    assert "eats fish" in (await recall_tool(path, user_id="ann").acall(query=QUESTION)).content
    assert "eats fish" in await LLMSlimMemoryBlock(path, user_id="ann").aget([ChatMessage(QUESTION)], session_id="s1")


def test_a_query_engine_answers_from_what_was_said(dogs: Memory) -> None:
    model = ScriptedLLM("Fish.")
    retriever = LLMSlimRetriever(dogs, user_id="ann", similarity_top_k=3)
    engine = RetrieverQueryEngine(retriever, get_response_synthesizer(llm=model))
    answer = engine.query("What does Bruno eat on Fridays?")
    assert str(answer) == "Fish."
    prompt = "\n".join(str(message.content) for message in model.seen[0])
    assert "Bruno eats fish on Fridays." in prompt
    assert prompt.count("Quoted history follows") == 3


@pytest.mark.parametrize("wrong", [{"similarity_top_k": 0}, {"token_budget": -1}])
def test_a_limit_below_one_is_refused(memory: Memory, wrong: Any) -> None:
    with pytest.raises(InvalidValueError, match="pass at least 1"):
        LLMSlimRetriever(memory, user_id="ann", **wrong)


async def test_the_tool_answers_called_and_awaited(dogs: Memory) -> None:
    [tool] = LLMSlimToolSpec(dogs, user_id="ann").to_tool_list()
    called = await asyncio.to_thread(tool.call, query=QUESTION)
    awaited = await tool.acall(query=QUESTION)
    assert called.content == awaited.content
    assert "Bruno" in awaited.content
    assert "Rex" not in awaited.content
    assert dogs.counter(awaited.content) <= 1000


async def test_the_tool_says_when_there_is_nothing(memory: Memory) -> None:
    answer = await recall_tool(memory, user_id="ann").acall(query=QUESTION)
    assert answer.content == "Nothing that was said before bears on this."


def test_a_model_cannot_choose_whose_memory_it_reads(dogs: Memory) -> None:
    tool = recall_tool(dogs, user_id="ann", name="look_up", description="Looks things up.")
    assert (tool.metadata.name, tool.metadata.description) == ("look_up", "Looks things up.")
    assert list(tool.metadata.get_parameters_dict()["properties"]) == ["query"]


async def test_the_running_session_can_be_left_out(dogs: Memory) -> None:
    answer = await recall_tool(dogs, user_id="ann", session_id="s1").acall(query="bone number 7")
    assert "bone number 7" not in answer.content


@pytest.mark.parametrize("make", [LLMSlimRetriever, LLMSlimToolSpec, recall_tool])
def test_nobody_is_refused(memory: Memory, make: Any) -> None:
    with pytest.raises(ValueError, match="scope is empty"):
        make(memory)
