"""Which file a Mem0 configuration means; everything else in it needs a model or a service and is not needed here."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from llmslim_memory.mem0.exceptions import ConfigurationError

logger = logging.getLogger(__name__)

DB_VARIABLE = "LLMSLIM_MEMORY_DB"
COLLECTION = "mem0"
IN_MEMORY = ":memory:"
_SUFFIX = ".llmslim.db"
_NEEDLESS = ("llm", "embedder")
_MISSED = (
    "graph_store",
    "enable_graph",
    "reranker",
    "custom_instructions",
    "custom_fact_extraction_prompt",
    "custom_update_memory_prompt",
    "custom_prompt",
)


def database(config: Any) -> str:
    """The path or URL of the database that a configuration means.

    ``{"llmslim": {"db": ...}}`` says it outright. Else a ``path`` of the vector store names the folder and its
    ``collection_name`` the file; else ``history_db_path`` names the place; else it is ``LLMSLIM_MEMORY_DB``, or
    ``~/.llmslim/mem0.db``. Collections of other names get files of their own. Mem0's own files are left alone.

    Raises:
        ConfigurationError: A part of it has the wrong type.
    """
    plain = as_mapping(config)
    named = _section(plain, "llmslim").get("db")
    if named:
        return str(named)
    path = _section(_section(plain, "vector_store"), "config").get("path")
    collection = _file_name(collection_name(config))
    if path:
        return _beside(Path(str(path)).expanduser(), collection)
    other = "" if collection == COLLECTION else f"-{collection}"
    if history := plain.get("history_db_path"):
        place = Path(str(history)).expanduser()
        return IN_MEMORY if place.name == IN_MEMORY else str(place.with_name(f"{place.stem}{other}{_SUFFIX}"))
    return os.environ.get(DB_VARIABLE) or str(Path(f"~/.llmslim/mem0{other}.db").expanduser())


def _beside(path: Path, collection: str) -> str:
    """Our file in the folder of a vector store, or next to the file that it keeps."""
    if path.name == IN_MEMORY:
        return IN_MEMORY
    return str((path.parent if path.is_file() else path) / f"{collection}{_SUFFIX}")


def collection_name(config: Any) -> str:
    """The collection's name, for programs that read it."""
    store = _section(_section(as_mapping(config), "vector_store"), "config")
    return str(store.get("collection_name") or COLLECTION)


def note_ignored(config: Any) -> None:
    """Log what of a configuration has no meaning here: a warning for what would have changed the memories."""
    plain = as_mapping(config)
    needless = [name for name in _NEEDLESS if plain.get(name)]
    missed = [name for name in _MISSED if plain.get(name)]
    if needless:
        logger.info("no model or service is used here, so these settings have no effect: %s", ", ".join(needless))
    if missed:
        logger.warning("memories are kept word for word, so these settings have no effect: %s", ", ".join(missed))


def as_mapping(config: Any) -> Mapping[str, Any]:
    """A configuration as a mapping: a dict, a pydantic model, or any object with attributes."""
    if config is None:
        return {}
    if isinstance(config, Mapping):
        return config
    if hasattr(config, "model_dump"):
        dumped: object = config.model_dump()
        return dumped if isinstance(dumped, Mapping) else {}
    if hasattr(config, "__dict__") and not isinstance(config, type):
        return dict(vars(config))
    raise ConfigurationError(f"a configuration must be a dict or a MemoryConfig, not {type(config).__name__}")


def _section(config: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    return as_mapping(config.get(name))


def _file_name(collection: str) -> str:
    return "".join(char if char.isalnum() or char in "-_." else "_" for char in collection).lstrip(".") or COLLECTION
