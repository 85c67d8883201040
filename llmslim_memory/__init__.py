"""Long-term memory for LLM agents: turns kept verbatim, picked within a token budget at read time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from llmslim_memory._version import __version__
from llmslim_memory.aio import AsyncMemory
from llmslim_memory.envelope import ContextEnvelope
from llmslim_memory.errors import (
    DuplicateIdError,
    HistoryImportError,
    InvalidTypeError,
    InvalidValueError,
    LLMSlimError,
    MissingExtraError,
    SchemaError,
    ScorerError,
    StoreClosedError,
    StoreError,
    StoreFullError,
    StoreUnavailableError,
    UnsupportedError,
)
from llmslim_memory.explain import ExplainedCandidate, ExplainedSection, ExplainedTurn, SearchExplanation
from llmslim_memory.memory import Memory
from llmslim_memory.stores import InMemoryStore, SQLiteStore, open_store
from llmslim_memory.tokens import TokenCounter, make_counter
from llmslim_memory.types import (
    Analysis,
    Applied,
    Batch,
    Changes,
    Edit,
    Hit,
    MemoryContext,
    MemoryItem,
    MemoryStore,
    Page,
    RecalledTurn,
    Record,
    Scope,
    ScopeSummary,
    SupportsAnalysis,
    SupportsChanges,
    SupportsRecords,
    SupportsScan,
    TurnHead,
)

if TYPE_CHECKING:
    from llmslim_memory.stores.mongodb import MongoStore as MongoStore
    from llmslim_memory.stores.postgres import PostgresStore as PostgresStore

__all__ = [
    "Analysis",
    "Applied",
    "AsyncMemory",
    "Batch",
    "Changes",
    "ContextEnvelope",
    "DuplicateIdError",
    "Edit",
    "ExplainedCandidate",
    "ExplainedSection",
    "ExplainedTurn",
    "HistoryImportError",
    "Hit",
    "InMemoryStore",
    "InvalidTypeError",
    "InvalidValueError",
    "LLMSlimError",
    "Memory",
    "MemoryContext",
    "MemoryItem",
    "MemoryStore",
    "MissingExtraError",
    "Page",
    "RecalledTurn",
    "Record",
    "SQLiteStore",
    "SchemaError",
    "Scope",
    "ScopeSummary",
    "ScorerError",
    "SearchExplanation",
    "StoreClosedError",
    "StoreError",
    "StoreFullError",
    "StoreUnavailableError",
    "SupportsAnalysis",
    "SupportsChanges",
    "SupportsRecords",
    "SupportsScan",
    "TokenCounter",
    "TurnHead",
    "UnsupportedError",
    "__version__",
    "make_counter",
    "open_store",
]

_DRIVERS = {"PostgresStore": "llmslim_memory.stores.postgres", "MongoStore": "llmslim_memory.stores.mongodb"}


def __getattr__(name: str) -> Any:
    # The stores with a driver are left out of __all__, so that `import *` needs none.
    if name not in _DRIVERS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_DRIVERS[name]), name)
