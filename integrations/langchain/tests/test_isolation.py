"""Nothing of one user, agent or thread ever shows to another, and a run without an owner does not start."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import pytest
from langchain.agents import create_agent
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_llmslim import LLMSlimMemoryMiddleware
from langchain_llmslim.scope import RunScope, ScopeRule

from llmslim_memory import Memory

USERS = ["u1", "u10", "a_b", "axb", "a%b", "ünal", "u\N{COMBINING DIAERESIS}nal", "用户", "U1", " u1"]


class Echo(GenericFakeChatModel):
    """Answers with all that it was shown."""

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        text = " | ".join(str(message.content) for message in messages)
        return ChatResult(generations=[ChatGeneration(message=AIMessage(text))])


@dataclass
class Context:
    user_id: Any = None
    agent_id: Any = None


def user(text: str) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": text}]}


def thread(name: Any, **ids: Any) -> dict[str, Any]:
    return {"configurable": {"thread_id": name, **ids}}


@pytest.fixture
def bot(memory: Memory) -> Any:
    middleware = LLMSlimMemoryMiddleware(memory, record_roles=["human"], on_error="raise")
    return create_agent(Echo(messages=iter([])), [], middleware=[middleware], context_schema=Context)


def test_one_middleware_serves_users_of_similar_names_apart(bot: Any, run: Any) -> None:
    for number, name in enumerate(USERS):
        run(bot, user(f"My secret word is zx{1000 + number}."), thread("t1"), context=Context(name))
    for number, name in enumerate(USERS):
        answer = run(bot, user("What is my secret word?"), thread("t2"), context=Context(name))
        shown = answer["messages"][-1].content
        assert [n for n in range(len(USERS)) if f"zx{1000 + n}" in shown] == [number]


async def test_one_middleware_serves_fifty_users_at_once(bot: Any) -> None:
    async def ask(number: int, text: str) -> str:
        answer = await bot.ainvoke(user(text), thread("t1"), context=Context(f"user {number}"))
        return str(answer["messages"][-1].content)

    await asyncio.gather(*(ask(n, f"My secret word is zx{1000 + n}.") for n in range(50)))
    shown = await asyncio.gather(*(ask(n, "What is my secret word?") for n in range(50)))
    for number, text in enumerate(shown):
        assert [n for n in range(50) if f"zx{1000 + n}" in text] == [number]


def test_without_a_user_a_thread_recalls_nothing_of_another(bot: Any, run: Any) -> None:
    run(bot, user("My secret word is zx1000."), thread("t1"))
    shown = run(bot, user("What is my secret word?"), thread("t10"))["messages"][-1].content
    assert "zx1000" not in shown


def test_an_agent_recalls_nothing_that_another_heard(bot: Any, run: Any) -> None:
    run(bot, user("My secret word is zx1000."), thread("t1"), context=Context("ann", "a1"))
    shown = run(bot, user("What is my secret word?"), thread("t2"), context=Context("ann", "a10"))
    assert "zx1000" not in shown["messages"][-1].content


@pytest.mark.parametrize(
    ("config", "context"),
    [
        (None, None),
        ({}, Context(None)),
        (thread("t1"), Context("")),
        (thread("t1"), Context("  ")),
        (thread("t1"), Context("nul\x00")),
        (thread("t1"), Context(["ann"])),
        (thread("  "), None),
    ],
)
def test_a_run_without_a_usable_owner_ends_before_the_model_is_called(
    memory: Memory, model: Any, run: Any, config: Any, context: Any
) -> None:
    chat = model("never")
    bot = create_agent(chat, [], middleware=[LLMSlimMemoryMiddleware(memory)], context_schema=Context)
    with pytest.raises((ValueError, TypeError)):
        run(bot, user("Hello"), config, context=context)
    assert chat.seen == []


class Server:
    """What a server puts into the runtime."""

    def __init__(self, identity: str, context: Any = None, *, authenticated: bool = True) -> None:
        self.context = context
        self.server_info = type("Info", (), {})()
        self.server_info.user = type("User", (), {"identity": identity, "is_authenticated": authenticated})()


@pytest.mark.parametrize(
    ("rule", "runtime", "config", "expected"),
    [
        (ScopeRule("given"), Server("server", Context("context")), thread("t", user_id="config"), "given"),
        (ScopeRule(lambda runtime, config: "called"), Server("server"), thread("t"), "called"),
        (ScopeRule(), Server("server", Context("context")), thread("t", user_id="config"), "server"),
        (ScopeRule(), Server("guest", authenticated=False), thread("t", user_id="config"), "config"),
        (ScopeRule(), Server("", Context("context")), thread("t"), "context"),
        (ScopeRule(), Server("", {"user_id": "mapping"}), thread("t"), "mapping"),
        (ScopeRule(), None, thread("t", user_id="config"), "config"),
        (ScopeRule(), None, thread("t", user_id=7), "7"),
        (ScopeRule(), None, thread("t"), None),
    ],
)
def test_the_user_is_named_by_the_most_trusted_source(rule: Any, runtime: Any, config: Any, expected: Any) -> None:
    assert rule.resolve(runtime, config).user_id == expected


@pytest.mark.parametrize(
    ("rule", "config", "expected"),
    [
        (ScopeRule(session_id="given"), thread("t"), "given"),
        (ScopeRule(), thread("t"), "t"),
        (ScopeRule(), thread("t", session_id="s"), "s"),
        (ScopeRule(), thread(UUID(int=7)), "00000000-0000-0000-0000-000000000007"),
        (ScopeRule(), thread(1), "1"),
        (ScopeRule(user_id="ann"), None, None),
    ],
)
def test_the_session_is_the_thread_unless_it_is_named(rule: Any, config: Any, expected: Any) -> None:
    assert rule.resolve(None, config).session_id == expected


def test_a_function_that_names_nobody_is_refused() -> None:
    with pytest.raises(ValueError, match="user_id returned None"):
        ScopeRule(lambda runtime, config: None).resolve(None, thread("t1"))


def test_all_threads_of_a_known_user_are_read_and_one_thread_of_an_unknown() -> None:
    assert RunScope("ann", "a1", "t1").readable() == {"user_id": "ann", "agent_id": "a1", "run_id": None}
    assert RunScope(None, "a1", "t1").readable() == {"user_id": None, "agent_id": "a1", "run_id": "t1"}
