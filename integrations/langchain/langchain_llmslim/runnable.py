"""A step of a chain that turns a question into what memory says about it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from langchain_core.runnables import Runnable, RunnableConfig, RunnableLambda

from langchain_llmslim.recall import recall_text
from langchain_llmslim.scope import IdSource, ScopeRule
from langchain_llmslim.sharing import share
from llmslim_memory import AsyncMemory, Memory


def memory_context(
    memory: Memory | AsyncMemory,
    *,
    token_budget: int = 1000,
    user_id: IdSource = None,
    agent_id: IdSource = None,
    session_id: IdSource = None,
    input_key: str = "question",
) -> Runnable[Any, str]:
    """A runnable from a question to the remembered text that answers it, wrapped as untrusted data.

    The input is the question, or a mapping that holds it under ``input_key``; the output is empty when nothing is
    found. ``RunnablePassthrough.assign(memory=memory_context(memory)) | prompt | model`` gives a prompt its
    ``{memory}``.

    Args:
        memory: A ``Memory`` or ``AsyncMemory``.
        token_budget: The most tokens the text may take, its wrapper included.
        user_id: The person, or a function ``(runtime, config)`` that names them (there is no runtime in a chain, so
            it is ``None`` here); by default ``config["configurable"]["user_id"]``.
        agent_id: The agent, likewise.
        session_id: The session, likewise (or ``thread_id``); it alone is searched where no user is known.
        input_key: Where a mapping holds the question.
    """
    shared = share(memory)
    rule = ScopeRule(user_id, agent_id, session_id)

    def recall(given: Any, config: RunnableConfig) -> str:
        query = given[input_key] if isinstance(given, Mapping) else given
        ids = rule.resolve(None, config).readable()
        return recall_text(shared.open(), query, ids, token_budget=token_budget)

    async def arecall(given: Any, config: RunnableConfig) -> str:
        return await asyncio.to_thread(recall, given, config)

    return RunnableLambda(recall, arecall, name="memory_context")
