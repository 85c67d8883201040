"""Hypothesis strategies for what callers store: any text a database can hold, any JSON, awkward ids, close times."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from llmslim_memory.types import MemoryItem

NASTY_IDS = (
    "u1",
    "u10",
    "a_b",
    "axb",
    "a%b",
    "%",
    "_",
    "A_B",
    "'; DROP TABLE llmslim_memory; --",
    '"',
    "`",
    "\\",
    "$ne",
    '{"$ne": null}',
    "a.b",
    "null",
    "None",
    "0",
    "00",
    " u1",
    "u1 ",
    "stra\u00dfe",
    "strasse",
    "\u00e9",
    "e\u0301",
    "\u0430sha",
    "asha",
    "\uff55\uff11",
    "u1\u200b",
    "\U0001f40d",
    "u" * 512,
)
"""Ids that a careless store confuses with one another, takes for a pattern, or executes."""


def ids() -> SearchStrategy[str]:
    """Ids that are alike, or look like code."""
    return st.sampled_from(NASTY_IDS)


def texts(max_size: int = 200) -> SearchStrategy[str]:
    """Text of any language and none, without NUL and lone surrogates, which are replaced before a store sees them."""
    return st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=max_size)


def metadata(max_leaves: int = 8) -> SearchStrategy[dict[str, Any]]:
    """Metadata of every JSON type, with keys that a database may take for operators or paths."""
    keys = texts(12) | st.sampled_from(["$set", "$", "a.b", "", "_id", "id", "__proto__"])
    numbers = st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False)
    leaves = st.none() | st.booleans() | numbers | texts(20)
    values = st.recursive(leaves, lambda inner: st.lists(inner) | st.dictionaries(keys, inner), max_leaves=max_leaves)
    return st.dictionaries(keys, values, max_size=5)


def times() -> SearchStrategy[datetime]:
    """UTC times, many of them equal or a microsecond apart."""
    start = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
    near = st.integers(-3, 3).map(lambda n: start + timedelta(microseconds=n))
    return near | st.datetimes(datetime(1970, 1, 1), datetime(2200, 1, 1)).map(lambda t: t.replace(tzinfo=UTC))  # noqa: DTZ001


def turns(item_ids: SearchStrategy[str] | None = None) -> SearchStrategy[MemoryItem]:
    """Turns to add to a store, with ids of their own unless ``item_ids`` gives them."""
    maybe = st.none() | ids()
    return st.builds(
        MemoryItem,
        id=item_ids or st.uuids().map(lambda value: value.hex),
        role=st.sampled_from(["user", "assistant", "system", "tool"]),
        content=texts(),
        created_at=times(),
        user_id=ids(),
        agent_id=maybe,
        run_id=maybe,
        metadata=metadata(),
    )
