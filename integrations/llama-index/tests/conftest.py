"""A memory of this process for each test, and a guard against blocking the event loop."""

from __future__ import annotations

import asyncio
import inspect
import warnings
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from blockbuster import BlockBuster, blockbuster_ctx
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.pool import StaticPool

from llmslim_memory import Memory

with warnings.catch_warnings():
    # Older releases of LlamaIndex warn of themselves when a newer pydantic imports them.
    warnings.simplefilter("ignore")
    from llama_index.core.memory import Memory as LlamaMemory
    from llama_index.core.utils import get_tokenizer
    from llama_index.memory.llmslim import LLMSlimMemory, LLMSlimMemoryBlock

HERE = Path(__file__).parent
FRAMEWORK_WARNINGS = (
    # Workflows look at every attribute of an agent, deprecated ones of pydantic included.
    "ignore::pydantic.warnings.PydanticDeprecationWarning",
    "ignore:is_running called from within a step:DeprecationWarning",
    # llama-index-core 0.13 makes what its workflows deprecate.
    "ignore:ServiceManager is deprecated:DeprecationWarning",
    # A workflow's context leaves its memory out when it is written down.
    "ignore:Skipping serialization of known unserializable key",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let pass what LlamaIndex itself warns of; a warning of ours still fails a test."""
    for item in items:
        if HERE in item.path.parents:
            for warning in FRAMEWORK_WARNINGS:
                item.add_marker(pytest.mark.filterwarnings(warning))


@pytest.fixture
def memory() -> Memory:
    return Memory()


MakeMemory = Callable[..., Any]
"""Makes the memory of a session, given its name and further options of LlamaIndex's ``Memory``."""


@pytest.fixture
def write_through(memory: Memory) -> MakeMemory:
    """``LLMSlimMemory`` objects of the user Ann."""

    def make(session_id: str = "s1", **options: Any) -> LLMSlimMemory:
        return LLMSlimMemory.from_defaults(memory=memory, user_id="ann", session_id=session_id, **options)

    return make


@pytest.fixture
async def with_block(memory: Memory) -> AsyncIterator[MakeMemory]:
    """LlamaIndex's own ``Memory`` objects with Ann's block, on a database of LlamaIndex's."""
    # One shared connection: the default in-memory database gives each connection its own, empty one.
    engine = create_async_engine("sqlite+aiosqlite://", poolclass=StaticPool)

    def make(session_id: str = "s1", **options: Any) -> LlamaMemory:
        block = LLMSlimMemoryBlock(memory, user_id="ann")
        return LlamaMemory.from_defaults(session_id=session_id, memory_blocks=[block], async_engine=engine, **options)

    yield make
    await engine.dispose()


@pytest.fixture(params=["write_through", "with_block"])
def make(request: pytest.FixtureRequest) -> MakeMemory:
    """Either of the two ways to remember."""
    found: MakeMemory = request.getfixturevalue(request.param)
    return found


@pytest.fixture(autouse=True)
def loop_guard(request: pytest.FixtureRequest) -> Iterator[BlockBuster | None]:
    """Every coroutine test fails if anything in it blocks the event loop."""
    if not inspect.iscoroutinefunction(getattr(request.node, "obj", None)):
        yield None
        return
    # LlamaIndex's own Memory reads a vocabulary when the first one is made, in whatever thread that is: done here.
    get_tokenizer()
    with blockbuster_ctx() as guard:
        # Its synthesizers count the tokens of a prompt in another thread and wait for that one, in the event loop.
        guard.functions["threading.Lock.acquire"].can_block_in("llama_index/core/base/llms/types.py", "estimate_tokens")
        yield guard


@pytest.fixture(autouse=True)
def closed_loop(request: pytest.FixtureRequest) -> Iterator[None]:
    """A loop for LlamaIndex's synchronous methods, which make one and leave it open where there is none."""
    if inspect.iscoroutinefunction(getattr(request.node, "obj", None)):
        yield
        return
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    yield
    loop.close()
    asyncio.set_event_loop(None)
