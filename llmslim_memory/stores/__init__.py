"""Where turns live: in this process, SQLite, PostgreSQL, MongoDB."""

from llmslim_memory.stores.in_memory import InMemoryStore
from llmslim_memory.stores.sqlite import SQLiteStore
from llmslim_memory.stores.urls import open_store

__all__ = ["InMemoryStore", "SQLiteStore", "open_store"]
