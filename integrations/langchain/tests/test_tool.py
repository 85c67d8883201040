"""With the recall tool an agent searches its own memory, and nobody else's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, ToolMessage
from langchain_llmslim import LLMSlimMemoryMiddleware, create_recall_tool
from langgraph.checkpoint.memory import InMemorySaver

from llmslim_memory import Memory


@dataclass
class Context:
    user_id: str


def call(name: str = "recall_memory", **arguments: Any) -> AIMessage:
    return AIMessage("", tool_calls=[{"name": name, "args": arguments, "id": "c1"}])


def user(text: str) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": text}]}


def answers(result: Any) -> list[ToolMessage]:
    return [message for message in result["messages"] if isinstance(message, ToolMessage)]


THREAD = {"configurable": {"thread_id": "t1"}}


@pytest.fixture
def filled(memory: Memory) -> Memory:
    memory.add({"role": "user", "content": "My bike is red."}, user_id="ann", run_id="t0")
    memory.add({"role": "user", "content": "My bike is blue."}, user_id="bob", run_id="t0")
    return memory


def test_an_agent_asks_its_memory(filled: Memory, model: Any, run: Any) -> None:
    bot = create_agent(model(call(query="bike"), "Red."), [create_recall_tool(filled)], context_schema=Context)
    (answer,) = answers(run(bot, user("What colour is my bike?"), THREAD, context=Context("ann")))
    assert "My bike is red." in answer.content
    assert "blue" not in answer.content


def test_the_user_may_be_named_by_the_config(filled: Memory, model: Any, run: Any) -> None:
    bot = create_agent(model(call(query="bike"), "Blue."), [create_recall_tool(filled)])
    config = {"configurable": {"thread_id": "t1", "user_id": "bob"}}
    assert "blue" in answers(run(bot, user("Colour?"), config))[0].content


@pytest.mark.parametrize("smuggled", [{"user_id": "bob"}, {"runtime": {"context": {"user_id": "bob"}}}, {"config": {}}])
def test_a_model_cannot_name_another_user(filled: Memory, model: Any, run: Any, smuggled: dict[str, Any]) -> None:
    bot = create_agent(model(call(query="bike", **smuggled), "?"), [create_recall_tool(filled)], context_schema=Context)
    for answer in answers(run(bot, user("Colour?"), THREAD, context=Context("ann"))):
        assert "blue" not in answer.content


SMUGGLED = [
    {"config": {"configurable": {"user_id": "bob"}}},
    {"runtime": {"context": {"user_id": "bob"}}},
    {"user_id": "bob"},
]


@pytest.mark.parametrize("smuggled", SMUGGLED)
def test_a_tool_call_run_by_hand_cannot_name_another_user(filled: Memory, smuggled: dict[str, Any]) -> None:
    tool = create_recall_tool(filled)
    asked = {"type": "tool_call", "id": "c1", "name": tool.name, "args": {"query": "bike", **smuggled}}
    answer = tool.invoke(asked, {"configurable": {"user_id": "ann"}})
    assert "My bike is red." in answer.content
    assert "blue" not in answer.content
    with pytest.raises(ValueError, match="whose memory is this"):
        tool.invoke(asked)


def test_the_model_is_told_of_one_argument_only(memory: Memory) -> None:
    tool = create_recall_tool(memory)
    assert list(tool.tool_call_schema.model_json_schema()["properties"]) == ["query"]  # type: ignore[union-attr]


def test_what_the_agent_sees_already_is_not_recalled(filled: Memory, model: Any, run: Any) -> None:
    middleware = LLMSlimMemoryMiddleware(filled, user_id="ann", recall=False, on_error="raise")
    bot = create_agent(
        model("Noted.", call(query="What is the colour of my bike?"), "Red."),
        [create_recall_tool(filled, user_id="ann")],
        middleware=[middleware],
        checkpointer=InMemorySaver(),
    )
    run(bot, user("My bike also has a bell."), THREAD)
    (answer,) = answers(run(bot, user("What is the colour of my bike?"), THREAD))
    assert "My bike is red." in answer.content
    assert "bell" not in answer.content
    assert "What is the colour" not in answer.content


def test_what_was_recalled_is_not_stored_again(filled: Memory, model: Any, run: Any, transcript: Any) -> None:
    middleware = LLMSlimMemoryMiddleware(filled, user_id="ann", on_error="raise")
    tool = create_recall_tool(filled, user_id="ann")
    run(create_agent(model(call(query="bike"), "Red."), [tool], middleware=[middleware]), user("Colour?"), THREAD)
    assert [role for role, _ in transcript()] == ["user", "assistant", "assistant"]


def test_it_says_so_when_nothing_is_found(filled: Memory) -> None:
    assert create_recall_tool(filled, user_id="eve").invoke({"query": "bike"}) == "Nothing in memory answers this."


@pytest.mark.parametrize("budget", [120, 300])
def test_an_answer_stays_within_its_budget(memory: Memory, budget: int) -> None:
    memory.add([{"role": "user", "content": f"Bike {n} is red and old."} for n in range(60)], user_id="ann")
    answer = create_recall_tool(memory, user_id="ann", token_budget=budget).invoke({"query": "bike"})
    assert memory.counter(answer) <= budget


def test_a_search_for_nobody_is_refused(filled: Memory) -> None:
    with pytest.raises(ValueError, match="whose memory is this"):
        create_recall_tool(filled).invoke({"query": "bike"})


def test_name_and_description_can_be_chosen(filled: Memory, model: Any, run: Any) -> None:
    tool = create_recall_tool(filled, name="remember", description="Look back.", user_id="ann")
    assert (tool.name, tool.description) == ("remember", "Look back.")
    bot = create_agent(model(call("remember", query="bike"), "Red."), [tool])
    assert "My bike is red." in answers(run(bot, user("Colour?")))[0].content
