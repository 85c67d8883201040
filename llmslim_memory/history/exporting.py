"""Takes what a memory holds out of it, in our own format."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

from llmslim_memory.errors import InvalidValueError
from llmslim_memory.history.files import new_file, write_turns
from llmslim_memory.history.target import Target, as_path, is_missing, opened
from llmslim_memory.memory import Memory
from llmslim_memory.types import MemoryItem

EXPORT_PAGE = 100


def export_history(
    memory: Target,
    target: str | os.PathLike[str],
    *,
    user_id: str | None = None,
    agent_id: str | None = None,
    run_id: str | None = None,
    overwrite: bool = False,
    on_progress: Callable[[int], None] | None = None,
) -> int:
    """Write every turn, with all its fields, to a JSONL file that :func:`import_history` restores exactly.

    The file is for its owner alone, appears only when it is complete, and is compressed where its name ends in ``.gz``.

    Args:
        memory: What to export: a memory, a store, a SQLite path or a database URL.
        target: The file to write.
        user_id: Only this user's turns; as for the other two, all of them unless given.
        agent_id: Only this agent's turns.
        run_id: Only this session's turns.
        overwrite: Replace the file if there is one.
        on_progress: Called with the number of turns written so far.

    Returns:
        How many turns were written.

    Raises:
        ValueError: There is such a file already, or it cannot be written.
        UnsupportedError: The store cannot walk over all it holds.
    """
    if isinstance(memory, str | Path) and is_missing(memory):
        raise InvalidValueError(f"there is no memory at {str(memory)!r}")
    with opened(memory) as source, new_file(as_path("target", target), overwrite=overwrite) as file:
        return write_turns(file, _turns(source, user_id=user_id, agent_id=agent_id, run_id=run_id), on_progress)


def _turns(memory: Memory | None, **scope: str | None) -> Iterator[MemoryItem]:
    after: str | None = None
    while memory is not None:
        page = memory.scan(**scope, after=after, limit=EXPORT_PAGE)
        yield from page.items
        after = page.next
        if after is None:
            return
