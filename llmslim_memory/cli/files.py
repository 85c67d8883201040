"""The commands that bring chat history in from files, and write it out to one."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated

import typer
from rich.progress import BarColumn, DownloadColumn, Progress, TimeRemainingColumn, TransferSpeedColumn
from rich.table import Table
from rich.text import Text

from llmslim_memory.cli.options import DEFAULT_DB, DEFAULT_USER, Agent, Db, Json, Run, Since, Until, opened
from llmslim_memory.cli.output import amount, console, note, printable, show, show_json
from llmslim_memory.history import export_history, import_history
from llmslim_memory.importers.report import ImportReport

INCOMPLETE = 1
SHOWN_SESSIONS = 20
SHOWN_FILES = 3


def import_file(
    # Text, for as a path nothing at all would be the folder one is in.
    source: Annotated[str, typer.Argument(help="A file, folder or zip archive, as downloaded.")],
    file_format: Annotated[
        str, typer.Option("--format", help="claude-code, chatgpt, claude-ai, mem0, jsonl, llmslim-memory or auto.")
    ] = "auto",
    user: Annotated[
        str | None,
        typer.Option("--user", "-u", help=f"Store all under this user [else the record's, or {DEFAULT_USER}]."),
    ] = None,
    agent: Annotated[str | None, typer.Option("--agent", "-a", help="Store all under this agent.")] = None,
    since: Since = None,
    until: Until = None,
    limit: Annotated[int | None, typer.Option("--limit", "-n", min=1, help="Stop after so many new turns.")] = None,
    include_tool_output: Annotated[
        bool, typer.Option("--include-tool-output", help="Also what tools were told and answered.")
    ] = False,
    include_deleted: Annotated[
        bool, typer.Option("--include-deleted", help="Also what was deleted from this memory.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Count everything, store nothing.")] = False,
    strict: Annotated[bool, typer.Option("--strict", help="Stop at the first record that cannot be used.")] = False,
    helpers: Annotated[
        int | None, typer.Option("--helpers", min=0, help="Processes that share the work [1 for large sources].")
    ] = None,
    no_redact: Annotated[bool, typer.Option("--no-redact", help="Keep credentials as they are.")] = False,
    db: Db = DEFAULT_DB,
    as_json: Json = False,
) -> int:
    """Import chats from Claude Code, ChatGPT, Claude.ai, Mem0 or JSONL; importing again adds only what is new."""
    with _bytes_read() as on_progress:
        report = import_history(
            source,
            db,
            format=file_format,
            user_id=user,
            agent_id=agent,
            since=since,
            until=until,
            limit=limit,
            include_tool_output=include_tool_output,
            include_deleted=include_deleted,
            dry_run=dry_run,
            strict=strict,
            redact=not no_redact,
            on_progress=on_progress,
            helpers=helpers,
        )
    _tell(report, as_json)
    return 0 if report.ok else INCOMPLETE


@contextmanager
def _bytes_read() -> Iterator[Callable[[int, int], None]]:
    columns = (BarColumn(), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console(sys.stderr), transient=True, disable=not sys.stderr.isatty()) as progress:
        task = progress.add_task("importing", total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)


def _tell(report: ImportReport, as_json: bool) -> None:
    if as_json:
        show_json(report.to_dict())
    else:
        _show(report)
    if report.passed_over:
        note(_passed_over(report))
    for error in report.errors:
        note(f"not read to its end: {error}")


def _show(report: ImportReport) -> None:
    if report.sessions:
        console().print(_sessions(report))
    if left := {**report.skipped, **({"malformed": report.malformed} if report.malformed else {})}:
        console().print(_reasons(report, left))
    if report.redactions:
        kinds = ", ".join(f"{kind} {count:,}" for kind, count in report.redactions.items())
        show(f"Credentials replaced: {kinds}")
    verb = "would be imported" if report.dry_run else "imported"
    ending = " (stopped at --limit)" if report.limited else ""
    show(f"{amount(report.imported, 'turn')} {verb}, {report.duplicates:,} there already{ending}")


def _passed_over(report: ImportReport) -> str:
    """Which files hold no chat history; all of them stand in what --json prints."""
    shown = report.passed_over[:SHOWN_FILES]
    more = report.passed_over_total - len(shown)
    files = amount(report.passed_over_total, "file")
    return f"passed over, no chat history: {files} ({', '.join(shown)}{f' and {more:,} more' if more else ''})"


def _sessions(report: ImportReport) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column("session", overflow="ellipsis", no_wrap=True)
    for heading in ("new", "there already", "left out"):
        table.add_column(heading, justify="right", overflow="ellipsis", no_wrap=True)
    shown = report.sessions[:SHOWN_SESSIONS]
    for session in shown:
        name = Text(printable(" ".join((session.title or session.run_id or "(no session)").split()))[:60])
        table.add_row(name, f"{session.imported:,}", f"{session.duplicates:,}", f"{session.skipped:,}")
    if report.sessions_total > len(shown):
        table.add_row(f"and {report.sessions_total - len(shown):,} more", "", "", "")
    return table


def _reasons(report: ImportReport, left: dict[str, int]) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column("left out because")
    table.add_column("records", justify="right")
    table.add_column("parts of turns", justify="right")
    for reason in sorted({*left, *report.parts_skipped}):
        table.add_row(reason, f"{left.get(reason, 0):,}", f"{report.parts_skipped.get(reason, 0):,}")
    return table


def export_file(
    target: Annotated[str, typer.Argument(help="The new file; compressed where its name ends in .gz.")],
    user: Annotated[str | None, typer.Option("--user", "-u", help="Only this user's turns.")] = None,
    agent: Agent = None,
    run: Run = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the file if it is there.")] = False,
    db: Db = DEFAULT_DB,
    as_json: Json = False,
) -> None:
    """Write every turn with all its fields to a JSONL file, which import restores exactly."""
    with opened(db) as memory:
        count = export_history(memory, target, user_id=user, agent_id=agent, run_id=run, overwrite=overwrite)
    if as_json:
        show_json({"path": target, "turns": count})
    else:
        show(f"{target}: {amount(count, 'turn')}")
