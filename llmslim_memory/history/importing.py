"""Brings chat history into a memory from other tools."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from llmslim_memory.errors import InvalidTypeError, InvalidValueError
from llmslim_memory.history.tally import Tally
from llmslim_memory.history.target import Target, as_path, opened
from llmslim_memory.history.turns import Rules
from llmslim_memory.history.work import Progress, Work
from llmslim_memory.importers.detect import FORMATS
from llmslim_memory.importers.limits import ImportLimits
from llmslim_memory.importers.reader import open_source
from llmslim_memory.importers.report import ImportedSession, ImportReport
from llmslim_memory.options import check_choice, check_count, check_flag
from llmslim_memory.times import parse_time
from llmslim_memory.types import check_id

MOST_HELPERS = 64
"""Most processes that an import may be given."""


def import_history(
    source: str | os.PathLike[str],
    memory: Target | None,
    *,
    format: str = "auto",  # noqa: A002
    user_id: str | None = None,
    agent_id: str | None = None,
    since: Any = None,
    until: Any = None,
    limit: int | None = None,
    include_tool_output: bool = False,
    dry_run: bool = False,
    strict: bool = False,
    redact: bool = True,
    limits: ImportLimits | None = None,
    on_session: Callable[[ImportedSession], None] | None = None,
    include_deleted: bool = False,
    on_progress: Progress | None = None,
    helpers: int | None = None,
) -> ImportReport:
    """Import what was said elsewhere, word for word: Claude Code, ChatGPT, Claude.ai, Mem0, JSONL, our own export.

    Each conversation becomes a session (``run_id``) and each message a turn with its own time. What the user and the
    assistant said is imported; thinking never is. Importing the same history again, or a longer export of it, adds
    only what is new, also after an import that was interrupted. ``docs/IMPORT.md`` says what each format gives.

    Args:
        source: A file, a folder or a zip archive, as downloaded.
        memory: Where the turns go: a memory, a store, a SQLite path or a database URL; ``None`` only in a dry run.
        format: ``"claude-code"``, ``"chatgpt"``, ``"claude-ai"``, ``"mem0"``, ``"jsonl"``, ``"llmslim-memory"``, or
            ``"auto"``, which tells by what the files hold.
        user_id: Whose turns these are; unless given, the user that a record names, else ``"default"``.
        agent_id: The agent; unless given, the one that a record names, if any.
        since: Only turns said at or after this time (a datetime, epoch seconds or ISO-8601 text).
        until: Only turns said before this time.
        limit: Stop after so many new turns.
        include_tool_output: Import what tools were told and answered too, as turns of the role ``tool``.
        dry_run: Count everything and store nothing; a database file that is missing stays missing.
        strict: Stop at the first record that is malformed or over a limit, instead of counting it.
        redact: Replace credentials by ``[REDACTED:<kind>]`` before anything is stored; best-effort.
        limits: How much is read of an untrusted file.
        on_session: Called with each session when it is done.
        include_deleted: Import again what was deleted from this memory.
        on_progress: Called with the bytes read and the bytes there are.
        helpers: Processes that share the analysis of what is stored. Unless given, one for sources from 8 MiB on,
            where there is a second core; 0 for none.

    Returns:
        The counts: every turn and record seen was imported, a duplicate, skipped for a reason, or malformed.

    Raises:
        HistoryImportError: The source cannot be read, holds no known format, or is over a limit; with ``strict``, a
            record is malformed or a file damaged. What was stored before stays.
        ValueError: ``format``, ``since``, ``until`` or ``limit`` cannot be used.
        StoreError: The database failed; batches stored before stay.
    """
    path = as_path("source", source)
    _check_functions(on_session=on_session, on_progress=on_progress)
    rules = Rules(
        user_id=None if user_id is None else check_id("user_id", user_id),
        agent_id=None if agent_id is None else check_id("agent_id", agent_id),
        since=None if since is None else parse_time(since, "since"),
        until=None if until is None else parse_time(until, "until"),
        redact=check_flag("redact", redact),
        limits=_checked(limits),
        now=datetime.now(UTC),
    )
    work = Work(
        rules,
        Tally(on_session),
        limit=None if limit is None else check_count("limit", limit),
        tools=check_flag("include_tool_output", include_tool_output),
        dry_run=check_flag("dry_run", dry_run),
        strict=check_flag("strict", strict),
        include_deleted=check_flag("include_deleted", include_deleted),
        helpers=_helpers(helpers),
    )
    check_choice("format", format, ("auto", *FORMATS))
    with open_source(path, format, rules.limits) as found, opened(memory, dry_run=dry_run) as target:
        work.run(found.readings, found.problems, target, on_progress)
    formats = {reading.format for reading in found.readings}
    return work.tally.report(
        format=formats.pop() if len(formats) == 1 else "mixed",
        source=str(source),
        dry_run=dry_run,
        files=len(found.readings),
        limited=work.is_full,
        passed_over=found.passed_over,
    )


def _check_functions(**given: object) -> None:
    for name, told in given.items():
        if told is not None and not callable(told):
            raise InvalidTypeError(f"{name} must be a function, not {type(told).__name__}")


def _checked(limits: ImportLimits | None) -> ImportLimits:
    if limits is None:
        return ImportLimits()
    if not isinstance(limits, ImportLimits):
        raise InvalidTypeError(f"limits must be ImportLimits, not {type(limits).__name__}")
    return limits


def _helpers(value: int | None) -> int | None:
    if value is None or (type(value) is int and value == 0):
        return value
    if check_count("helpers", value) > MOST_HELPERS:
        raise InvalidValueError(f"helpers is {value}: at most {MOST_HELPERS} processes are started")
    return value
