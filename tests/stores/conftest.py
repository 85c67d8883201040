"""The database servers, for every test of a store."""

from __future__ import annotations

from servers.fixtures import open_postgres, postgres_url, table

__all__ = ["open_postgres", "postgres_url", "table"]
