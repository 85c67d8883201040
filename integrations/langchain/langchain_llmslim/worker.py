"""Runs work on a memory: in the caller's thread, or off the event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

from llmslim_memory import AsyncMemory, Memory

T = TypeVar("T")


class Worker:
    """A memory, and the two ways to use it.

    Args:
        memory: The memory to share; an ``AsyncMemory`` is opened at the first use.

    Raises:
        TypeError: ``memory`` is neither.
    """

    def __init__(self, memory: Memory | AsyncMemory) -> None:
        if not isinstance(memory, Memory | AsyncMemory):
            raise TypeError(f"memory must be a Memory or an AsyncMemory, not {type(memory).__name__}")
        self._memory = memory if isinstance(memory, AsyncMemory) else AsyncMemory(memory)

    def run(self, work: Callable[[Memory], T]) -> T:
        """Do ``work`` here and now."""
        return work(self._memory.open())

    async def arun(self, work: Callable[[Memory], T]) -> T:
        """Do ``work`` in a thread: all of it, converting messages and loading a tokenizer included."""
        return await asyncio.to_thread(self.run, work)
