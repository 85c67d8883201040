"""The MongoDB store meets every contract, on a replica set and on a standalone server."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest
from servers.fixtures import DATABASE

from llmslim_memory.stores.mongodb import MongoStore
from llmslim_memory.testing import FullSharedContract


class TestMongoStore(FullSharedContract):
    @pytest.fixture
    def opener(self, mongo_url: str, collection: str) -> partial[MongoStore]:
        return partial(MongoStore, mongo_url, database=DATABASE, collection=collection)

    @pytest.fixture
    def store(self, open_mongo: Callable[..., MongoStore]) -> MongoStore:
        return open_mongo()


class TestStandaloneMongoStore(FullSharedContract):
    @pytest.fixture
    def opener(self, standalone_mongo_url: str, collection: str) -> partial[MongoStore]:
        return partial(MongoStore, standalone_mongo_url, database=DATABASE, collection=collection)

    @pytest.fixture
    def store(self, open_standalone_mongo: Callable[..., MongoStore]) -> MongoStore:
        return open_standalone_mongo()
