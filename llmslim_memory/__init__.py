"""Long-term memory for LLM agents: turns kept verbatim, picked within a token budget at read time.

Every public name is loaded when it is first used, so that importing the package costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from llmslim_memory._version import __version__ as __version__

if TYPE_CHECKING:
    from llmslim_memory.aio import AsyncMemory as AsyncMemory
    from llmslim_memory.envelope import ContextEnvelope as ContextEnvelope
    from llmslim_memory.errors import DuplicateIdError as DuplicateIdError
    from llmslim_memory.errors import HistoryImportError as HistoryImportError
    from llmslim_memory.errors import InvalidTypeError as InvalidTypeError
    from llmslim_memory.errors import InvalidValueError as InvalidValueError
    from llmslim_memory.errors import LLMSlimError as LLMSlimError
    from llmslim_memory.errors import MissingExtraError as MissingExtraError
    from llmslim_memory.errors import SchemaError as SchemaError
    from llmslim_memory.errors import ScorerError as ScorerError
    from llmslim_memory.errors import StoreClosedError as StoreClosedError
    from llmslim_memory.errors import StoreError as StoreError
    from llmslim_memory.errors import StoreFullError as StoreFullError
    from llmslim_memory.errors import StoreUnavailableError as StoreUnavailableError
    from llmslim_memory.errors import UnsupportedError as UnsupportedError
    from llmslim_memory.explain import ExplainedCandidate as ExplainedCandidate
    from llmslim_memory.explain import ExplainedSection as ExplainedSection
    from llmslim_memory.explain import ExplainedTurn as ExplainedTurn
    from llmslim_memory.explain import SearchExplanation as SearchExplanation
    from llmslim_memory.history import export_history as export_history
    from llmslim_memory.history import import_history as import_history
    from llmslim_memory.importers.limits import ImportLimits as ImportLimits
    from llmslim_memory.importers.report import ImportedSession as ImportedSession
    from llmslim_memory.importers.report import ImportReport as ImportReport
    from llmslim_memory.memory import Memory as Memory
    from llmslim_memory.stores import InMemoryStore as InMemoryStore
    from llmslim_memory.stores import SQLiteStore as SQLiteStore
    from llmslim_memory.stores import open_store as open_store
    from llmslim_memory.stores.mongodb import MongoStore as MongoStore
    from llmslim_memory.stores.postgres import PostgresStore as PostgresStore
    from llmslim_memory.tokens import TokenCounter as TokenCounter
    from llmslim_memory.tokens import make_counter as make_counter
    from llmslim_memory.types import Analysis as Analysis
    from llmslim_memory.types import Applied as Applied
    from llmslim_memory.types import Batch as Batch
    from llmslim_memory.types import Changes as Changes
    from llmslim_memory.types import Edit as Edit
    from llmslim_memory.types import Hit as Hit
    from llmslim_memory.types import MemoryContext as MemoryContext
    from llmslim_memory.types import MemoryItem as MemoryItem
    from llmslim_memory.types import MemoryStore as MemoryStore
    from llmslim_memory.types import Page as Page
    from llmslim_memory.types import RecalledTurn as RecalledTurn
    from llmslim_memory.types import Record as Record
    from llmslim_memory.types import Scope as Scope
    from llmslim_memory.types import ScopeSummary as ScopeSummary
    from llmslim_memory.types import SupportsAnalysis as SupportsAnalysis
    from llmslim_memory.types import SupportsChanges as SupportsChanges
    from llmslim_memory.types import SupportsCopy as SupportsCopy
    from llmslim_memory.types import SupportsFind as SupportsFind
    from llmslim_memory.types import SupportsRecords as SupportsRecords
    from llmslim_memory.types import SupportsScan as SupportsScan
    from llmslim_memory.types import TurnHead as TurnHead
    from llmslim_memory.types import Where as Where

_NAMES = {
    "aio": "AsyncMemory",
    "envelope": "ContextEnvelope",
    "errors": "DuplicateIdError HistoryImportError InvalidTypeError InvalidValueError LLMSlimError MissingExtraError "
    "SchemaError ScorerError StoreClosedError StoreError StoreFullError StoreUnavailableError UnsupportedError",
    "explain": "ExplainedCandidate ExplainedSection ExplainedTurn SearchExplanation",
    "history": "export_history import_history",
    "importers.limits": "ImportLimits",
    "importers.report": "ImportReport ImportedSession",
    "memory": "Memory",
    "stores": "InMemoryStore SQLiteStore open_store",
    "tokens": "TokenCounter make_counter",
    "types": "Analysis Applied Batch Changes Edit Hit MemoryContext MemoryItem MemoryStore Page RecalledTurn Record "
    "Scope ScopeSummary SupportsAnalysis SupportsChanges SupportsCopy SupportsFind SupportsRecords SupportsScan "
    "TurnHead Where",
}
_HOMES = {name: module for module, names in _NAMES.items() for name in names.split()}
# The stores with a driver are left out of __all__, so that `import *` needs none.
_DRIVERS = {"PostgresStore": "stores.postgres", "MongoStore": "stores.mongodb"}

__all__ = sorted(("__version__", *_HOMES))


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name) or _DRIVERS.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"{__name__}.{home}"), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES, *_DRIVERS})
