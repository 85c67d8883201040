"""Agents and workflows with this memory: every turn stored once, whatever the agent asks of its memory."""

from __future__ import annotations

import json

from llama_index.core.agent.workflow import AgentWorkflow, FunctionAgent, ReActAgent
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.tools import FunctionTool
from llama_index.core.workflow import Context
from llama_index.memory.llmslim import LLMSlimMemoryBlock, recall_tool

from llmslim_memory import Memory

from .conftest import MakeMemory
from .llms import ScriptedLLM, Step


async def weather(city: str) -> str:
    """The weather in a city."""
    return f"Sunny in {city}."


TOOL = FunctionTool.from_defaults(async_fn=weather)
CALL: Step = ("weather", {"city": "Pune"})
SAID = [
    ("user", "Is it sunny in Pune?"),
    ("assistant", '[calls weather: {"city": "Pune"}]'),
    ("tool", "Sunny in Pune."),
    ("assistant", "Yes, it is."),
]


def stored(memory: Memory) -> list[tuple[str, str]]:
    return [(item.role, item.content) for item in memory.get_all(user_id="ann")]


async def test_an_agent_that_calls_a_tool_stores_each_turn_once(memory: Memory, make: MakeMemory) -> None:
    agent = FunctionAgent(tools=[TOOL], llm=ScriptedLLM(CALL, "Yes, it is."))
    answer = await agent.run(user_msg="Is it sunny in Pune?", memory=make())
    assert str(answer) == "Yes, it is."
    assert stored(memory) == SAID


async def test_the_prompt_of_an_agent_is_no_turn_in_any_of_its_runs(memory: Memory, make: MakeMemory) -> None:
    session = make()
    agent = FunctionAgent(tools=[TOOL], llm=ScriptedLLM(CALL, "Yes, it is.", "Bye."), system_prompt="Be kind.")
    await agent.run(user_msg="Is it sunny in Pune?", memory=session)
    await agent.run(user_msg="Thanks.", memory=session)
    assert stored(memory)[: len(SAID) + 1] == [*SAID, ("user", "Thanks.")]
    assert all("Be kind" not in text for _, text in stored(memory))


async def test_a_second_run_in_the_session_adds_only_its_own_turns(memory: Memory, make: MakeMemory) -> None:
    session = make()
    agent = FunctionAgent(tools=[TOOL], llm=ScriptedLLM(CALL, "Yes, it is.", CALL, "Yes, it is."))
    for _ in range(2):
        await agent.run(user_msg="Is it sunny in Pune?", memory=session)
    assert stored(memory) == SAID * 2


async def test_a_workflow_that_hands_over_stores_each_turn_once(memory: Memory, make: MakeMemory) -> None:
    hand_over: Step = ("handoff", {"to_agent": "teller", "reason": "asks for weather"})
    first = FunctionAgent(name="greeter", description="greets", llm=ScriptedLLM(hand_over), can_handoff_to=["teller"])
    second = FunctionAgent(
        name="teller", description="tells the weather", tools=[TOOL], llm=ScriptedLLM(CALL, "Yes, it is.")
    )
    workflow = AgentWorkflow(agents=[first, second], root_agent="greeter")
    await workflow.run(user_msg="Is it sunny in Pune?", memory=make())
    roles = [role for role, _ in stored(memory)]
    assert roles == ["user", "assistant", "tool", "assistant", "tool", "assistant"]
    assert [text for role, text in stored(memory) if role == "user"] == ["Is it sunny in Pune?"]


async def test_a_reasoning_agent_stores_its_reasoning_and_answer_as_one_turn(memory: Memory, make: MakeMemory) -> None:
    thought = 'Thought: I need the weather.\nAction: weather\nAction Input: {"city": "Pune"}'
    done = "Thought: I can answer without using any more tools.\nAnswer: Yes, it is."
    agent = ReActAgent(tools=[TOOL], llm=ScriptedLLM(thought, done), streaming=False)
    session = make()
    answer = await agent.run(user_msg="Is it sunny in Pune?", memory=session)
    assert str(answer) == "Yes, it is."
    assert [role for role, _ in stored(memory)] == ["user", "assistant"]
    assert "Sunny in Pune." in stored(memory)[1][1]
    assert stored(memory)[1][1].endswith("Answer: Yes, it is.")


async def test_a_client_that_resends_its_history_stores_only_what_is_new(memory: Memory, make: MakeMemory) -> None:
    history: list[ChatMessage] = []
    for number in range(3):
        agent = FunctionAgent(llm=ScriptedLLM(f"answer {number}"))
        # As a stateless server has it: a new memory object of the same session, and all that the client knows.
        await agent.run(user_msg="And now?", chat_history=list(history), memory=make())
        history += [
            ChatMessage(role="user", content="And now?"),
            ChatMessage(role="assistant", content=f"answer {number}"),
        ]
    assert stored(memory) == [(message.role.value, message.content) for message in history]


async def test_an_agent_recalls_an_earlier_session(memory: Memory, write_through: MakeMemory) -> None:
    await FunctionAgent(llm=ScriptedLLM("Noted.")).run(user_msg="My dog is called Bruno.", memory=write_through())
    model = ScriptedLLM("Bruno.")
    await FunctionAgent(llm=model, system_prompt="Be brief.").run(
        user_msg="What is my dog called?", memory=write_through("s2")
    )
    [shown] = model.seen
    assert [message.role.value for message in shown] == ["system", "system", "user"]
    assert "My dog is called Bruno." in str(shown[1].content)
    assert "Noted." in str(shown[1].content)


async def test_a_prompt_with_state_never_reaches_the_memory(memory: Memory, write_through: MakeMemory) -> None:
    session = write_through()
    agent = AgentWorkflow(
        agents=[FunctionAgent(name="a", description="a", tools=[TOOL], llm=ScriptedLLM(CALL, "Yes, it is."))],
        initial_state={"secret": "swordfish"},
    )
    await agent.run(user_msg="Is it sunny in Pune?", memory=session)
    assert "swordfish" not in json.dumps(stored(memory))
    assert "swordfish" not in str(await session.aget_all())


async def test_messages_given_to_agents_are_copies(memory: Memory, write_through: MakeMemory) -> None:
    session = write_through()
    await session.aput(ChatMessage(role="user", content="hello"))
    for message in [*await session.aget(), *await session.aget_all()]:
        message.blocks[0].text = "changed"
        message.additional_kwargs["changed"] = True
    assert await session.aget_all() == [ChatMessage(role="user", content="hello")]


async def test_a_tool_answer_that_was_recalled_is_not_remembered_as_said(
    memory: Memory, write_through: MakeMemory
) -> None:
    memory.add({"role": "user", "content": "My dog is called Bruno."}, user_id="ann", run_id="s0")
    model = ScriptedLLM(("recall", {"query": "dog called"}), "Bruno.")
    agent = FunctionAgent(tools=[recall_tool(memory, user_id="ann", session_id="s1")], llm=model)
    session = write_through()
    await agent.run(user_msg="Which pet have I?", memory=session)
    answer = model.seen[1][-1]
    assert answer.role.value == "tool"
    assert "Bruno" in str(answer.content)
    [kept] = [message for message in await session.aget_all() if message.role.value == "tool"]
    assert kept == answer
    assert [text for role, text in stored(memory) if role == "tool"] == [""]


async def test_a_reused_context_stores_each_turn_once(memory: Memory, write_through: MakeMemory) -> None:
    agent = FunctionAgent(llm=ScriptedLLM("ok"))
    context = Context(agent)
    await agent.run(user_msg="one", ctx=context, memory=write_through("s1"))
    await agent.run(user_msg="two", ctx=context, memory=write_through("s2"))
    assert stored(memory) == [("user", "one"), ("assistant", "ok"), ("user", "two"), ("assistant", "ok")]
    # Releases differ in which memory the second run takes: that of the context, or that of the call.
    assert [item.run_id for item in memory.get_all(user_id="ann")] in (["s1"] * 4, ["s1", "s1", "s2", "s2"])


async def test_an_empty_memory_is_not_taken_for_none(memory: Memory, write_through: MakeMemory) -> None:
    session = write_through()
    assert session
    assert LLMSlimMemoryBlock(memory, user_id="ann")
    await FunctionAgent(llm=ScriptedLLM("ok")).run(user_msg="kept", memory=session)
    assert stored(memory)[0] == ("user", "kept")
