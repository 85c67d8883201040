"""Prints how PostgreSQL finds the answers to a store's questions in a table of 1,000,000 turns.

``python benchmarks/postgres_plans.py [--rows N] [--url URL]``; without a URL it starts a server of its own.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

import psycopg
from servers import postgres_plans as plans
from servers.postgres import PostgresServer

from llmslim_memory.stores.postgres import PostgresStore
from llmslim_memory.stores.postgres_schema import Tables

TABLE = "plans"


def show(url: str, rows: int) -> None:
    """Fill a table, print each plan as it was carried out, and drop the table."""
    PostgresStore(url, table=TABLE).close()
    with psycopg.connect(url, autocommit=True) as connection:
        start = time.perf_counter()
        plans.fill(connection, Tables(TABLE), rows)
        connection.execute(f"VACUUM ANALYZE {TABLE}")
        sizes = f"SELECT pg_size_pretty(pg_table_size('{TABLE}')), pg_size_pretty(pg_indexes_size('{TABLE}'))"
        print(f"{rows:,} turns, filled in {time.perf_counter() - start:.0f} s; table, indexes:", end=" ")
        print(*connection.execute(sizes).fetchone() or ())
        options = "(ANALYZE, COSTS OFF, BUFFERS OFF, TIMING OFF, SUMMARY ON) "
        for name, plan in plans.explain(connection, Tables(TABLE), rows, options).items():
            print(f"\n-- {name}\n{plan}")
        for suffix in ("", "_meta", "_deleted", "_records"):
            connection.execute(f"DROP TABLE {TABLE}{suffix} CASCADE")


def main() -> None:
    """Read the arguments and run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--url")
    arguments = parser.parse_args()
    if arguments.url:
        show(arguments.url, arguments.rows)
        return
    server = PostgresServer(durable=True)
    server.start()
    try:
        show(server.url, arguments.rows)
    finally:
        server.remove()


if __name__ == "__main__":
    main()
