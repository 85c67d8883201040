"""The command that asks the memory a question."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import typer

from llmslim_memory.cli.options import (
    DEFAULT_DB,
    DEFAULT_ENCODING,
    DEFAULT_USER,
    Agent,
    Db,
    Encoding,
    Json,
    Run,
    Since,
    Until,
    User,
    load_vocabulary,
    opened,
)
from llmslim_memory.cli.output import amount, note, printable, recalled_text, show, show_json, show_table, table_width
from llmslim_memory.drawing import draw_table
from llmslim_memory.envelope import ContextEnvelope
from llmslim_memory.explain import SearchExplanation
from llmslim_memory.types import MemoryContext


def search(
    query: Annotated[str, typer.Argument(help="The question.")],
    budget: Annotated[int, typer.Option("--budget", "-b", min=1, help="The most tokens to show.")] = 2000,
    relevance: Annotated[str, typer.Option(help="lexical, semantic, or a model's name.")] = "lexical",
    since: Since = None,
    until: Until = None,
    explain: Annotated[bool, typer.Option("--explain", help="Say why each turn was kept, cut or dropped.")] = False,
    envelope: Annotated[bool, typer.Option("--envelope", help="Print it as a model should get it.")] = False,
    encoding: Encoding = DEFAULT_ENCODING,
    user: User = DEFAULT_USER,
    agent: Agent = None,
    run: Run = None,
    db: Db = DEFAULT_DB,
    as_json: Json = False,
) -> None:
    """Show the part of the history that answers a question."""
    with opened(db, encoding=encoding) as memory:
        load_vocabulary(memory)
        wrapped = envelope and not as_json
        room = ContextEnvelope.room(budget, count=memory.counter, user_id=user) if wrapped else budget
        context = memory.search(
            query,
            user_id=user,
            agent_id=agent,
            run_id=run,
            budget=room,
            relevance=relevance,
            since=since,
            until=until,
            explain=explain,
        )
    if as_json:
        show_json(context.to_dict())
        return
    if envelope:
        show(ContextEnvelope(context, budget=budget, count=memory.counter, user_id=user).to_text())
    elif context.text:
        show(recalled_text(context.text))
    if context.explanation is not None:
        show_table(draw_table(_printable(context.explanation), width=table_width()))
    note(summary(context))


def _printable(explanation: SearchExplanation) -> SearchExplanation:
    turns = tuple(replace(turn, id=printable(turn.id)) for turn in explanation.turns)
    return replace(explanation, turns=turns)


def summary(context: MemoryContext) -> str:
    """What was found and what it cost, in a line."""
    if not context.found:
        return f"nothing in {context.history_tokens:,} tokens of history bears on the question"
    estimated = " (estimated, 4 characters each)" if context.counter == "estimate" else ""
    turns, sessions = amount(len(context.turns), "turn"), amount(context.sessions_total, "session")
    if context.mode == "whole_history":
        return (
            f"{context.tokens:,} tokens{estimated}, the whole history: {turns}, {sessions}, {context.elapsed_ms:.0f} ms"
        )
    return (
        f"{context.tokens:,} tokens{estimated} of a history of {context.history_tokens:,}: {turns}, "
        f"{context.sessions_kept} of {sessions}, {context.elapsed_ms:.0f} ms"
    )
