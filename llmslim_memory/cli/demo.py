"""The command that shows the library at work on an example history."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.resources import files
from itertools import groupby
from typing import Annotated, Any

import typer
from rich.rule import Rule
from rich.text import Text

from llmslim_memory import vocabulary
from llmslim_memory.cli.options import DEFAULT_ENCODING, Encoding, Json, load_vocabulary
from llmslim_memory.cli.output import amount, console, recalled_text, show, show_json
from llmslim_memory.memory import Memory
from llmslim_memory.types import MemoryContext

USER = "mira"
QUESTIONS = (
    "Where do I live now?",
    "What is my budget for hosting?",
    "What fixed the database is locked error?",
    "When does my flight to Berlin leave?",
    "Can you suggest a dinner for Tomás and me?",
    "Have I ever used Docker?",
)


def demo(
    questions: Annotated[list[str] | None, typer.Argument(help="Ask this instead of the questions prepared.")] = None,
    budget: Annotated[int, typer.Option("--budget", "-b", min=1, help="The most tokens to show.")] = 300,
    encoding: Encoding = DEFAULT_ENCODING,
    as_json: Json = False,
) -> None:
    """Ask an example history of ten months what it knows, and see what each answer saves."""
    with _without_notice_of_estimates(), _example(encoding) as memory:
        load_vocabulary(memory)
        contexts = [memory.search(question, user_id=USER, budget=budget) for question in questions or QUESTIONS]
    if as_json:
        show_json([context.to_dict() for context in contexts])
        return
    _introduce(contexts[0])
    for context in contexts:
        _show(context)
    _sum_up(contexts)


def _introduce(context: MemoryContext) -> None:
    turns = example_turns()
    sessions = len({turn["session_id"] for turn in turns})
    estimated = " (estimated at 4 characters each)" if context.counter == "estimate" else ""
    show(
        f"{len(turns)} turns in {sessions} sessions, {context.history_tokens:,} tokens{estimated}: a developer builds "
        "an app, moves house and changes her mind.\n"
        f"To remember it, a model would read all of it with every question. Here it gets {context.budget} at most:"
    )


def _sum_up(contexts: Sequence[MemoryContext]) -> None:
    used = sum(context.tokens for context in contexts)
    whole = sum(context.history_tokens for context in contexts)
    line = f"{amount(len(contexts), 'question')}: {used:,} tokens instead of {whole:,}, {1 - used / whole:.0%} saved."
    console().print()
    show(Text(line, style="bold"))
    show("Ask your own: put it behind the command, like 'What was the invoice number?'")


def _show(context: MemoryContext) -> None:
    out = console()
    out.print()
    out.print(Rule(Text(context.query, style="bold"), align="left", style="dim"))
    show(recalled_text(context.text) if context.found else Text("(nothing in the history bears on it)", style="dim"))
    saved = 1 - context.tokens / context.history_tokens
    figures = f"{context.tokens} of {context.history_tokens:,} tokens, {saved:.0%} saved, {context.elapsed_ms:.0f} ms"
    show(Text(figures, style="dim"))


@contextmanager
def _without_notice_of_estimates() -> Iterator[None]:
    # The introduction says so itself, and exact counts matter little to a demonstration.
    log = logging.getLogger(vocabulary.__name__)
    log.addFilter(_nothing)
    try:
        yield
    finally:
        log.removeFilter(_nothing)


def _nothing(_record: logging.LogRecord) -> bool:
    return False


@contextmanager
def _example(encoding: str) -> Iterator[Memory]:
    with Memory(encoding=encoding) as memory:
        for session, turns in groupby(example_turns(), key=lambda turn: turn["session_id"]):
            memory.add(list(turns), user_id=USER, run_id=session)
        yield memory


def example_turns() -> list[dict[str, Any]]:
    """The example history: messages with role, content, timestamp and session_id, oldest first."""
    text = files("llmslim_memory.cli").joinpath("demo.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]
