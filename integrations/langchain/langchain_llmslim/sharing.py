"""One memory behind every class of this package, opened at its first use."""

from __future__ import annotations

from llmslim_memory import AsyncMemory, InvalidTypeError, Memory


def share(memory: Memory | AsyncMemory) -> AsyncMemory:
    """``memory`` as the ``AsyncMemory`` whose ``open()`` gives it to the thread that works with it.

    Synchronous methods call it where they are; asynchronous ones do all their work in a thread, converting messages
    and counting tokens included, so that the event loop never waits.

    Raises:
        TypeError: ``memory`` is neither a ``Memory`` nor an ``AsyncMemory``.
    """
    if isinstance(memory, AsyncMemory):
        return memory
    if not isinstance(memory, Memory):
        raise InvalidTypeError(
            f"memory must be a Memory or an AsyncMemory, not {type(memory).__name__}: pass Memory(...)"
        )
    return AsyncMemory(memory)
