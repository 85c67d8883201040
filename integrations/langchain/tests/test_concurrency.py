"""Many threads, tasks and processes write one session, and every turn is stored once."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, HumanMessage
from langchain_llmslim import LLMSlimChatMessageHistory, LLMSlimMemoryMiddleware, recording, runs
from langgraph.checkpoint.memory import InMemorySaver

from llmslim_memory import Memory

WRITER = """
import sys
from langchain_core.messages import HumanMessage
from langchain_llmslim import LLMSlimChatMessageHistory
from llmslim_memory import Memory
with Memory(sys.argv[1]) as memory:
    history = LLMSlimChatMessageHistory(memory, session_id="s1")
    for n in range(10):
        name = f"{sys.argv[2]} {n}"
        history.add_messages([HumanMessage(name, id=name), HumanMessage("shared", id=f"{n}")])
"""


def test_fifty_threads_write_one_session(memory_file: Memory) -> None:
    history = LLMSlimChatMessageHistory(memory_file, session_id="s1")

    def write(number: int) -> None:
        history.add_messages([HumanMessage(f"q{number}"), AIMessage(f"a{number}")])

    with ThreadPoolExecutor(50) as pool:
        list(pool.map(write, range(50)))
    texts = [message.text for message in history.messages]
    assert sorted(texts) == sorted(f"{kind}{n}" for n in range(50) for kind in "qa")
    assert all(texts[place + 1] == f"a{text[1:]}" for place, text in enumerate(texts) if text[0] == "q")


async def test_fifty_tasks_write_one_session(memory_file: Memory) -> None:
    history = LLMSlimChatMessageHistory(memory_file, session_id="s1")
    await asyncio.gather(*(history.aadd_messages([HumanMessage(f"q{n}"), AIMessage(f"a{n}")]) for n in range(50)))
    texts = [message.text for message in await history.aget_messages()]
    assert sorted(texts) == sorted(f"{kind}{n}" for n in range(50) for kind in "qa")


def test_fifty_threads_add_the_same_messages(memory_file: Memory) -> None:
    history = LLMSlimChatMessageHistory(memory_file, session_id="s1")
    said = [HumanMessage("Hello", id="1"), AIMessage("Hi", id="2")]
    with ThreadPoolExecutor(50) as pool:
        list(pool.map(lambda _: history.add_messages(said), range(50)))
    assert history.messages == said


def test_messages_of_one_instant_stay_in_order() -> None:
    with Memory(clock=lambda: "2026-03-01T10:00:00Z") as memory:  # type: ignore[arg-type,return-value]
        history = LLMSlimChatMessageHistory(memory, session_id="s1")
        for number in range(30):
            history.add_messages([HumanMessage(f"{number}"), AIMessage(f"{number}!")])
        assert [m.text for m in history.messages] == [f"{n}{end}" for n in range(30) for end in ("", "!")]


def test_processes_write_one_session(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    Memory(path).close()
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, str(path), name]) for name in ("x", "y")]
    assert [writer.wait(timeout=120) for writer in writers] == [0, 0]
    with Memory(path) as memory:
        texts = [m.text for m in LLMSlimChatMessageHistory(memory, session_id="s1").messages]
    assert texts.count("shared") == 10
    assert [t for t in texts if t.startswith("x")] == [f"x {n}" for n in range(10)]
    assert [t for t in texts if t.startswith("y")] == [f"y {n}" for n in range(10)]


def _agent(model: Any, memory: Memory) -> Any:
    middleware = [LLMSlimMemoryMiddleware(memory, user_id="ann", on_error="raise")]
    return create_agent(model(*(f"answer {n}" for n in range(50))), [], middleware=middleware)


THREAD = {"configurable": {"thread_id": "t1"}}


def test_fifty_threads_talk_to_an_agent_in_one_session(memory_file: Memory, model: Any) -> None:
    bot = _agent(model, memory_file)
    with ThreadPoolExecutor(50) as pool:
        asked = [{"messages": [HumanMessage(f"question {n}")]} for n in range(50)]
        list(pool.map(lambda state: bot.invoke(state, THREAD), asked))
    texts = sorted(item.content for item in memory_file.get_all(run_id="t1"))
    assert texts == sorted(f"{kind} {n}" for n in range(50) for kind in ("question", "answer"))


async def test_fifty_tasks_talk_to_an_agent_in_one_session(memory_file: Memory, model: Any) -> None:
    bot = _agent(model, memory_file)
    await asyncio.gather(*(bot.ainvoke({"messages": [HumanMessage(f"question {n}")]}, THREAD) for n in range(50)))
    texts = sorted(item.content for item in await asyncio.to_thread(memory_file.get_all, run_id="t1"))
    assert texts == sorted(f"{kind} {n}" for n in range(50) for kind in ("question", "answer"))


def test_more_sessions_than_are_remembered_are_still_stored_once(
    memory: Memory, model: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recording, "_MOST_SESSIONS", 3)
    middleware = LLMSlimMemoryMiddleware(memory, user_id="ann", on_error="raise")
    bot = create_agent(model(*["ok"] * 20), [], middleware=[middleware], checkpointer=InMemorySaver())
    for _ in range(2):
        for number in range(10):
            bot.invoke({"messages": [HumanMessage("hello")]}, {"configurable": {"thread_id": f"t{number}"}})
    assert len(memory.get_all(user_id="ann")) == 10 * 4


def test_more_runs_at_once_than_are_remembered_still_recall(
    memory: Memory, model: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runs, "_MOST_RUNS", 1)
    memory.add({"role": "user", "content": "My bike is red."}, user_id="ann", run_id="t0")
    chat = model(*["It is red."] * 20)
    middleware = LLMSlimMemoryMiddleware(memory, user_id="ann", record=False, on_error="raise")
    bot = create_agent(chat, [], middleware=[middleware])
    with ThreadPoolExecutor(10) as pool:
        asked = {"messages": [HumanMessage("What colour is my bike?")]}
        list(pool.map(lambda _: bot.invoke(asked), range(20)))
    assert all("My bike is red." in seen[0].content for seen in chat.seen)
