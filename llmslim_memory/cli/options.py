"""The options that several commands share, and how a command opens the memory they name."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import Annotated

import typer

from llmslim_memory.errors import InvalidValueError
from llmslim_memory.history.turns import DEFAULT_USER as DEFAULT_USER
from llmslim_memory.memory import Memory
from llmslim_memory.tokens import DEFAULT_ENCODING as DEFAULT_ENCODING

DEFAULT_DB = "~/.llmslim/memory.db"

Db = Annotated[str, typer.Option("--db", envvar="LLMSLIM_MEMORY_DB", help="A SQLite file, or a database's URL.")]
User = Annotated[str, typer.Option("--user", "-u", help="Whose memory.")]
Agent = Annotated[str | None, typer.Option("--agent", "-a", help="Only this agent's turns.")]
Run = Annotated[str | None, typer.Option("--run", "-r", help="Only this session's turns.")]
Since = Annotated[str | None, typer.Option("--since", help="Said at or after this time (ISO-8601).")]
Until = Annotated[str | None, typer.Option("--until", help="Said before this time (ISO-8601).")]
Encoding = Annotated[str, typer.Option("--encoding", help="Whose tokens count: a tiktoken encoding or a model.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@contextmanager
def opened(db: str, *, new: bool = False, encoding: str = DEFAULT_ENCODING, workers: int = 0) -> Iterator[Memory]:
    """The memory that ``--db`` names, closed at the end; a file that is not there is made only if ``new``."""
    if not new and not is_url(db) and db != ":memory:" and not Path(db).expanduser().exists():
        raise InvalidValueError(f"there is no memory at {db} yet: add a turn, import a file, or pass another --db")
    with Memory(db, encoding=encoding, workers=workers) as memory:
        yield memory


def check_store(memory: Memory) -> None:
    """Read once, so that a database that is away is told before anything is served."""
    memory.get("is-the-store-there")


def load_vocabulary(memory: Memory) -> None:
    """Count once, so that the time a search reports is its own."""
    memory.counter("warm")


def load_vocabulary_meanwhile(memory: Memory) -> None:
    """Count once beside what comes next, so that a server's first answer does not wait for the vocabulary."""
    Thread(target=load_vocabulary, args=(memory,), name="vocabulary", daemon=True).start()


def is_url(db: str) -> bool:
    """Whether ``--db`` is a URL, which may hold a password and is never shown."""
    return "://" in db


def shown_db(db: str) -> str:
    """``--db`` as it may be printed: a path, or only the kind of a URL."""
    return f"{db.split('://', 1)[0]}://..." if is_url(db) else db
