"""The Memory that does the work, held so that LlamaIndex objects can be copied, dumped and pickled without it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from llmslim_memory import AsyncMemory, InvalidTypeError, InvalidValueError, Memory, MemoryStore, Scope

MemoryLike = Memory | AsyncMemory | MemoryStore | str | Path
"""What every class here takes as ``memory``: a Memory, or what ``Memory`` takes as its store (a path, a URL)."""

T = TypeVar("T")


class Engine:
    """Runs work on a :class:`~llmslim_memory.Memory`, in worker threads where a coroutine asks.

    Copies share it. A pickle leaves it out, so that no connection or password is written: :meth:`attach` gives an
    unpickled object its memory again.
    """

    def __init__(self, memory: MemoryLike | None) -> None:
        self._memory: AsyncMemory | None = None
        self._locks: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Lock] = WeakKeyDictionary()
        if memory is not None:
            self.attach(memory)

    def attach(self, memory: MemoryLike) -> None:
        """Work on ``memory`` from now on."""
        if memory is None:
            raise InvalidTypeError("memory is None: pass a Memory, a store, a path or a URL")
        self._memory = memory if isinstance(memory, AsyncMemory) else AsyncMemory(memory)

    def open(self) -> Memory:
        """The memory, opened if it is not yet; this may block."""
        if self._memory is None:
            raise InvalidValueError("this object was unpickled without its memory: pass one to its attach() first")
        return self._memory.open()

    async def run(self, work: Callable[[Memory], T]) -> T:
        """Do ``work`` in a worker thread, the opening of the database and of the tokenizer's vocabulary included."""
        return await asyncio.to_thread(lambda: work(self._ready()))

    def one_at_a_time(self) -> asyncio.Lock:
        """A lock for what the coroutines of the running event loop must not do at once."""
        return self._locks.setdefault(asyncio.get_running_loop(), asyncio.Lock())

    def tokenize(self, text: str) -> list[int]:
        """As many entries as ``text`` has tokens by the memory's counter: what LlamaIndex calls a tokenizer."""
        return list(range(self.open().counter(text)))

    def _ready(self) -> Memory:
        memory = self.open()
        memory.counter("ready")
        return memory

    def __deepcopy__(self, memo: dict[int, Any]) -> Engine:
        return self

    def __reduce__(self) -> tuple[type[Engine], tuple[None]]:
        return Engine, (None,)


def check_owner(user_id: str | None, agent_id: str | None) -> None:
    """Raise unless a user or an agent is named, so that nobody reads everybody's memory by leaving out an id."""
    Scope(user_id=user_id, agent_id=agent_id)
