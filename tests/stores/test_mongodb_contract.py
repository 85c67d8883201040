"""The MongoDB store meets every contract, on a replica set and on a standalone server."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from llmslim_memory.stores.mongodb import MongoStore
from llmslim_memory.testing import StoreContract


class TestMongoStore(StoreContract):
    @pytest.fixture
    def store(self, open_mongo: Callable[..., MongoStore]) -> MongoStore:
        return open_mongo()


class TestStandaloneMongoStore(StoreContract):
    @pytest.fixture
    def store(self, open_standalone_mongo: Callable[..., MongoStore]) -> MongoStore:
        return open_standalone_mongo()
