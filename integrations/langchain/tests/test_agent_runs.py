"""What agents hear and say is stored once and recalled later, through tools, retries, interrupts and crashes."""

from __future__ import annotations

from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware, ModelRetryMiddleware
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.tools import tool
from langchain_llmslim import LLMSlimMemoryMiddleware, turns_to_messages
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from llmslim_memory import Memory

THREAD = {"configurable": {"thread_id": "t1"}}


@tool
def search(query: str) -> str:
    """Search."""
    if query == "crash":
        raise ConnectionError("the network is down")
    return f"found {query}"


def call(query: str, text: str = "", number: int = 1) -> AIMessage:
    return AIMessage(text, tool_calls=[{"name": "search", "args": {"query": query}, "id": f"call_{number}"}])


def user(text: str) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": text}]}


ORDERS = pytest.mark.parametrize("order", ["memory first", "memory last"])


def agent(model: Any, memory: Memory, order: str = "memory first", *others: Any, **options: Any) -> Any:
    ours = LLMSlimMemoryMiddleware(memory, user_id="ann", on_error="raise")
    middleware = [ours, *others] if order == "memory first" else [*others, ours]
    options = {"checkpointer": InMemorySaver(), **options}
    return create_agent(model, [search], middleware=middleware, **options)


SAID_WITH_TOOL = [
    ("user", "Trains to Pune?"),
    ("assistant", "[tool call: search]"),
    ("tool", "found Pune"),
    ("assistant", "At nine."),
]


def test_three_turns_with_tools_are_stored_as_they_were_said(
    memory: Memory, model: Any, run: Any, transcript: Any
) -> None:
    bot = agent(model(call("Pune"), "At nine.", "Fine.", call("Goa", "One moment."), "At ten."), memory)
    for text in ("Trains to Pune?", "Thanks.", "And to Goa?"):
        result = run(bot, user(text), THREAD)
    assert turns_to_messages(memory.get_all(run_id="t1")) == result["messages"]
    assert transcript() == [
        *SAID_WITH_TOOL,
        ("user", "Thanks."),
        ("assistant", "Fine."),
        ("user", "And to Goa?"),
        ("assistant", "One moment."),
        ("tool", "found Goa"),
        ("assistant", "At ten."),
    ]


def test_a_fact_is_recalled_in_another_thread_of_the_same_user(memory: Memory, model: Any, run: Any) -> None:
    chat = model("Noted.", "It is red.")
    bot = agent(chat, memory)
    run(bot, user("My bike is red."), THREAD)
    run(bot, user("What colour is my bike?"), {"configurable": {"thread_id": "t2"}})
    recalled, question = chat.seen[1]
    assert "My bike is red." in recalled.content
    assert question.content == "What colour is my bike?"


@ORDERS
def test_a_model_that_is_called_again_after_failing_is_stored_once(
    memory: Memory, model: Any, run: Any, transcript: Any, order: str
) -> None:
    memory.add({"role": "user", "content": "I like window seats on trains."}, user_id="ann", run_id="t0")
    chat = model(ConnectionError(), ConnectionError(), call("Pune"), ConnectionError(), "At nine.")
    bot = agent(chat, memory, order, ModelRetryMiddleware(max_retries=2, initial_delay=0, jitter=False))
    run(bot, user("Trains to Pune?"), THREAD)
    assert transcript() == SAID_WITH_TOOL
    assert all("window seats" in seen[0].content for seen in chat.seen)
    assert len(chat.seen) == 5


@pytest.fixture
def searches(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The questions that memory was searched with."""
    asked: list[str] = []
    search_memory = Memory.search

    def note(memory: Memory, query: str, **options: Any) -> Any:
        asked.append(query)
        return search_memory(memory, query, **options)

    monkeypatch.setattr(Memory, "search", note)
    return asked


@ORDERS
def test_a_run_recalls_once_for_all_its_model_calls_and_retries(
    memory: Memory, model: Any, run: Any, searches: list[str], order: str
) -> None:
    retry = ModelRetryMiddleware(max_retries=2, initial_delay=0, jitter=False)
    chat = model(ConnectionError(), call("Pune"), ConnectionError(), call("Goa"), "At nine.", "Bye.")
    bot = agent(chat, memory, order, retry)
    run(bot, user("Trains to Pune?"), THREAD)
    run(bot, user("Thanks."), THREAD)
    assert searches == ["Trains to Pune?", "Thanks."]


def test_a_run_resumed_in_another_process_recalls_anew_but_not_for_each_retry(
    memory: Memory, model: Any, run: Any, searches: list[str]
) -> None:
    saver = InMemorySaver()
    with pytest.raises(ConnectionError):
        run(agent(model(ConnectionError()), memory, checkpointer=saver), user("Trains to Pune?"), THREAD)
    retry = ModelRetryMiddleware(max_retries=2, initial_delay=0, jitter=False)
    chat = model(ConnectionError(), call("Pune"), ConnectionError(), call("Goa"), "At nine.")
    run(agent(chat, memory, "memory last", retry, checkpointer=saver), None, THREAD)
    # Before the crash; at the call where the run was resumed, which cannot hand on what it knows; for all calls after.
    assert searches == ["Trains to Pune?"] * 3


@ORDERS
def test_what_the_user_said_is_kept_when_the_model_fails_for_good(
    memory: Memory, model: Any, run: Any, transcript: Any, order: str
) -> None:
    retry = ModelRetryMiddleware(max_retries=1, initial_delay=0, jitter=False, on_failure="error")
    bot = agent(model(ConnectionError(), ConnectionError()), memory, order, retry)
    with pytest.raises(ConnectionError):
        run(bot, user("Trains to Pune?"), THREAD)
    assert transcript() == [("user", "Trains to Pune?")]


def test_a_run_resumed_after_the_model_crashed_is_stored_once_and_recalls(
    memory: Memory, model: Any, run: Any, transcript: Any
) -> None:
    memory.add({"role": "user", "content": "I like window seats on trains."}, user_id="ann", run_id="t0")
    chat = model(ConnectionError(), call("Pune"), "At nine.")
    bot = agent(chat, memory)
    with pytest.raises(ConnectionError):
        run(bot, user("Trains to Pune?"), THREAD)
    run(bot, None, THREAD)
    assert transcript() == SAID_WITH_TOOL
    assert all("window seats" in seen[0].content for seen in chat.seen)


def test_a_run_resumed_by_another_process_is_stored_once_and_recalls(
    memory: Memory, model: Any, run: Any, transcript: Any
) -> None:
    memory.add({"role": "user", "content": "I like window seats on trains."}, user_id="ann", run_id="t0")
    saver = InMemorySaver()
    with pytest.raises(ConnectionError):
        run(agent(model(call("Pune"), ConnectionError()), memory, checkpointer=saver), user("Trains to Pune?"), THREAD)
    chat = model("At nine.")
    run(agent(chat, memory, checkpointer=saver), None, THREAD)
    assert transcript() == SAID_WITH_TOOL
    assert "window seats" in chat.seen[0][0].content


def test_a_run_resumed_after_a_tool_crashed_is_stored_once(
    memory: Memory, model: Any, run: Any, transcript: Any
) -> None:
    bot = agent(model(call("crash")), memory)
    for _ in range(2):
        with pytest.raises(ConnectionError):
            run(bot, user("Trains?") if not transcript() else None, THREAD)
    assert transcript() == [("user", "Trains?"), ("assistant", "[tool call: search]")]


def test_a_question_asked_anew_after_a_crash_is_stored_beside_the_first(
    memory: Memory, model: Any, run: Any, transcript: Any
) -> None:
    bot = agent(model(ConnectionError(), "At nine."), memory)
    with pytest.raises(ConnectionError):
        run(bot, user("Trains to Pune?"), THREAD)
    run(bot, user("Are you there?"), THREAD)
    assert transcript() == [("user", "Trains to Pune?"), ("user", "Are you there?"), ("assistant", "At nine.")]


@ORDERS
@pytest.mark.parametrize("retry", [False, True])
def test_a_run_that_a_person_approves_is_stored_once_and_recalls(
    memory: Memory, model: Any, run: Any, transcript: Any, order: str, retry: bool
) -> None:
    memory.add({"role": "user", "content": "I like window seats on trains."}, user_id="ann", run_id="t0")
    chat = model(call("Pune"), *([ConnectionError()] if retry else []), "At nine.")
    others = [ModelRetryMiddleware(max_retries=1, initial_delay=0, jitter=False)] if retry else []
    bot = agent(chat, memory, order, HumanInTheLoopMiddleware({"search": True}), *others)
    assert "__interrupt__" in run(bot, user("Trains to Pune?"), THREAD)
    assert transcript()[0] == SAID_WITH_TOOL[0]
    run(bot, Command(resume={"decisions": [{"type": "approve"}]}), THREAD)
    assert transcript() == SAID_WITH_TOOL
    assert all("window seats" in seen[0].content for seen in chat.seen)


@ORDERS
def test_a_tool_call_that_a_person_edits_is_stored_as_it_ran(
    memory: Memory, model: Any, run: Any, transcript: Any, order: str
) -> None:
    bot = agent(model(call("Pune"), "At ten."), memory, order, HumanInTheLoopMiddleware({"search": True}))
    run(bot, user("Trains to Pune?"), THREAD)
    edited = {"name": "search", "args": {"query": "Goa"}}
    result = run(bot, Command(resume={"decisions": [{"type": "edit", "edited_action": edited}]}), THREAD)
    assert turns_to_messages(memory.get_all(run_id="t1")) == result["messages"]
    assert [role for role, _ in transcript()] == ["user", "assistant", "tool", "assistant"]
    assert transcript()[2][1].endswith("found Goa")


def test_a_model_that_fails_after_the_tools_ran_leaves_their_results_stored(
    memory: Memory, model: Any, run: Any, transcript: Any
) -> None:
    bot = agent(model(call("Pune"), ConnectionError()), memory)
    with pytest.raises(ConnectionError):
        run(bot, user("Trains to Pune?"), THREAD)
    assert transcript() == SAID_WITH_TOOL[:3]


@pytest.mark.parametrize("clients", ["one process", "a process each"])
def test_an_edited_message_of_the_thread_is_an_edit_of_the_turn(
    memory: Memory, model: Any, run: Any, transcript: Any, clients: str
) -> None:
    saver = InMemorySaver()
    bot = agent(model("Hi.", "Hi again."), memory, checkpointer=saver)
    run(bot, {"messages": [HumanMessage("Helo", id="h1")]}, THREAD)
    bot = bot if clients == "one process" else agent(model("Hi again."), memory, checkpointer=saver)
    run(bot, {"messages": [HumanMessage("Hello", id="h1")]}, THREAD)
    assert transcript()[:2] == [("user", "Hello"), ("assistant", "Hi.")]
    assert memory.get_all(run_id="t1")[0].updated_at is not None


def test_equal_words_said_twice_in_a_thread_are_both_stored(
    memory: Memory, model: Any, run: Any, transcript: Any
) -> None:
    bot = agent(model("ok", "ok"), memory)
    for _ in range(2):
        run(bot, user("yes"), THREAD)
    assert transcript() == [("user", "yes"), ("assistant", "ok")] * 2


@pytest.mark.parametrize("clients", ["one process", "a process each"])
def test_a_transcript_sent_again_without_ids_adds_only_what_is_new(
    memory: Memory, model: Any, run: Any, transcript: Any, clients: str
) -> None:
    chat = model("b", "d", "f")
    said: list[dict[str, Any]] = []
    bot = agent(chat, memory, checkpointer=None)
    for question, answer in (("a", "b"), ("c", "d"), ("e", "f")):
        said.append({"role": "user", "content": question})
        bot = bot if clients == "one process" else agent(chat, memory, checkpointer=None)
        run(bot, {"messages": said}, THREAD)
        said.append({"role": "assistant", "content": answer})
    assert [text for _, text in transcript()] == list("abcdef")


def test_the_last_messages_sent_again_without_ids_add_only_what_is_new(
    memory: Memory, model: Any, run: Any, transcript: Any
) -> None:
    said = [{"role": role, "content": f"{role} {n}"} for n in range(6) for role in ("user", "assistant")]
    bot = agent(model(*(f"assistant {n}" for n in range(6))), memory, checkpointer=None)
    for n in range(6):
        run(bot, {"messages": said[max(0, 2 * n - 4) : 2 * n + 1]}, THREAD)
    assert [text for _, text in transcript()] == [message["content"] for message in said]


def test_a_failed_call_that_a_client_repeats_without_ids_is_stored_once(
    memory: Memory, model: Any, run: Any, transcript: Any
) -> None:
    bot = agent(model(ConnectionError(), "b", "b"), memory, checkpointer=None)
    with pytest.raises(ConnectionError):
        run(bot, user("a"), THREAD)
    run(bot, user("a"), THREAD)
    run(bot, user("a"), THREAD)
    assert [text for _, text in transcript()] == ["a", "b", "a", "b"]


def test_messages_to_and_from_a_tool_that_answers_directly_are_stored(
    memory: Memory, model: Any, run: Any, transcript: Any
) -> None:
    @tool(return_direct=True)
    def lookup(query: str) -> str:
        """Look up."""
        return "direct answer"

    ours = LLMSlimMemoryMiddleware(memory, user_id="ann", on_error="raise")
    asked = AIMessage("", tool_calls=[{"name": "lookup", "args": {"query": "x"}, "id": "c"}])
    run(create_agent(model(asked), [lookup], middleware=[ours]), user("Look"), THREAD)
    assert transcript()[-1] == ("tool", "direct answer")


def test_only_the_roles_asked_for_are_stored(memory: Memory, model: Any, run: Any, transcript: Any) -> None:
    ours = LLMSlimMemoryMiddleware(memory, user_id="ann", record_roles=["human"])
    bot = create_agent(model(call("Pune"), "At nine."), [search], middleware=[ours])
    run(bot, user("Trains?"), THREAD)
    assert transcript() == [("user", "Trains?")]


def test_where_answers_are_not_stored_a_repeated_question_still_is(
    memory: Memory, model: Any, run: Any, transcript: Any
) -> None:
    ours = LLMSlimMemoryMiddleware(memory, user_id="ann", record_roles=["human"])
    bot = create_agent(model("ok", "ok"), [], middleware=[ours])
    for _ in range(2):
        run(bot, user("yes"), THREAD)
    assert transcript() == [("user", "yes")] * 2


@pytest.mark.parametrize("switch", ["record", "recall"])
def test_storing_and_recalling_can_be_switched_off(
    memory: Memory, model: Any, run: Any, transcript: Any, switch: str
) -> None:
    memory.add({"role": "user", "content": "My bike is red."}, user_id="ann", run_id="t0")
    chat = model("Red.")
    ours = LLMSlimMemoryMiddleware(memory, user_id="ann", **{switch: False})
    run(create_agent(chat, [], middleware=[ours]), user("What colour is my bike?"), THREAD)
    assert bool(transcript()) == (switch != "record")
    assert len(chat.seen[0]) == (1 if switch == "recall" else 2)
