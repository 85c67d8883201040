"""The database servers, for every test of a store."""

from __future__ import annotations

from servers.fixtures import (
    collection,
    mongo_url,
    open_mongo,
    open_postgres,
    open_standalone_mongo,
    own_postgres_url,
    postgres_url,
    standalone_mongo_url,
    table,
)

__all__ = [
    "collection",
    "mongo_url",
    "open_mongo",
    "open_postgres",
    "open_standalone_mongo",
    "own_postgres_url",
    "postgres_url",
    "standalone_mongo_url",
    "table",
]
