"""How PostgreSQL finds the answers to a store's questions in a large table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import psycopg

from llmslim_memory.stores import postgres_statements as statements
from llmslim_memory.stores.postgres_rows import where_values as rows_of
from llmslim_memory.stores.postgres_schema import Tables
from llmslim_memory.types import Scope, Where

USERS = 1_000
FILL = (
    """INSERT INTO {turns} (id, role, content, created_at, user_id, agent_id, run_id, metadata, changed)
       SELECT 'turn' || n, 'user', repeat('A sentence of forty characters, or so. ', 6),
              TIMESTAMPTZ '2026-01-01' + n * INTERVAL '1 minute', 'user' || mod(n, 1000), 'agent' || mod(n, 7),
              'run' || n / 20, '{{}}', (1 + n / 500)::text::xid8
         FROM generate_series(1, %(rows)s) AS n""",
    """INSERT INTO {deleted} (id, changed)
       SELECT 'gone' || n, (1 + n / 50)::text::xid8 FROM generate_series(1, %(rows)s / 10) n""",
    """INSERT INTO {records} (kind, key, value, grp, item_id, user_id)
       SELECT 'note', 'key' || n, '{{}}', 'group' || mod(n, 500), 'turn' || n, 'user' || mod(n, 1000)
         FROM generate_series(1, %(rows)s) n""",
    "ANALYZE {turns}",
    "ANALYZE {deleted}",
    "ANALYZE {records}",
)


def fill(connection: psycopg.Connection[Any], tables: Tables, rows: int) -> None:
    """Put ``rows`` turns of 1,000 users into the tables, as many records, a tenth as many traces of deleted turns."""
    for statement in FILL:
        connection.execute(tables.fill(statement), {"rows": rows} if "rows" in statement else None)


def questions(rows: int) -> Sequence[tuple[str, str, Scope | None, Mapping[str, object] | Sequence[object]]]:
    """Each question's name, statement, scope and parameters."""
    ids = [f"turn{number}" for number in range(1, 400, 20)]
    window = {"since": datetime(2026, 1, 3, tzinfo=UTC), "until": datetime(2026, 1, 4, tzinfo=UTC)}
    category = {"category": frozenset({"work"})}
    whole: dict[str, object] = {"since": None, "until": None}
    latest = {"after": str(rows // 500 - 1), "version": 1, "encoding": "o200k_base"}
    everyone = {"kind": "note", "keys": None, "group": None}
    user, session = Scope(user_id="user7"), Scope(user_id="user7", run_id="run9")
    return (
        ("all turns of a user", statements.LIST, user, whole),
        ("a user's turns of one day", statements.LIST, user, window),
        ("one session of a user", statements.LIST, session, whole),
        ("a category of a user", statements.FIND, None, rows_of(Where(frozenset({"user7"}), metadata=category))),
        ("a day of two users", statements.FIND, None, rows_of(Where(frozenset({"user7", "user8"}), **window))),
        ("two sessions", statements.FIND, None, rows_of(Where(run_ids=frozenset({"run7", "run8"})))),
        ("what changed for a user", statements.HEADS_SINCE, user, latest),
        ("what was deleted since", statements.CURSOR, None, [str(rows // 500)]),
        ("a turn by its id", statements.GET, None, ["turn17"]),
        ("twenty turns by their ids", statements.GET_MANY, None, [ids]),
        ("the next page of everything", statements.SCAN, None, {"after": rows // 2, "limit": 500}),
        ("the next page of a user", statements.SCAN, user, {"after": rows // 2, "limit": 100}),
        ("records of a group", statements.RECORDS, None, {**everyone, "group": "group7"}),
        ("records by their keys", statements.RECORDS, None, {**everyone, "keys": ["key1", "key2"]}),
        ("which ids were deleted", statements.TOMBSTONES, None, {"ids": ["gone5", "turn5"]}),
        ("deleting a turn", statements.DELETE, None, [["turn17"]]),
        ("deleting a user", statements.DELETE_SCOPE, user, {}),
    )


def explain(connection: psycopg.Connection[Any], tables: Tables, rows: int, options: str = "") -> dict[str, str]:
    """The plan for each question, by name; nothing is changed."""
    plans = {}
    for name, statement, scope, values in questions(rows):
        text = tables.fill(statement.replace("{scope}", statements.within(scope)))  # type: ignore[arg-type]
        parameters = {**statements.ids_of(scope), **values} if isinstance(values, Mapping) else values
        with connection.transaction(force_rollback=True):
            found = connection.execute(f"EXPLAIN {options}".encode() + text, parameters)
            plans[name] = "\n".join(line for (line,) in found)
    return plans
