"""Workers open a database server by its URL, and give the text that a search here gives."""

from __future__ import annotations

from collections.abc import Iterator
from uuid import uuid4

import pymongo
import pytest

from llmslim_memory import Memory


@pytest.fixture
def mongo_database(mongo_url: str) -> Iterator[str]:
    """The URL of a database that no other test uses; it is dropped afterwards."""
    name, (server, _, rest) = f"workers_{uuid4().hex[:8]}", mongo_url.rpartition("/")
    yield f"{server}/{name}{rest}"
    with pymongo.MongoClient(mongo_url) as client:
        client.drop_database(name)


def check(url: str) -> None:
    user = uuid4().hex
    with Memory(url) as here, Memory(url, workers=2) as beside:
        here.add([{"role": "user", "content": f"The heron stood on stone {n}."} for n in range(30)], user_id=user)
        for n in (3, 7):
            beside.add({"role": "user", "content": f"It flew from stone {n}."}, user_id=user)
            query = f"Where did the heron stand before it flew from stone {n}?"
            found = beside.search(query, user_id=user, budget=90)
            assert f"flew from stone {n}" in found.text
            assert found.text == here.search(query, user_id=user, budget=90).text
        assert beside.version(user_id=user) == here.version(user_id=user)
        here.delete_all(user_id=user)
        assert not beside.search("heron", user_id=user).found


def test_workers_search_postgresql(postgres_url: str) -> None:
    check(postgres_url)


def test_workers_search_mongodb(mongo_database: str) -> None:
    check(mongo_database)
