"""A PostgreSQL or MongoDB store of every schema there ever was opens, holds what was put in, and takes more."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pymongo
import pytest
from bson import json_util
from servers.dumps import NAME, SUFFIXES
from servers.fixtures import DATABASE
from stores.samples import ASHA, check_stored, turn

from llmslim_memory.stores import mongodb_schema, postgres_schema
from llmslim_memory.stores.mongodb import MongoStore
from llmslim_memory.stores.postgres import PostgresStore

DATA = Path(__file__).parents[1] / "data"


def check(store: PostgresStore | MongoStore) -> None:
    seen = check_stored(store)
    store.add([turn("t7")])
    store.delete("t1")
    after = store.changes(ASHA, after=seen.cursor)
    assert ([head.id for head in after.heads], list(after.deleted)) == (["t7"], ["t1"])
    assert store.records("event") == []


def stored(folder: str) -> list[Path]:
    return sorted((DATA / folder).iterdir())


@pytest.mark.parametrize(
    ("folder", "schemas"), [("postgres", postgres_schema.MIGRATIONS), ("mongodb", mongodb_schema.MIGRATIONS)]
)
def test_every_schema_is_kept(folder: str, schemas: tuple[object, ...]) -> None:
    assert [path.stem for path in stored(folder)] == [f"schema-{number}" for number in range(1, len(schemas) + 1)]


class TestPostgres:
    @pytest.fixture
    def restore(self, postgres_url: str) -> Iterator[Callable[[str], None]]:
        with psycopg.connect(postgres_url, autocommit=True) as connection:
            yield lambda script: connection.execute(script.encode()) and None
            connection.execute(f"DROP TABLE {', '.join(NAME + suffix for suffix in SUFFIXES)} CASCADE")

    @pytest.mark.parametrize("dump", stored("postgres"), ids=lambda path: path.stem)
    def test_a_stored_dump_opens_and_goes_on(
        self, restore: Callable[[str], None], open_postgres: Callable[..., PostgresStore], dump: Path
    ) -> None:
        restore(dump.read_text(encoding="utf-8"))
        check(open_postgres(table=NAME))


class TestMongo:
    @pytest.fixture
    def restore(self, mongo_url: str) -> Iterator[Callable[[dict[str, Any]], None]]:
        with pymongo.MongoClient(mongo_url) as client:
            database = client[DATABASE]

            def fill(collections: dict[str, Any]) -> None:
                for name, content in collections.items():
                    database[name].insert_many(content["documents"])
                    for fields in content["indexes"]:
                        if fields != [["_id", 1]]:
                            database[name].create_index([tuple(field) for field in fields])

            yield fill
            for suffix in SUFFIXES:
                database.drop_collection(NAME + suffix)

    @pytest.mark.parametrize("dump", stored("mongodb"), ids=lambda path: path.stem)
    def test_a_stored_dump_opens_and_goes_on(
        self, restore: Callable[[dict[str, Any]], None], open_mongo: Callable[..., MongoStore], dump: Path
    ) -> None:
        restore(json_util.loads(dump.read_text(encoding="utf-8")))
        check(open_mongo(collection=NAME))
