"""Threads that are rewound, forked, pruned or given several messages at once: what was said stays, each once."""

from __future__ import annotations

from typing import Any

from langchain.agents import create_agent
from langchain_core.messages import AIMessage, HumanMessage, RemoveMessage
from langchain_core.tools import tool
from langchain_llmslim import LLMSlimMemoryMiddleware
from langgraph.checkpoint.memory import InMemorySaver

from llmslim_memory import Memory

THREAD = {"configurable": {"thread_id": "t1"}}


class Opaque:
    """What JSON cannot hold."""


@tool(response_format="content_and_artifact")
def look(place: str) -> tuple[str, Opaque]:
    """Look."""
    return f"seen {place}", Opaque()


def agent(model: Any, memory: Memory, checkpointer: Any = None) -> Any:
    ours = LLMSlimMemoryMiddleware(memory, user_id="ann", on_error="raise")
    return create_agent(model, [look], middleware=[ours], checkpointer=checkpointer)


def ask(text: str, name: str | None = None) -> dict[str, Any]:
    return {"messages": [HumanMessage(text, id=name)]}


def test_a_thread_that_is_forked_keeps_both_branches(memory: Memory, model: Any, run: Any, transcript: Any) -> None:
    bot = agent(model("Hi.", "Two.", "Three.", "Hi again."), memory, InMemorySaver())
    run(bot, ask("one"), THREAD)
    before = bot.get_state(THREAD).config
    run(bot, ask("two"), THREAD)
    run(bot, ask("three"), before)
    first = [state.config for state in bot.get_state_history(THREAD) if state.next == ("model",)][-1]
    run(bot, None, first)
    assert transcript() == [
        ("user", "one"),
        ("assistant", "Hi."),
        ("user", "two"),
        ("assistant", "Two."),
        ("user", "three"),
        ("assistant", "Three."),
        ("assistant", "Hi again."),
    ]


def test_a_message_removed_by_the_input_stays_in_memory(memory: Memory, model: Any, run: Any, transcript: Any) -> None:
    chat = model("Noted.", "Red.")
    bot = agent(chat, memory, InMemorySaver())
    run(bot, ask("My bike is red.", "h1"), THREAD)
    run(bot, {"messages": [RemoveMessage("h1"), HumanMessage("What colour is my bike?")]}, THREAD)
    assert [text for _, text in transcript()] == ["My bike is red.", "Noted.", "What colour is my bike?", "Red."]
    assert any("user: My bike is red." in message.text for message in chat.seen[1])


def test_several_messages_of_a_user_at_once_are_each_stored(
    memory: Memory, model: Any, run: Any, transcript: Any
) -> None:
    bot = agent(model("Yes.", "Still yes."), memory, InMemorySaver())
    for answer in ("Yes.", "Still yes."):
        run(bot, {"messages": [HumanMessage(text) for text in ("one", "two", "two")]}, THREAD)
        assert transcript()[-4:] == [("user", "one"), ("user", "two"), ("user", "two"), ("assistant", answer)]
    assert len(transcript()) == 8


def test_an_artifact_that_is_no_json_does_not_stop_the_agent(
    memory: Memory, model: Any, run: Any, transcript: Any, caplog: Any
) -> None:
    call = AIMessage("", tool_calls=[{"name": "look", "args": {"place": "Pune"}, "id": "c1"}])
    run(agent(model(call, "Done."), memory), ask("Look!"), THREAD)
    assert transcript()[2:] == [("tool", "seen Pune"), ("assistant", "Done.")]
    assert "Opaque" in caplog.text
