"""The command that says what the memory holds."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from llmslim_memory.cli.options import DEFAULT_DB, Db, Json, is_url, opened, shown_db
from llmslim_memory.cli.output import amount, printable, show, show_json
from llmslim_memory.types import ScopeSummary


def stats(db: Db = DEFAULT_DB, as_json: Json = False) -> None:
    """Count users, sessions and turns."""
    with opened(db) as memory:
        figures = _figures(db, memory.scopes())
    if as_json:
        show_json(figures)
        return
    size = "" if figures["bytes"] is None else f", {figures['bytes'] / 1e6:,.1f} MB"
    show(f"{shown_db(db)}: {amount(figures['turns'], 'turn')} in {amount(figures['sessions'], 'session')}{size}")
    for user in figures["users"]:
        span = f"{user['first'][:10]} to {user['last'][:10]}"
        name = "(no user)" if user["user_id"] is None else printable(user["user_id"])
        show(f"  {name}: {amount(user['turns'], 'turn')}, {amount(user['sessions'], 'session')}, {span}")


def _figures(db: str, scopes: Sequence[ScopeSummary]) -> dict[str, Any]:
    users = sorted({scope.user_id for scope in scopes}, key=lambda user: (user is not None, user))
    return {
        "turns": sum(scope.turns for scope in scopes),
        "sessions": len({(scope.user_id, scope.run_id) for scope in scopes}),
        "bytes": None if is_url(db) or db == ":memory:" else Path(db).expanduser().stat().st_size,
        "users": [_user_figures(user, [scope for scope in scopes if scope.user_id == user]) for user in users],
    }


def _user_figures(user_id: str | None, scopes: Sequence[ScopeSummary]) -> dict[str, Any]:
    return {
        "user_id": user_id,
        "turns": sum(scope.turns for scope in scopes),
        "sessions": len({scope.run_id for scope in scopes}),
        "first": min(scope.first for scope in scopes).isoformat(),
        "last": max(scope.last for scope in scopes).isoformat(),
    }
