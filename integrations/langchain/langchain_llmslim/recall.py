"""What memory says about a question, wrapped as untrusted data and within a token budget."""

from __future__ import annotations

from collections.abc import Collection

from langchain_llmslim.scope import Ids
from llmslim_memory import ContextEnvelope, Memory

SOURCE = "llmslim_memory"
"""Marks what came out of memory, so that it is never stored again as if it had been said."""


def recall_text(
    memory: Memory,
    query: str,
    ids: Ids,
    *,
    token_budget: int,
    exclude: Collection[str] = (),
    exclude_runs: Collection[str] = (),
) -> str:
    """What answers ``query``, in an envelope of at most ``token_budget`` tokens; empty where nothing does."""
    if token_budget < 1 or not query.strip():
        return ""
    room = ContextEnvelope.room(token_budget, count=memory.counter, user_id=ids["user_id"])
    context = memory.search(query, **ids, budget=room, exclude=exclude, exclude_runs=exclude_runs)
    return ContextEnvelope(context, budget=token_budget, count=memory.counter).to_text()
