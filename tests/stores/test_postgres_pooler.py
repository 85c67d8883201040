"""A PostgreSQL store behind a proxy that gives each transaction another server connection."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest
from servers.pooler import TransactionPooler
from stores.samples import ASHA, ids, turn

from llmslim_memory.errors import DuplicateIdError
from llmslim_memory.stores.postgres import PostgresStore
from llmslim_memory.types import Batch, Edit, Record


@pytest.fixture
def pooler(postgres_url: str) -> Iterator[TransactionPooler]:
    pooler = TransactionPooler(postgres_url)
    yield pooler
    pooler.close()


@pytest.fixture(params=[None, 30.0], ids=["no timeout", "statement timeout"])
def store(
    request: pytest.FixtureRequest, pooler: TransactionPooler, open_postgres: Callable[..., PostgresStore]
) -> PostgresStore:
    return open_postgres(conninfo=pooler.url, statement_timeout=request.param)


def test_session_state_does_get_lost_behind_the_proxy(pooler: TransactionPooler) -> None:
    with psycopg.connect(pooler.url, autocommit=True, prepare_threshold=None) as connection:
        connection.execute("SET application_name = 'mine'")
        assert connection.execute("SHOW application_name").fetchone() != ("mine",)


def test_everything_works_behind_the_proxy(store: PostgresStore) -> None:
    seen = store.changes(ASHA)
    for number in range(20):
        store.add([turn(f"{number}", number)])
    store.apply(Batch(add=[turn("more", 50)], edit=[Edit("3", "edited")], delete=["4"], put=[Record("note", "1", {})]))
    with pytest.raises(DuplicateIdError):
        store.apply(Batch(add=[turn("new"), turn("5")], put=[Record("note", "2", {})]))
    after = store.changes(ASHA, after=seen.cursor)
    assert len(after.heads) == len(store.list(ASHA)) == 20
    assert after.deleted == ["4"]
    assert [record.key for record in store.records("note")] == ["1"]
    assert store.delete_scope(ASHA) == 20


def test_threads_share_the_proxy(store: PostgresStore) -> None:
    def write(number: int) -> None:
        for place in range(10):
            store.apply(Batch(add=[turn(f"{number}-{place}")], put=[Record("note", f"{number}-{place}", {})]))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(write, range(8)))
    assert len(set(ids(store.list(ASHA)))) == len(store.records("note")) == 80
