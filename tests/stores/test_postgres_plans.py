"""No question about one user, session, turn or change reads a whole table."""

from __future__ import annotations

from collections.abc import Callable

import psycopg
from servers import postgres_plans as plans

from llmslim_memory.stores.postgres import PostgresStore
from llmslim_memory.stores.postgres_schema import Tables

ROWS = 30_000


def test_no_question_reads_a_whole_table(
    open_postgres: Callable[..., PostgresStore], postgres_url: str, table: str
) -> None:
    open_postgres()
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        plans.fill(connection, Tables(table), ROWS)
        found = plans.explain(connection, Tables(table), ROWS)
    assert len(found) == 17
    assert {name: plan for name, plan in found.items() if "Seq Scan" in plan} == {}
    assert f"{table}_user " in found["a user's turns of one day"]
    assert f"{table}_user_changed" in found["what changed for a user"]
