"""What the four classes of Mem0 share: the memory beneath, opened and closed, and methods as coroutines in threads."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable, Coroutine
from types import TracebackType
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

from llmslim_memory.closing import Closing
from llmslim_memory.mem0.config import database
from llmslim_memory.mem0.engine import Engine
from llmslim_memory.memory import Memory as TurnMemory

P = ParamSpec("P")
R = TypeVar("R")


class Front(Closing):
    """A class of Mem0's over a memory of ours, opened here or passed in.

    Args:
        config: A configuration that says where turns live.
        db: A path or URL, or a memory of ours to share, instead of what the configuration says.
    """

    def __init__(self, config: Any, db: Any) -> None:
        self._shared = isinstance(db, TurnMemory)
        self._memory = db if isinstance(db, TurnMemory) else TurnMemory(database(config) if db is None else db)
        self._engine = Engine(self._memory)

    def close(self) -> None:
        """Close the database, unless it is a memory that was passed in."""
        if not self._shared:
            self._memory.close()


class AsyncFront:
    """The same for asyncio; what is not a coroutine is looked up in the class that does the work."""

    def __init__(self, inner: Front) -> None:
        self._inner = inner

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._inner, name)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the database, unless it is a memory that was passed in."""
        self._inner.close()


def in_thread(
    method: Callable[Concatenate[Any, P], R],
) -> Callable[Concatenate[AsyncFront, P], Coroutine[Any, Any, R]]:
    """A method of the class that does the work as a coroutine."""

    async def call(self: AsyncFront, /, *args: P.args, **kwargs: P.kwargs) -> R:
        return await asyncio.to_thread(method, self._inner, *args, **kwargs)

    functools.update_wrapper(call, method)
    return call
