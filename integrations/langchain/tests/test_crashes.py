"""An agent whose process is killed goes on in another, and its memory holds each turn once."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from llmslim_memory import Memory

AGENT = """
import os, sqlite3, sys
from langchain.agents import create_agent
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langchain_core.tools import tool
from langchain_llmslim import LLMSlimMemoryMiddleware
from langgraph.checkpoint.sqlite import SqliteSaver
from llmslim_memory import Memory

CALL = AIMessage("", tool_calls=[{"name": "search", "args": {"query": "Pune"}, "id": "c1"}])

@tool
def search(query: str) -> str:
    "Search."
    if sys.argv[2] == "tool":
        os._exit(9)
    return f"found {query}"

class Model(GenericFakeChatModel):
    def _generate(self, messages, *args, **kwargs):
        if sys.argv[2] == "model" or sys.argv[2] == "answer" and messages[-1].type == "tool":
            os._exit(9)
        print("recalled:", "window seats" in messages[0].text)
        return super()._generate(messages, *args, **kwargs)
    def bind_tools(self, tools, **kwargs):
        return self

def main(folder, crash_at, *lines):
    script = {"call": CALL, "answer": AIMessage("At nine.")}
    connection = sqlite3.connect(f"{folder}/checkpoints.db", check_same_thread=False)
    with Memory(f"{folder}/memory.db") as memory:
        agent = create_agent(
            Model(messages=iter([script[line] for line in lines])),
            [search],
            middleware=[LLMSlimMemoryMiddleware(memory, user_id="ann", on_error="raise")],
            checkpointer=SqliteSaver(connection),
        )
        asked = {"messages": [("user", "Trains to Pune?")]} if crash_at != "never" else None
        agent.invoke(asked, {"configurable": {"thread_id": "t1"}}, durability="sync")
    connection.close()

main(*sys.argv[1:])
"""


def play(folder: Path, crash_at: str, *lines: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", AGENT, str(folder), crash_at, *lines]
    return subprocess.run(command, capture_output=True, text=True, timeout=300)


@pytest.mark.parametrize(
    ("crash_at", "left"), [("model", ["call", "answer"]), ("tool", ["answer"]), ("answer", ["answer"])]
)
def test_a_killed_agent_is_resumed_by_another_process(tmp_path: Path, crash_at: str, left: list[str]) -> None:
    with Memory(tmp_path / "memory.db") as memory:
        memory.add({"role": "user", "content": "I like window seats on trains."}, user_id="ann", run_id="t0")
    assert play(tmp_path, crash_at, "call").returncode == 9
    resumed = play(tmp_path, "never", *left)
    assert resumed.returncode == 0, resumed.stderr
    assert resumed.stdout.splitlines() == ["recalled: True"] * len(left)
    with Memory(tmp_path / "memory.db") as memory:
        said = [(item.role, item.content) for item in memory.get_all(run_id="t1")]
    assert said == [
        ("user", "Trains to Pune?"),
        ("assistant", "[tool call: search]"),
        ("tool", "found Pune"),
        ("assistant", "At nine."),
    ]
