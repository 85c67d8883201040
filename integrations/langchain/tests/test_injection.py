"""Recalled text reaches the model at one place, within its budget, as data, and leaves no trace elsewhere."""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from typing import Any

import langgraph.types
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain.agents import create_agent
from langchain.agents.structured_output import ToolStrategy
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.tools import tool
from langchain_core.tracers.base import BaseTracer
from langchain_llmslim import LLMSlimMemoryMiddleware
from langchain_llmslim.recall import recall_text
from langchain_llmslim.scope import Ids
from langgraph.checkpoint.memory import InMemorySaver
from pydantic import BaseModel

from llmslim_memory import ContextEnvelope, Memory

THREAD = {"configurable": {"thread_id": "t1"}}
NOTICE = ContextEnvelope("x").to_text().splitlines()[0]


@tool
def search(query: str) -> str:
    """Search."""
    return f"found {query}"


def call(number: int) -> AIMessage:
    return AIMessage("", tool_calls=[{"name": "search", "args": {"query": "x"}, "id": f"call_{number}"}])


def user(text: str) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": text}]}


@pytest.fixture
def filled(memory: Memory) -> Memory:
    memory.add({"role": "user", "content": "My bike is red."}, user_id="ann", run_id="t0")
    return memory


def ours(memory: Memory, **options: Any) -> LLMSlimMemoryMiddleware:
    return LLMSlimMemoryMiddleware(memory, **{"user_id": "ann", "on_error": "raise", **options})


def test_recalled_text_stands_before_the_question_at_every_call_of_the_run(
    filled: Memory, model: Any, run: Any
) -> None:
    chat = model("Hello.", call(1), call(2), "Red.")
    bot = create_agent(
        chat, [search], middleware=[ours(filled)], system_prompt="Be kind.", checkpointer=InMemorySaver()
    )
    run(bot, user("Good morning, bike friends!"), THREAD)
    run(bot, user("What colour is my bike?"), THREAD)
    for seen in chat.seen[1:]:
        assert [type(m) for m in seen[:3]] == [SystemMessage, HumanMessage, AIMessage]
        assert "My bike is red." in seen[3].content
        assert [type(m) for m in seen[3:5]] == [HumanMessage, HumanMessage]
        assert seen[4].content == "What colour is my bike?"
        assert [type(m) for m in seen[5:]] == [AIMessage, ToolMessage] * (len(seen[5:]) // 2)
    assert [len(seen) for seen in chat.seen[1:]] == [5, 7, 9]
    assert len({seen[3].content for seen in chat.seen[1:]}) == 1


def test_state_output_checkpoint_and_memory_hold_nothing_recalled(filled: Memory, model: Any, run: Any) -> None:
    saver = InMemorySaver()
    bot = create_agent(model(call(1), "Red."), [search], middleware=[ours(filled)], checkpointer=saver)
    result = run(bot, user("What colour is my bike?"), THREAD)
    assert NOTICE not in str(result)
    assert "llmslim_memory" not in result
    assert NOTICE not in str([list(saver.list(None)), saver.storage, saver.writes, saver.blobs])
    assert NOTICE not in str(filled.get_all(user_id="ann"))


def test_a_streamed_run_shows_nothing_recalled(filled: Memory, model: Any) -> None:
    chat = model("It is red.")
    bot = create_agent(chat, [search], middleware=[ours(filled)])
    events = list(bot.stream(user("What colour is my bike?"), THREAD, stream_mode=["values", "updates", "messages"]))
    assert len(events) > 5
    assert "My bike" not in str(events)


def test_messages_of_the_run_are_the_same_objects_for_the_model(filled: Memory, model: Any) -> None:
    chat = model("Red.")
    question = HumanMessage("What colour is my bike?", id="h1")
    create_agent(chat, [], middleware=[ours(filled)]).invoke({"messages": [question]}, THREAD)
    assert chat.seen[0][1] is question


def test_the_recalled_message_is_marked_as_not_typed_by_the_user(filled: Memory, model: Any, run: Any) -> None:
    chat = model("Red.")
    run(create_agent(chat, [], middleware=[ours(filled)]), user("What colour is my bike?"), THREAD)
    assert chat.seen[0][0].additional_kwargs["lc_source"] == "llmslim_memory"


@pytest.mark.parametrize("prompt", [None, "Be kind.", SystemMessage([{"type": "text", "text": "Be kind."}])])
def test_recalled_text_can_be_a_block_of_the_one_system_message(
    filled: Memory, model: Any, run: Any, prompt: Any
) -> None:
    chat = model("Red.")
    bot = create_agent(chat, [], middleware=[ours(filled, inject_as="system")], system_prompt=prompt)
    run(bot, user("What colour is my bike?"), THREAD)
    system, question = chat.seen[0]
    assert isinstance(system, SystemMessage)
    assert "My bike is red." in system.text
    assert system.text.startswith("Be kind." if prompt else NOTICE)
    assert question.content == "What colour is my bike?"


@pytest.mark.parametrize("budget", [0, 1, 40, 120, 200, 400, 1000])
def test_recalled_text_stays_within_its_budget_wrapper_included(
    memory: Memory, model: Any, run: Any, budget: int
) -> None:
    memory.add(
        [{"role": "user", "content": f"Bike {n} is red and old."} for n in range(60)], user_id="ann", run_id="t0"
    )
    chat = model("Red.")
    run(create_agent(chat, [], middleware=[ours(memory, token_budget=budget)]), user("Which bike is red?"), THREAD)
    shown = chat.seen[0][:-1]
    assert sum(memory.counter(message.content) for message in shown) <= budget
    assert bool(shown) == (budget >= 200) or budget == 120


@pytest.mark.parametrize("k", [1, 2, 5])
def test_no_more_turns_are_recalled_than_asked_for(memory: Memory, model: Any, run: Any, k: int) -> None:
    memory.add([{"role": "user", "content": f"Bike {n} is red."} for n in range(9)], user_id="ann", run_id="t0")
    memory.add({"role": "user", "content": "My bike in the cellar is blue."}, user_id="ann", run_id="t0")
    chat = model("Blue.")
    run(create_agent(chat, [], middleware=[ours(memory, k=k)]), user("Which bike is in the cellar?"), THREAD)
    assert "in the cellar is blue." in chat.seen[0][0].content
    assert sum("ike" in line for line in chat.seen[0][0].content.splitlines()) == k


TEMPLATE = "Notes {not a field} on {memory}\nend of notes }{"


@pytest.mark.parametrize("where", ["human", "system"])
@pytest.mark.parametrize("text", ["My bike is red.", "My bike is {memory} red {0} {{ 7 * 7 }} %s"])
def test_a_template_stands_around_what_is_recalled_which_stays_wrapped(
    memory: Memory, model: Any, run: Any, where: str, text: str
) -> None:
    memory.add({"role": "user", "content": text}, user_id="ann", run_id="t0")
    chat = model("Red.")
    bot = create_agent(chat, [], middleware=[ours(memory, template=TEMPLATE, inject_as=where)])
    run(bot, user("What colour is my bike?"), THREAD)
    shown = chat.seen[0][0].text
    assert shown.startswith("Notes {not a field} on ")
    assert shown.endswith("\nend of notes }{")
    inside = shown.removeprefix("Notes {not a field} on ").removesuffix("\nend of notes }{")
    assert text in ContextEnvelope.unwrap(inside)


def test_where_nothing_is_recalled_the_template_is_not_shown(memory: Memory, model: Any, run: Any) -> None:
    chat = model("Hello.")
    run(create_agent(chat, [], middleware=[ours(memory, template=TEMPLATE)]), user("Hi"), THREAD)
    assert [message.content for message in chat.seen[0]] == ["Hi"]


@given(
    budget=st.integers(0, 500),
    edges=st.tuples(st.text(max_size=60), st.text(max_size=60)).filter(lambda e: "{memory}" not in "".join(e)),
    texts=st.lists(st.text(min_size=1, max_size=80), max_size=8),
)
@settings(max_examples=60, deadline=None)
def test_template_and_recalled_text_stay_within_the_budget_together(
    budget: int, edges: tuple[str, str], texts: list[str]
) -> None:
    with Memory() as memory:
        memory.add([{"role": "user", "content": f"bike {text}"} for text in texts], user_id="ann")
        template = f"{edges[0]}{{memory}}{edges[1]}"
        ids = Ids(user_id="ann", agent_id=None, run_id=None)
        shown = recall_text(memory, "bike", ids, token_budget=budget, template=template)
        assert memory.counter(shown) <= budget
        if shown:
            assert ContextEnvelope.unwrap(shown[len(edges[0]) : len(shown) - len(edges[1])])


def test_a_template_by_which_the_whole_counts_more_than_its_parts_keeps_to_the_budget() -> None:
    def count(text: str) -> int:
        return len(text.split()) + (40 if text.startswith("Z") and text.endswith(">") else 0)

    with Memory(encoding=count) as memory:
        memory.add([{"role": "user", "content": f"Bike {n} is red."} for n in range(200)], user_id="ann")
        ids = Ids(user_id="ann", agent_id=None, run_id=None)
        shown = recall_text(memory, "Which bike is red?", ids, token_budget=300, template="Z{memory}")
        assert shown.count("Bike") > 20
        assert count(shown) <= 300


def test_an_empty_memory_adds_no_message(memory: Memory, model: Any, run: Any) -> None:
    chat = model("Hello.")
    run(create_agent(chat, [], middleware=[ours(memory)]), user("Hi"), THREAD)
    assert [message.content for message in chat.seen[0]] == ["Hi"]


def test_what_the_model_sees_already_is_not_recalled(memory: Memory, model: Any, run: Any) -> None:
    chat = model("Noted.", "Red.", "Red!")
    bot = create_agent(chat, [], middleware=[ours(memory)], checkpointer=InMemorySaver())
    for text in ("My bike is red.", "What colour is my bike?", "Which bike colour?"):
        run(bot, user(text), THREAD)
    assert [len(seen) for seen in chat.seen] == [1, 3, 5]


def test_a_transcript_that_a_client_sends_again_is_not_recalled(memory: Memory, model: Any, run: Any) -> None:
    chat = model("Noted.", "Red.")
    bot = create_agent(chat, [], middleware=[ours(memory)])
    said = [{"role": "user", "content": "My bike is red."}]
    run(bot, {"messages": said}, THREAD)
    said += [{"role": "assistant", "content": "Noted."}, {"role": "user", "content": "What colour is my bike?"}]
    run(bot, {"messages": said}, THREAD)
    assert [message.content for message in chat.seen[1]] == [message["content"] for message in said]


@pytest.mark.parametrize(("exclude", "recalled"), [(True, False), (False, True)])
def test_the_session_can_be_left_out_or_recalled_as_a_whole(
    memory: Memory, model: Any, run: Any, exclude: bool, recalled: bool
) -> None:
    chat = model("Noted.", "Red.")
    bot = create_agent(chat, [], middleware=[ours(memory, exclude_current_session=exclude)])
    run(bot, user("My bike is red."), THREAD)
    run(bot, user("What colour is my bike?"), THREAD)
    shown = [message.content for message in chat.seen[1]]
    assert any("My bike is red." in text for text in shown) == recalled
    assert sum("What colour" in text for text in shown) == 1


def test_the_question_is_the_last_thing_the_user_typed(memory: Memory, model: Any, run: Any) -> None:
    memory.add([{"role": "user", "content": f"My {t} is red."} for t in ("bike", "kite")], user_id="ann", run_id="t0")
    memory.add([{"role": "user", "content": "filler " * 400}], user_id="ann", run_id="t0")
    chat = model("Red.")
    asked = {"messages": [HumanMessage("First of all, hello"), HumanMessage("kite?")]}
    run(create_agent(chat, [], middleware=[ours(memory, token_budget=180)]), asked, THREAD)
    recalled, first, second = chat.seen[0]
    assert "My kite is red." in recalled.content
    assert (first.content, second.content) == ("First of all, hello", "kite?")


@pytest.mark.parametrize(
    "messages", [[], [SystemMessage("x")], [AIMessage("x")], [HumanMessage("")], [HumanMessage([])]]
)
def test_a_run_without_a_question_recalls_nothing(filled: Memory, model: Any, run: Any, messages: Any) -> None:
    chat = model("Hello.")
    run(create_agent(chat, [], middleware=[ours(filled)]), {"messages": messages}, THREAD)
    assert len(chat.seen[0]) == len(messages)


def test_a_question_of_image_and_text_recalls_by_its_text(filled: Memory, model: Any, run: Any) -> None:
    image = {"type": "image", "base64": "iVBORw0KGgo=", "mime_type": "image/png"}
    chat = model("Red.")
    asked = {"messages": [HumanMessage([{"type": "text", "text": "What colour is my bike?"}, image])]}
    run(create_agent(chat, [], middleware=[ours(filled)]), asked, THREAD)
    assert "My bike is red." in chat.seen[0][0].content


def test_two_memories_of_different_names_work_in_one_agent(memory: Memory, model: Any, run: Any) -> None:
    with Memory() as team:
        memory.add({"role": "user", "content": "My bike is red."}, user_id="ann", run_id="t0")
        team.add({"role": "user", "content": "The team's bike is blue."}, user_id="team", run_id="t0")
        chat = model("Both.")
        middleware = [ours(memory, name="mine"), ours(team, user_id="team", name="team")]
        bot = create_agent(chat, [], middleware=middleware)
        run(bot, user("What colour is the bike?"), THREAD)
        shown = " ".join(message.content for message in chat.seen[0])
        assert "My bike is red." in shown
        assert "The team's bike is blue." in shown
        assert len(memory.get_all(run_id="t1")) == len(team.get_all(run_id="t1")) == 2


def test_two_memories_of_one_name_are_refused(memory: Memory, model: Any) -> None:
    with pytest.raises(AssertionError, match="duplicate"):
        create_agent(model(), [], middleware=[ours(memory), ours(memory)])


class Colour(BaseModel):
    """A colour."""

    name: str


def test_a_structured_answer_is_stored(filled: Memory, model: Any, run: Any, transcript: Any) -> None:
    answer = AIMessage("", tool_calls=[{"name": "Colour", "args": {"name": "red"}, "id": "c1"}])
    chat = model(answer)
    bot = create_agent(chat, [search], middleware=[ours(filled)], response_format=ToolStrategy(Colour))
    result = run(bot, user("What colour is my bike?"), THREAD)
    assert result["structured_response"] == Colour(name="red")
    assert "My bike is red." in chat.seen[0][0].content
    assert "red" in transcript()[-1][1]


@dataclass
class Context:
    user_id: str


def test_a_subagent_with_a_memory_of_its_own_keeps_its_turns_apart(memory: Memory, model: Any, run: Any) -> None:
    child = create_agent(model("It is red."), [], middleware=[ours(memory, agent_id="child", name="m")], name="child")

    @tool
    def ask_child(query: str) -> str:
        """Ask."""
        return str(child.invoke(user(query))["messages"][-1].content)

    @tool
    async def ask_child_async(query: str) -> str:
        """Ask."""
        return str((await child.ainvoke(user(query)))["messages"][-1].content)

    name = "ask_child" if run.__name__ == "_invoke" else "ask_child_async"
    asked = AIMessage("", tool_calls=[{"name": name, "args": {"query": "Colour?"}, "id": "c1"}])
    bot = create_agent(
        model(asked, "Red."), [ask_child, ask_child_async], middleware=[ours(memory, agent_id="parent")], name="parent"
    )
    run(bot, user("What colour is my bike?"), THREAD)
    by_agent = {a: [i.content for i in memory.get_all(user_id="ann", agent_id=a)] for a in ("parent", "child")}
    assert by_agent["child"] == ["Colour?", "It is red."]
    assert by_agent["parent"] == ["What colour is my bike?", f"[tool call: {name}]", "It is red.", "Red."]


def test_a_run_without_a_thread_works_for_a_known_user(memory: Memory, model: Any, run: Any) -> None:
    chat = model("Noted.", "Red.")
    bot = create_agent(chat, [], middleware=[ours(memory)], context_schema=Context)
    run(bot, user("My bike is red."))
    run(bot, user("What colour is my bike?"), context=Context("ann"))
    assert "My bike is red." in chat.seen[1][0].content
    assert len(memory.get_all(user_id="ann")) == 4


def test_a_middleware_cannot_be_pickled_and_says_why(memory: Memory) -> None:
    with pytest.raises(TypeError, match="holds an open memory and cannot be pickled"):
        pickle.dumps(ours(memory))


class Spans(BaseTracer):
    """Keeps all that a tracing service would be told about the hooks of the memory."""

    def __init__(self) -> None:
        super().__init__()
        self.hooks: list[Any] = []

    def _persist_run(self, run: Any) -> None:
        self._walk(run)

    def _walk(self, run: Any) -> None:
        if "LLMSlimMemoryMiddleware" in run.name:
            self.hooks.append((run.name, run.inputs, run.outputs))
        for child in run.child_runs:
            self._walk(child)


def test_spans_of_the_hooks_record_no_transcript(filled: Memory, model: Any, run: Any) -> None:
    spans = Spans()
    bot = create_agent(model("It is red."), [], middleware=[ours(filled)])
    run(bot, user("What colour is my bike?"), {**THREAD, "callbacks": [spans]})
    assert spans.hooks
    # langgraph before 1.2 has no say in what is traced.
    can_omit = hasattr(langgraph.types, "TracePolicy")
    assert ("bike" in str(spans.hooks)) != can_omit


@pytest.mark.parametrize(
    "bad",
    [
        {"inject_as": "assistant"},
        {"on_error": "ignore"},
        {"exclude_current_session": "no"},
        {"record_roles": ["robot"]},
        {"token_budget": -1},
        {"token_budget": "many"},
        {"k": 0},
        {"k": "3"},
        {"k": True},
        {"template": ""},
        {"template": "no place"},
        {"template": "{memory} twice {memory}"},
        {"template": 7},
    ],
)
def test_an_argument_that_means_nothing_is_refused(memory: Memory, bad: dict[str, Any]) -> None:
    with pytest.raises((ValueError, TypeError)):
        LLMSlimMemoryMiddleware(memory, **bad)
