"""Fixtures: a memory, a scripted chat model, and a watch over the event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from blockbuster import blockbuster_ctx
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, BaseMessage
from pydantic import Field

from llmslim_memory import Memory


class ScriptedModel(GenericFakeChatModel):
    """Answers with what the script says, raises what the script raises, and keeps what it was shown."""

    seen: list[list[BaseMessage]] = Field(default_factory=list)

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> Any:
        self.seen.append(list(messages))
        return super()._generate(messages, *args, **kwargs)

    def bind_tools(self, tools: Any, **kwargs: Any) -> ScriptedModel:
        return self


class _Script:
    """An iterator that, unlike a generator, goes on after it raised."""

    def __init__(self, entries: tuple[Any, ...]) -> None:
        self._entries = iter(entries)

    def __iter__(self) -> _Script:
        return self

    def __next__(self) -> AIMessage:
        entry = next(self._entries)
        if isinstance(entry, BaseException):
            raise entry
        return AIMessage(entry) if isinstance(entry, str) else entry


@pytest.fixture
def model() -> Any:
    """Makes a model that follows a script of texts, messages and exceptions."""
    return lambda *script: ScriptedModel(messages=_Script(script))


@pytest.fixture
def memory() -> Iterator[Memory]:
    with Memory() as memory:
        yield memory


@pytest.fixture
def memory_file(tmp_path: Any) -> Iterator[Memory]:
    with Memory(tmp_path / "memory.db") as memory:
        yield memory


def _invoke(agent: Any, *args: Any, **kwargs: Any) -> Any:
    return agent.invoke(*args, **kwargs)


def _ainvoke(agent: Any, *args: Any, **kwargs: Any) -> Any:
    async def main() -> Any:
        with blockbuster_ctx():
            return await agent.ainvoke(*args, **kwargs)

    return asyncio.run(main())


@pytest.fixture(params=[_invoke, _ainvoke], ids=["sync", "async"])
def run(request: pytest.FixtureRequest) -> Any:
    """Runs an agent: ``run(agent, input, config)``, once each way; the event loop must never block."""
    return request.param


@pytest.fixture
def transcript(memory: Memory) -> Any:
    """What is stored of a thread, as (role, content), in the order it was said."""

    def read(thread: str = "t1", memory: Memory = memory) -> list[tuple[str, str]]:
        items = sorted(memory.get_all(run_id=thread), key=lambda item: item.seq)
        return [(item.role, item.content) for item in items]

    return read


@pytest.fixture(autouse=True)
def _no_blocking_in_the_event_loop(request: pytest.FixtureRequest) -> Iterator[None]:
    if not asyncio.iscoroutinefunction(request.function):
        yield
        return
    with blockbuster_ctx():
        yield
