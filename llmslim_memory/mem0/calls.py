"""Both of Mem0's call styles: ids and ``limit`` at top level (1.x), ``filters`` and ``top_k`` (2.x)."""

from __future__ import annotations

import functools
import logging
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from llmslim_memory.errors import InvalidTypeError
from llmslim_memory.mem0.exceptions import UnsupportedFeatureError, ValidationError
from llmslim_memory.mem0.scope import HOSTED_IDS, Asked, read_scope

LEGACY_COUNT, COUNT = 100, 20
THRESHOLD = 0.1
RETIRED = frozenset(
    {"version", "output_format", "api_version", "async_mode", "enable_graph", "keyword_search", "org_id", "project_id"}
)
IGNORED = frozenset({"prompt", "llm", "custom_instructions", "custom_categories", "includes", "excludes"})
logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Reading:
    """A read, settled: what it is about, how many are wanted, and from which score on."""

    asked: Asked
    most: int
    threshold: float | None


def settle(
    method: str,
    filters: Mapping[str, Any] | None,
    *,
    top_k: Any,
    threshold: Any,
    extra: dict[str, Any],
    strict: bool,
    allow_all: bool = False,
) -> Reading:
    """Settle a read in either style; the defaults are those of the style that the call is written in.

    ``allow_all`` is ours: with it, ``"*"`` alone may name whose memories, which is everyone's.

    Raises:
        ValueError: A count, threshold or scope cannot be used.
        TypeError: ``extra`` holds an argument that no release of Mem0 knew.
    """
    ids = {name: extra.pop(name) for name in HOSTED_IDS if name in extra}
    if strict and ids:
        raise ValidationError(
            f"Top-level entity parameters {frozenset(ids)} are not supported in {method}(). "
            f"Use filters={{'user_id': '...'}} instead.",
            "VALIDATION_001",
        )
    legacy = bool(ids) or "limit" in extra
    limit = extra.pop("limit", None)
    refuse_unknown(method, extra)
    default = LEGACY_COUNT if legacy else COUNT
    most = count(top_k if top_k is not None else limit if limit is not None else default)
    at_least = _threshold(threshold) if threshold is not None else (None if legacy else THRESHOLD)
    return Reading(read_scope(ids, filters, method, strict=strict, allow_all=allow_all), most, at_least)


def refuse_unknown(method: str, extra: Mapping[str, Any]) -> None:
    """Pass over arguments that Mem0 knew once, with a warning; refuse all others by name."""
    for name in extra:
        if name in IGNORED:
            _tell_once(method, name)
        elif name in RETIRED:
            warnings.warn(f"{method}({name}=...) has no effect here", DeprecationWarning, stacklevel=4)
        else:
            raise InvalidTypeError(f"{method}() got an unexpected keyword argument {name!r}")


@functools.cache
def _tell_once(method: str, name: str) -> None:
    logger.warning("%s(%s=...) has no effect: no model is called here", method, name)


def check_memory_type(memory_type: Any) -> None:
    """Refuse what only a model could write."""
    if memory_type is None:
        return
    if memory_type == "procedural_memory":
        raise UnsupportedFeatureError(
            "procedural memory is a model's summary, and no model is called here: add the turns and read them back",
            "UNSUPPORTED",
        )
    raise ValidationError(
        f"Invalid 'memory_type' {memory_type!r}. Please pass 'procedural_memory' to create procedural memories.",
        "VALIDATION_002",
    )


def check_query(query: Any) -> str:
    """The question, trimmed."""
    if not isinstance(query, str):
        raise ValidationError("Invalid query: must be a non-empty string.", "VALIDATION_005")
    if not query.strip():
        raise ValidationError("Invalid query: cannot be empty or whitespace-only.", "VALIDATION_005")
    return query.strip()


def count(value: Any) -> int:
    """How many memories are wanted."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ValidationError(f"top_k must be a non-negative integer, not {value!r}", "VALIDATION_006")
    return value


def _threshold(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise ValidationError(f"threshold must be a number between 0 and 1, not {value!r}", "VALIDATION_006")
    return float(value)
