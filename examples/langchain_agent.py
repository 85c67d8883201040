"""An agent with tools that remembers across processes: run in two processes, the second knows what the first was told.

The chat model is scripted, so that this needs no key; `create_agent("openai:gpt-5.5", ...)` or any other chat model
takes its place.

In a clone, `pip install . "integrations/langchain[agents]"` brings what it needs.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from langchain.agents import create_agent
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatResult
from langchain_core.tools import tool
from langchain_llmslim import LLMSlimMemoryMiddleware

from llmslim_memory import Memory


@tool
def find_trains(city: str) -> str:
    """Find trains to a city."""
    return f"09:00 and 17:30 to {city}"


class ScriptedModel(GenericFakeChatModel):
    """Says its lines, and prints what it was shown."""

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        print("  the model sees:", *(f"{m.type}: {m.text}".replace("\n", "\n    ") for m in messages), sep="\n    ")
        return super()._generate(messages, *args, **kwargs)

    def bind_tools(self, tools: Any, **kwargs: Any) -> ScriptedModel:  # noqa: ARG002
        return self


LINES = {
    "monday": ("I like window seats, and I am off to Pune.", [AIMessage("I will remember that.")]),
    "tuesday": (
        "Which train to Pune suits me?",
        [
            AIMessage("", tool_calls=[{"name": "find_trains", "args": {"city": "Pune"}, "id": "call_1"}]),
            AIMessage("The 09:00; I will ask for a window seat."),
        ],
    ),
}


def talk(path: str, day: str) -> None:
    question, lines = LINES[day]
    with Memory(path) as memory:
        agent = create_agent(
            ScriptedModel(messages=iter(lines)),
            [find_trains],
            middleware=[LLMSlimMemoryMiddleware(memory, user_id="ann")],
        )
        answer = agent.invoke({"messages": [("user", question)]}, {"configurable": {"thread_id": day}})
    print(f"{day}, Ann: {question}\n{day}, agent: {answer['messages'][-1].text}")


def with_a_real_model(path: str, question: str) -> str:
    """The same with a provider: `pip install langchain-openai`, and OPENAI_API_KEY set. Not run here."""
    with Memory(path) as memory:
        agent = create_agent(
            "openai:gpt-5.5", [find_trains], middleware=[LLMSlimMemoryMiddleware(memory, user_id="ann")]
        )
        answer = agent.invoke({"messages": [("user", question)]}, {"configurable": {"thread_id": "wednesday"}})
    return str(answer["messages"][-1].text)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        for day in LINES:
            subprocess.run([sys.executable, __file__, str(Path(folder) / "memory.db"), day], check=True)


if __name__ == "__main__":
    talk(*sys.argv[1:]) if sys.argv[1:] else main()
