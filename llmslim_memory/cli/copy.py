"""The command that moves a memory to another store."""

from __future__ import annotations

import sys
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from llmslim_memory.cli.options import Json, is_url, shown_db
from llmslim_memory.cli.output import amount, console, show, show_json
from llmslim_memory.copying import copy
from llmslim_memory.errors import InvalidValueError
from llmslim_memory.stores import open_store

Source = Annotated[
    str, typer.Argument(metavar="FROM", envvar="LLMSLIM_COPY_FROM", help="A SQLite file, or a database's URL.")
]
Target = Annotated[
    str, typer.Argument(metavar="TO", envvar="LLMSLIM_COPY_TO", help="Likewise, of a new memory or an earlier copy.")
]


def copy_memory(source: Source, target: Target, as_json: Json = False) -> None:
    """Copy a memory into another store; run it again to go on, or to catch up.

    A URL with a password is better passed in LLMSLIM_COPY_FROM or LLMSLIM_COPY_TO than as an argument, which other
    users of the machine can see.
    """
    if not is_url(source) and not Path(source).expanduser().exists():
        raise InvalidValueError(f"there is no memory at {source}")
    if _place(source) == _place(target):
        raise InvalidValueError(f"FROM and TO are both {shown_db(source)}: name another store as TO")
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with (
        closing(open_store(source)) as origin,
        closing(open_store(target)) as goal,
        Progress(*columns, console=console(sys.stderr), transient=True, disable=not sys.stderr.isatty()) as progress,
    ):
        task = progress.add_task("copying turns", total=None)
        report = copy(origin, goal, progress=lambda done, total: progress.update(task, completed=done, total=total))
    if as_json:
        show_json(asdict(report))
    else:
        show(
            f"{amount(report.added, 'turn')} copied, {report.edited:,} updated, {report.unchanged:,} there already, "
            f"{amount(report.records, 'record')} and {amount(report.deleted, 'deletion')} copied"
        )


def _place(name: str) -> str:
    return name if is_url(name) else str(Path(name).expanduser().resolve())
