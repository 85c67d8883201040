"""What was deleted is never recalled, and does not come back from the agent's state."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware
from langchain_core.messages import HumanMessage, RemoveMessage
from langchain_llmslim import LLMSlimChatMessageHistory, LLMSlimMemoryMiddleware, LLMSlimRetriever
from langgraph.checkpoint.memory import InMemorySaver

from llmslim_memory import Memory

THREAD = {"configurable": {"thread_id": "t1"}}
OTHER = {"configurable": {"thread_id": "t2"}}


def user(text: str) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": text}]}


def agent(model: Any, memory: Memory, saver: InMemorySaver, *others: Any) -> Any:
    ours = LLMSlimMemoryMiddleware(memory, user_id="ann", on_error="raise")
    return create_agent(model, [], middleware=[ours, *others], checkpointer=saver)


def test_a_deleted_turn_is_not_recalled(memory: Memory, model: Any, run: Any) -> None:
    chat = model("Noted.", "?")
    bot = agent(chat, memory, InMemorySaver())
    run(bot, user("My bike is red."), THREAD)
    for item in memory.get_all(user_id="ann"):
        memory.delete(item.id)
    run(bot, user("What colour is my bike?"), OTHER)
    assert [message.content for message in chat.seen[1]] == ["What colour is my bike?"]


def test_a_deleted_turn_does_not_come_back_from_a_checkpoint(memory: Memory, model: Any, run: Any) -> None:
    saver = InMemorySaver()
    run(agent(model("Noted."), memory, saver), user("My bike is red."), THREAD)
    memory.delete_all(user_id="ann")
    for process in range(2):
        run(agent(model("ok"), memory, saver), user(f"Hello {process}"), THREAD)
    contents = [item.content for item in memory.get_all(user_id="ann")]
    assert contents == ["Hello 0", "ok", "Hello 1", "ok"]


def test_a_user_can_be_erased(memory: Memory, model: Any, run: Any) -> None:
    chat = model("Noted.", "?")
    bot = agent(chat, memory, InMemorySaver())
    run(bot, user("My bike is red."), THREAD)
    assert memory.delete_all(user_id="ann") == 2
    assert LLMSlimRetriever(memory=memory, user_id="ann").invoke("bike") == []
    run(bot, user("What colour is my bike?"), OTHER)
    assert len(chat.seen[1]) == 1


def test_turns_past_their_time_are_not_recalled(memory: Memory, model: Any, run: Any) -> None:
    memory.add({"role": "user", "content": "My bike is red."}, user_id="ann", timestamp="2020-01-01")
    memory.add({"role": "user", "content": "My bike has a bell."}, user_id="ann")
    assert memory.prune(older_than=timedelta(days=365), user_id="ann") == 1
    chat = model("?")
    run(agent(chat, memory, InMemorySaver()), user("What about my bike?"), THREAD)
    assert "bell" in chat.seen[0][0].content
    assert "red" not in chat.seen[0][0].content


def test_a_cleared_history_is_not_recalled_by_an_agent(memory: Memory, model: Any, run: Any) -> None:
    chat = model("Noted.", "?")
    bot = agent(chat, memory, InMemorySaver())
    run(bot, user("My bike is red."), THREAD)
    LLMSlimChatMessageHistory(memory, session_id="t1", user_id="ann").clear()
    run(bot, user("What colour is my bike?"), OTHER)
    assert len(chat.seen[1]) == 1


class Trim(AgentMiddleware):  # type: ignore[type-arg]
    """Removes the first message from the agent's state."""

    def before_model(self, state: Any, runtime: Any) -> Any:
        messages = state["messages"]
        return {"messages": [RemoveMessage(id=messages[0].id)]} if len(messages) > 2 else None


def test_a_message_removed_from_the_window_stays_in_memory_and_can_be_recalled(
    memory: Memory, model: Any, run: Any
) -> None:
    chat = model("Noted.", "Red.", "Still red.")
    bot = agent(chat, memory, InMemorySaver(), Trim())
    run(bot, user("My bike is red."), THREAD)
    run(bot, user("Nice weather."), THREAD)
    run(bot, user("What colour is my bike?"), THREAD)
    assert memory.get_all(user_id="ann")[0].content == "My bike is red."
    assert sum("My bike is red." in message.text for message in chat.seen[2]) == 1


def test_a_turn_corrected_in_memory_is_not_set_back_by_a_checkpoint(memory: Memory, model: Any, run: Any) -> None:
    saver = InMemorySaver()
    run(agent(model("Noted."), memory, saver), {"messages": [HumanMessage("My bike is read.")]}, THREAD)
    memory.update(memory.get_all(user_id="ann")[0].id, "My bike is red.")
    run(agent(model("ok"), memory, saver), user("Thanks"), THREAD)
    assert memory.get_all(user_id="ann")[0].content == "My bike is red."
