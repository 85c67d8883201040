"""Write the small PostgreSQL and MongoDB stores that later releases must still open: one for each schema, for ever.

Run it once when a schema is new, before its release: ``python scripts/make_stored_servers.py``. It starts the test
suite's own servers.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
sys.path.insert(0, str(Path(__file__).parent))

import psycopg
import pymongo
from bson import json_util
from make_stored_sqlite import fill
from servers import dumps
from servers.mongodb import MongoServer
from servers.postgres import PostgresServer

from llmslim_memory.stores import mongodb_schema, postgres_schema
from llmslim_memory.stores.mongodb import MongoStore
from llmslim_memory.stores.postgres import PostgresStore

DATA = Path(__file__).parent.parent / "tests" / "data"


def dump_postgres() -> str:
    """The statements that make a filled store."""
    server = PostgresServer()
    server.start()
    try:
        with PostgresStore(server.url, table=dumps.NAME) as store:
            fill(store)
        with psycopg.connect(server.url, autocommit=True) as connection:
            return dumps.postgres_statements(connection)
    finally:
        server.remove()


def dump_mongodb() -> str:
    """The documents of a filled store, as extended JSON."""
    server = MongoServer()
    server.start()
    try:
        with pymongo.MongoClient(server.url) as client:
            with MongoStore(client, collection=dumps.NAME) as store:
                fill(store)
            return json_util.dumps(dumps.mongodb_documents(client["llmslim"]), indent=1, ensure_ascii=True)
    finally:
        server.remove()


def write(folder: str, name: str, dump: Callable[[], str]) -> None:
    """Write a dump, unless it is there."""
    path = DATA / folder / name
    if path.exists():
        print(f"{path} exists already: a stored schema is never written again", file=sys.stderr)
        return
    path.parent.mkdir(exist_ok=True)
    path.write_text(dump() + "\n", encoding="utf-8")


def main() -> None:
    """Write what the newest schemas store."""
    schemas: dict[str, Any] = {"postgres": postgres_schema.MIGRATIONS, "mongodb": mongodb_schema.MIGRATIONS}
    write("postgres", f"schema-{len(schemas['postgres'])}.sql", dump_postgres)
    write("mongodb", f"schema-{len(schemas['mongodb'])}.json", dump_mongodb)


if __name__ == "__main__":
    main()
