"""The command that looks for what is wrong: the database, its schema, the tokenizer, the versions installed."""

from __future__ import annotations

import platform
import sqlite3
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import typer
from rich.text import Text

from llmslim_memory._version import __version__
from llmslim_memory.cli.options import DEFAULT_DB, DEFAULT_ENCODING, Db, Encoding, Json, is_url, opened, shown_db
from llmslim_memory.cli.output import amount, printable, show, show_json
from llmslim_memory.errors import LLMSlimError
from llmslim_memory.memory import Memory
from llmslim_memory.tokens import make_counter

PACKAGES = {
    "tiktoken": "",
    "numpy": "",
    "PyStemmer": "",
    "psycopg": "postgres",
    "pymongo": "mongodb",
    "fastapi": "server",
    "mcp": "mcp",
    "onnxruntime": "semantic",
    "langchain-llmslim": "langchain",
    "llama-index-memory-llmslim": "llama-index",
}


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing looked at: ``ok`` is false where something needs to be done, which ``detail`` says."""

    name: str
    ok: bool
    detail: str


def doctor(db: Db = DEFAULT_DB, encoding: Encoding = DEFAULT_ENCODING, as_json: Json = False) -> None:
    """Check the database, the tokenizer and what is installed; exit with 1 if something is wrong."""
    findings = [*_database(db), _tokenizer(encoding), *_versions()]
    if as_json:
        show_json([asdict(finding) for finding in findings])
    else:
        for finding in findings:
            mark = ("ok   ", "green") if finding.ok else ("WRONG", "bold red")
            show(Text.assemble(mark, f" {finding.name}: {printable(finding.detail)}"))
    raise typer.Exit(0 if all(finding.ok for finding in findings) else 1)


def _database(db: str) -> Iterator[Finding]:
    if not is_url(db) and not Path(db).expanduser().exists():
        yield Finding("database", True, f"there is none at {db} yet")
        return
    try:
        with opened(db) as memory:
            yield Finding("database", True, f"{shown_db(db)} opens, and its schema is of this release")
            yield from _contents(memory)
    except LLMSlimError as error:
        yield Finding("database", False, str(error))


def _contents(memory: Memory) -> Iterator[Finding]:
    check = getattr(memory.store, "check", None)
    if check is not None:
        damage = check()
        yield Finding("integrity", not damage, "; ".join(damage[:3]) or "every page and index is sound")
    scopes = memory.scopes()
    yield Finding("contents", True, amount(sum(scope.turns for scope in scopes), "turn"))


def _tokenizer(encoding: str) -> Finding:
    count = make_counter(encoding)
    if count.exact:
        return Finding("tokenizer", True, f"{count.name} counts exactly")
    remedy = f"put {encoding}.tiktoken into a folder that LLMSLIM_TIKTOKEN_DIR names, or allow one download"
    return Finding("tokenizer", False, f"tokens are estimated: {remedy}")


def _versions() -> Iterator[Finding]:
    python, sqlite = platform.python_version(), sqlite3.sqlite_version
    yield Finding("versions", True, f"llmslim-memory {__version__}, Python {python}, SQLite {sqlite}")
    installed, missing = [], []
    for package, extra in PACKAGES.items():
        try:
            installed.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            missing.append(f"{package} (extra {extra})" if extra else package)
    yield Finding("installed", True, ", ".join(installed))
    if missing:
        yield Finding("not installed", True, ", ".join(missing))
