"""Commands that add, list, show and delete turns."""

from __future__ import annotations

import json
import sys
from typing import Annotated, Any

import typer

from llmslim_memory.cli.options import DEFAULT_DB, DEFAULT_USER, Agent, Db, Json, Run, Since, Until, User, opened
from llmslim_memory.cli.output import amount, note, show, show_json, turn_line
from llmslim_memory.errors import InvalidValueError

UNKNOWN = 1
"""What deleting ends with where an id was unknown; all the others are deleted."""


def add(
    content: Annotated[str, typer.Argument(help="What was said; - reads it from stdin.")],
    role: Annotated[str, typer.Option(help="Who said it: user, assistant, system, tool ...")] = "user",
    at: Annotated[str | None, typer.Option(help="When it was said (ISO-8601); now, unless given.")] = None,
    item_id: Annotated[str | None, typer.Option("--id", help="The message's own id: it is stored only once.")] = None,
    on_conflict: Annotated[
        str, typer.Option(help="If that id is stored with other content: error, keep it, or update it.")
    ] = "error",
    metadata: Annotated[str | None, typer.Option(help="A JSON object of your own to keep with the turn.")] = None,
    user: User = DEFAULT_USER,
    agent: Annotated[str | None, typer.Option("--agent", "-a", help="The agent that it was said to.")] = None,
    run: Annotated[str | None, typer.Option("--run", "-r", help="The session it belongs to.")] = None,
    db: Db = DEFAULT_DB,
    as_json: Json = False,
) -> None:
    """Store one turn, word for word."""
    message: dict[str, Any] = {"role": role, "content": _read_stdin() if content == "-" else content}
    message |= {} if item_id is None else {"id": item_id}
    with opened(db, new=True) as memory:
        (item,) = memory.add(
            message,
            user_id=user,
            agent_id=agent,
            run_id=run,
            timestamp=at,
            metadata=_json_object(metadata),
            on_conflict=on_conflict,
        )
    if as_json:
        show_json(item.to_dict())
    else:
        show(turn_line(item))


def _read_stdin() -> str:
    """What stdin holds, without the line break that ends its last line."""
    return sys.stdin.read().removesuffix("\n")


def _json_object(text: str | None) -> dict[str, Any] | None:
    try:
        value = None if text is None else json.loads(text)
    except ValueError:
        value = text
    if value is not None and not isinstance(value, dict):
        raise InvalidValueError('--metadata is no JSON object: pass something like {"topic": "travel"}')
    return value


def list_turns(
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="At most so many, the newest.")] = 20,
    since: Since = None,
    until: Until = None,
    user: User = DEFAULT_USER,
    agent: Agent = None,
    run: Run = None,
    db: Db = DEFAULT_DB,
    as_json: Json = False,
) -> None:
    """Show the newest turns, oldest first."""
    with opened(db) as memory:
        items = memory.get_all(user_id=user, agent_id=agent, run_id=run, since=since, until=until)
    newest = items[-limit:]
    if as_json:
        show_json([item.to_dict() for item in newest])
        return
    for item in newest:
        show(turn_line(item))
    note(f"{len(newest):,} of {amount(len(items), 'turn')}")


def get(
    item_id: Annotated[str, typer.Argument(metavar="ID", help="The turn's id.")],
    db: Db = DEFAULT_DB,
    as_json: Json = False,
) -> None:
    """Show one turn in full."""
    with opened(db) as memory:
        item = memory.get(item_id)
    if item is None:
        raise InvalidValueError(f"there is no turn with the id {item_id!r}")
    if as_json:
        show_json(item.to_dict())
    else:
        show(item.content)


def delete(
    item_ids: Annotated[list[str] | None, typer.Argument(metavar="ID", help="Ids of turns.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="Every turn of the user, agent or session.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    user: User = DEFAULT_USER,
    agent: Agent = None,
    run: Run = None,
    db: Db = DEFAULT_DB,
    as_json: Json = False,
) -> int:
    """Delete turns by id, or a whole user, agent or session with --all; exit with 1 if an id is unknown."""
    if bool(item_ids) == everything:
        raise InvalidValueError("name the turns to delete by their ids, or pass --all")
    if everything and not yes:
        whose = ", ".join(f"{name} {value!r}" for name, value in _named(user, agent, run).items())
        _confirm(f"Delete every turn of {whose}?")
    named = list(dict.fromkeys(item_ids or ()))
    with opened(db) as memory:
        unknown = [item_id for item_id in named if not memory.delete(item_id)]
        whole = memory.delete_all(user_id=user, agent_id=agent, run_id=run) if everything else 0
    deleted = whole + len(named) - len(unknown)
    if as_json:
        show_json({"deleted": deleted, "unknown": unknown})
    else:
        show(f"{amount(deleted, 'turn')} deleted")
    for item_id in unknown:
        note(f"there is no turn with the id {item_id!r}")
    return UNKNOWN if unknown else 0


def _named(user: str, agent: str | None, run: str | None) -> dict[str, str]:
    ids = {"user": user, "agent": agent, "session": run}
    return {name: value for name, value in ids.items() if value is not None}


def _confirm(question: str) -> None:
    """Ask, and leave the command unless the answer is yes; nobody there to answer is a no."""
    try:
        is_sure = typer.confirm(question, err=True)
    except typer.Abort:
        note("")  # the question waits at the end of its line
        is_sure = False
    if not is_sure:
        note("nothing deleted: answer y, or pass --yes")
        raise typer.Abort
