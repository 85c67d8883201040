"""AsyncMemory: the methods of `Memory` as coroutines, run in worker threads so that the event loop never waits."""

from __future__ import annotations

import asyncio
import functools
import threading
from collections.abc import Callable, Coroutine
from pathlib import Path
from types import TracebackType
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

from llmslim_memory.errors import InvalidTypeError
from llmslim_memory.memory import Memory
from llmslim_memory.sharing import Shared
from llmslim_memory.types import MemoryStore

P = ParamSpec("P")
R = TypeVar("R")


def _in_thread(
    method: Callable[Concatenate[Memory, P], R],
) -> Callable[Concatenate[AsyncMemory, P], Coroutine[Any, Any, R]]:
    async def call(self: AsyncMemory, /, *args: P.args, **kwargs: P.kwargs) -> R:
        def work() -> R:
            bound: Callable[..., R] = getattr(self.open(), method.__name__)
            return bound(*args, **kwargs)

        return await asyncio.to_thread(work)

    functools.update_wrapper(call, method)
    return call


class AsyncMemory(Shared):
    """`Memory` for asyncio: same methods, same arguments, awaited.

    Ranking and the database run in worker threads, opening the store included. A call that is cancelled stops waiting;
    a write that had begun is still finished, whole.

    Args:
        memory: A :class:`~llmslim_memory.Memory` to share, or whatever ``Memory`` takes as its store.
        **options: Further arguments of ``Memory``, where ``memory`` is not one already.

    Example:
        >>> import asyncio
        >>> async def main():
        ...     async with AsyncMemory() as memory:
        ...         await memory.add({"role": "user", "content": "I moved to Pune."}, user_id="asha")
        ...         return await memory.search("Where do I live?", user_id="asha")
        >>> "Pune" in asyncio.run(main()).text
        True
    """

    def __init__(self, memory: Memory | MemoryStore | str | Path | None = None, **options: Any) -> None:
        if isinstance(memory, Memory) and options:
            raise InvalidTypeError(f"options go to Memory(...) itself when one is passed: {', '.join(sorted(options))}")
        self._given = memory
        self._options = options
        self._lock = threading.Lock()
        self._memory = memory if isinstance(memory, Memory) else None

    def open(self) -> Memory:
        """The `Memory` that does the work, opened at the first call; this may block, so call it off the event loop."""
        with self._lock:
            if self._memory is None:
                self._memory = Memory(self._given, **self._options)  # type: ignore[arg-type]
            return self._memory

    async def __aenter__(self) -> Self:
        await asyncio.to_thread(self.open)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the store, if it was opened here and not by a `Memory` that was passed in."""
        if self._memory is not None and self._memory is not self._given:
            await asyncio.to_thread(self._memory.close)

    add = _in_thread(Memory.add)
    restore = _in_thread(Memory.restore)
    apply = _in_thread(Memory.apply)
    update = _in_thread(Memory.update)
    delete = _in_thread(Memory.delete)
    delete_many = _in_thread(Memory.delete_many)
    delete_all = _in_thread(Memory.delete_all)
    prune = _in_thread(Memory.prune)
    get = _in_thread(Memory.get)
    get_all = _in_thread(Memory.get_all)
    scan = _in_thread(Memory.scan)
    scopes = _in_thread(Memory.scopes)
    search = _in_thread(Memory.search)
    rank = _in_thread(Memory.rank)
    version = _in_thread(Memory.version)

    item_id = staticmethod(Memory.item_id)
