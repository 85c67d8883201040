"""Nothing that was said is lost when the agent's window is summarised or trimmed, and no summary counts as said."""

from __future__ import annotations

from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import (
    ClearToolUsesEdit,
    ContextEditingMiddleware,
    ModelRetryMiddleware,
    PIIMiddleware,
    SummarizationMiddleware,
)
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langchain_core.tools import tool
from langchain_llmslim import LLMSlimMemoryMiddleware
from langgraph.checkpoint.memory import InMemorySaver

from llmslim_memory import Memory

THREAD = {"configurable": {"thread_id": "t1"}}


@tool
def search(query: str) -> str:
    """Search."""
    return f"found {query}"


def call(*queries: str) -> AIMessage:
    calls = [{"name": "search", "args": {"query": query}, "id": f"call_{query}"} for query in queries]
    return AIMessage("", tool_calls=calls)


def summaries(trigger: int, keep: int) -> SummarizationMiddleware:
    writer = GenericFakeChatModel(messages=iter(AIMessage(f"SUMMARY {n}") for n in range(100)))
    return SummarizationMiddleware(writer, trigger=("messages", trigger), keep=("messages", keep))


def ordered(order: str, memory: Memory, *others: Any) -> list[Any]:
    ours = LLMSlimMemoryMiddleware(memory, user_id="ann", on_error="raise")
    return {"first": [ours, *others], "last": [*others, ours], "between": [*others[:1], ours, *others[1:]]}[order]


def user(text: str) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": text}]}


ORDERS = pytest.mark.parametrize("order", ["first", "last", "between"])


@ORDERS
@pytest.mark.parametrize(("trigger", "keep"), [(2, 1), (3, 2), (6, 4)])
def test_nothing_said_is_lost_and_no_summary_is_stored(
    memory: Memory, model: Any, run: Any, transcript: Any, order: str, trigger: int, keep: int
) -> None:
    script: list[Any] = []
    expected = []
    for n in range(4):
        script += [call(f"{n}a", f"{n}b"), ConnectionError(), call(f"{n}c"), f"answer {n}"]
        expected += [f"question {n}", "[tool call: search]\n[tool call: search]", f"found {n}a", f"found {n}b"]
        expected += ["[tool call: search]", f"found {n}c", f"answer {n}"]
    retry = ModelRetryMiddleware(max_retries=1, initial_delay=0, jitter=False)
    middleware = ordered(order, memory, retry, summaries(trigger, keep))
    bot = create_agent(model(*script), [search], middleware=middleware, checkpointer=InMemorySaver())
    for n in range(4):
        run(bot, user(f"question {n}"), THREAD)
    assert [text for _, text in transcript()] == expected


@ORDERS
def test_what_a_summary_replaced_can_be_recalled(memory: Memory, model: Any, run: Any, order: str) -> None:
    chat = model("Noted.", "ok", "ok", "Red.")
    middleware = ordered(order, memory, summaries(3, 1))
    bot = create_agent(chat, [], middleware=middleware, checkpointer=InMemorySaver())
    for text in ("My bike is red.", "Nice weather today.", "Let us talk of trains.", "What colour is my bike?"):
        run(bot, user(text), THREAD)
    shown = [message.text for message in chat.seen[-1]]
    assert sum("My bike is red." in text for text in shown) == 1
    assert shown[-1] == "What colour is my bike?"


@ORDERS
def test_a_summary_is_not_taken_for_the_question(memory: Memory, model: Any, run: Any, order: str) -> None:
    memory.add({"role": "user", "content": "My bike is red."}, user_id="ann", run_id="t0")
    chat = model(call("a"), call("b"), "Red.")
    bot = create_agent(chat, [search], middleware=ordered(order, memory, summaries(3, 1)), checkpointer=InMemorySaver())
    run(bot, user("What colour is my bike?"), THREAD)
    assert all(any("My bike is red." in m.text for m in seen) for seen in chat.seen)


@ORDERS
def test_a_tool_result_that_is_cleared_from_the_window_stays_in_memory(
    memory: Memory, model: Any, run: Any, transcript: Any, order: str
) -> None:
    clear = ContextEditingMiddleware(edits=[ClearToolUsesEdit(trigger=1, keep=0)])
    chat = model(call("a"), call("b"), "Done.", "Yes.")
    bot = create_agent(chat, [search], middleware=ordered(order, memory, clear), checkpointer=InMemorySaver())
    run(bot, user("Find a and b"), THREAD)
    run(bot, user("Sure?"), THREAD)
    assert any(m.text == "[cleared]" for m in chat.seen[-1])
    assert [text for role, text in transcript() if role == "tool"] == ["found a", "found b"]


@ORDERS
def test_what_another_middleware_redacts_is_redacted_in_memory_too(
    memory: Memory, model: Any, run: Any, transcript: Any, order: str
) -> None:
    pii = PIIMiddleware("email", strategy="redact")
    bot = create_agent(model("Noted."), [], middleware=ordered(order, memory, pii), checkpointer=InMemorySaver())
    run(bot, user("Write to ann@example.com please"), THREAD)
    assert transcript() == [("user", "Write to [REDACTED_EMAIL] please"), ("assistant", "Noted.")]
