"""Whatever goes wrong in a run, and however memory, summaries and retries are ordered: each message is stored once."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware, ModelRetryMiddleware, SummarizationMiddleware
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langchain_core.tools import tool
from langchain_llmslim import LLMSlimMemoryMiddleware
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from llmslim_memory import Memory

THREAD = {"configurable": {"thread_id": "t1"}}
APPROVAL = Command(resume={"decisions": [{"type": "approve"}]})
CALL = AIMessage("", tool_calls=[{"name": "search", "args": {"query": "Pune"}, "id": "c1"}])
CRASH = ConnectionError("the network is down")


class Trips:
    """A tool that fails the first so many times."""

    def __init__(self, failures: int) -> None:
        @tool
        def search(query: str) -> str:
            """Search."""
            self.failures -= 1
            if self.failures >= 0:
                raise CRASH
            return f"found {query}"

        self.failures, self.tool = failures, search


def build(order: Sequence[str], model: Any, memory: Memory, saver: Any, tool: Any, *, asks: bool) -> Any:
    writer = GenericFakeChatModel(messages=iter(AIMessage(f"SUMMARY {n}") for n in range(100)))
    made = {
        "memory": LLMSlimMemoryMiddleware(memory, user_id="ann", on_error="raise"),
        "summaries": SummarizationMiddleware(writer, trigger=("messages", 2), keep=("messages", 1)),
        "retries": ModelRetryMiddleware(max_retries=1, initial_delay=0, jitter=False, on_failure="error"),
    }
    person = [HumanInTheLoopMiddleware({"search": True})] if asks else []
    return create_agent(model, [tool], middleware=[*(made[name] for name in order), *person], checkpointer=saver)


# What the model does, how often the tool fails, whether a person is asked, and what each call of the agent is given:
# None goes on where the run crashed, in a new process where it says so.
TROUBLES: dict[str, tuple[list[Any], int, bool, list[str]]] = {
    "a retry": ([CRASH, CALL, CRASH, "At nine."], 0, False, ["ask"]),
    "an interrupt": ([CALL, "At nine."], 0, True, ["ask", "approve"]),
    "a retry after an interrupt": ([CALL, CRASH, "At nine."], 0, True, ["ask", "approve"]),
    "an interrupt resumed elsewhere": ([CALL, "At nine."], 0, True, ["ask", "approve elsewhere"]),
    "a crash before the call": ([CRASH, CRASH, CALL, "At nine."], 0, False, ["crash", "resume"]),
    "a crash after the call": ([CALL, CRASH, CRASH, "At nine."], 0, False, ["crash", "resume"]),
    "a crash resumed elsewhere": ([CALL, CRASH, CRASH, CRASH, "At nine."], 0, False, ["crash", "resume elsewhere"]),
    "a tool that crashes": ([CALL, "At nine."], 1, False, ["crash", "resume"]),
    "a tool that crashes twice": ([CALL, "At nine."], 2, False, ["crash", "crash again", "resume elsewhere"]),
}


@pytest.mark.parametrize("order", list(permutations(["memory", "summaries", "retries"])), ids="-".join)
@pytest.mark.parametrize("trouble", TROUBLES)
def test_a_run_with_trouble_is_stored_once_and_recalls_in_any_order(
    memory: Memory, model: Any, run: Any, transcript: Any, order: Sequence[str], trouble: str
) -> None:
    script, failures, asks, steps = TROUBLES[trouble]
    memory.add({"role": "user", "content": "I like window seats on trains."}, user_id="ann", run_id="t0")
    chat, saver, trips = model("Hello.", *script, "You are welcome."), InMemorySaver(), Trips(failures)

    def bot() -> Any:
        return build(order, chat, memory, saver, trips.tool, asks=asks)

    agent = bot()
    run(agent, {"messages": [("user", "Hi, trains!")]}, THREAD)
    for step in steps:
        agent = bot() if step.endswith("elsewhere") else agent
        given = APPROVAL if step.startswith("approve") else None
        given = {"messages": [("user", "Trains to Pune?")]} if step in ("ask", "crash") else given
        if step.startswith("crash"):
            with pytest.raises(ConnectionError):
                run(agent, given, THREAD)
        else:
            run(agent, given, THREAD)
    run(agent, {"messages": [("user", "Thanks, trains!")]}, THREAD)
    assert transcript() == [
        ("user", "Hi, trains!"),
        ("assistant", "Hello."),
        ("user", "Trains to Pune?"),
        ("assistant", "[tool call: search]"),
        ("tool", "found Pune"),
        ("assistant", "At nine."),
        ("user", "Thanks, trains!"),
        ("assistant", "You are welcome."),
    ]
    assert all(any("window seats" in message.text for message in seen) for seen in chat.seen)
