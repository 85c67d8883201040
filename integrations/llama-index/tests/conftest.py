"""A memory of this process for each test, and a guard against blocking the event loop."""

from __future__ import annotations

import inspect
from collections.abc import Iterator

import pytest
from blockbuster import BlockBuster, blockbuster_ctx

from llmslim_memory import Memory


@pytest.fixture
def memory() -> Memory:
    return Memory()


@pytest.fixture(autouse=True)
def loop_guard(request: pytest.FixtureRequest) -> Iterator[BlockBuster | None]:
    """Every coroutine test fails if anything in it blocks the event loop."""
    if not inspect.iscoroutinefunction(getattr(request.node, "obj", None)):
        yield None
        return
    with blockbuster_ctx() as guard:
        # LlamaIndex itself reads its tokenizer's vocabulary in Memory.from_defaults, which is no coroutine.
        for function in guard.functions.values():
            function.can_block_in("llama_index/core/utils.py", "get_tokenizer")
        yield guard
