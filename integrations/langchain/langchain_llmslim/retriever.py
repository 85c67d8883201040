"""A retriever over remembered turns, for chains and RAG."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Self

from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from pydantic import Field, PrivateAttr, model_validator

from langchain_llmslim.converters import METADATA_KEY, turns_to_messages
from langchain_llmslim.sharing import share
from llmslim_memory import AsyncMemory, Hit, Scope

DEFAULT_K = 10
_MOST_WITHIN_BUDGET = 200


class LLMSlimRetriever(BaseRetriever):
    """Finds the remembered passages that answer a question, best first.

    A document holds a turn word for word, or a passage of a long one. Its ``id`` is the turn's, and its metadata say
    ``role``, ``session_id``, ``created_at``, ``seq``, ``kind``, ``score`` in [0, 1], ``why``, ``message_id`` and
    ``untrusted: True``: what was said is data, not instructions.

    Args:
        memory: A ``Memory`` or ``AsyncMemory``.
        user_id: The person whose turns are searched. At least one of the three ids is required.
        agent_id: The agent.
        session_id: One session alone.
        k: The most documents, 10 unless a token budget is given. ``invoke(question, k=3)`` asks for another number.
        token_budget: The most tokens that the texts of all documents may take together; also in ``invoke``.

    Raises:
        ValueError: No id is given, or a number is below 1.
    """

    memory: Any = Field(exclude=True, repr=False)
    user_id: str | None = None
    agent_id: str | None = None
    session_id: str | None = None
    k: int | None = Field(default=None, ge=1)
    token_budget: int | None = Field(default=None, ge=1)

    _shared: AsyncMemory = PrivateAttr()

    @model_validator(mode="after")
    def _check(self) -> Self:
        Scope(self.user_id, self.agent_id, self.session_id)
        self._shared = share(self.memory)
        return self

    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun,  # noqa: ARG002
        k: int | None = None,
        token_budget: int | None = None,
    ) -> list[Document]:
        return self._search(query, k, token_budget)

    async def _aget_relevant_documents(
        self,
        query: str,
        *,
        run_manager: AsyncCallbackManagerForRetrieverRun,  # noqa: ARG002
        k: int | None = None,
        token_budget: int | None = None,
    ) -> list[Document]:
        return await asyncio.to_thread(self._search, query, k, token_budget)

    def _search(self, query: str, k: int | None, token_budget: int | None) -> list[Document]:
        memory = self._shared.open()
        budget = self.token_budget if token_budget is None else token_budget
        default = DEFAULT_K if budget is None else _MOST_WITHIN_BUDGET
        most = next(n for n in (k, self.k, default) if n is not None)
        hits = memory.rank(query, user_id=self.user_id, agent_id=self.agent_id, run_id=self.session_id, k=most)
        kept = hits if budget is None else _within(hits, budget, memory.counter)
        return [_to_document(hit, rank) for rank, hit in enumerate(kept, 1)]


def _within(hits: list[Hit], budget: int, count: Callable[[str], int]) -> list[Hit]:
    kept = []
    for hit in hits:
        budget -= (tokens := count(hit.text))
        if budget < 0:
            # A later, shorter passage may still fit.
            budget += tokens
            continue
        kept.append(hit)
    return kept


def _to_document(hit: Hit, rank: int) -> Document:
    item = hit.item
    part = "the whole turn" if hit.kind == "turn" else "a passage of the turn"
    return Document(
        id=item.id,
        page_content=hit.text,
        metadata={
            "role": item.role,
            "session_id": item.run_id,
            "created_at": item.created_at.isoformat(),
            "seq": item.seq,
            "kind": hit.kind,
            "score": hit.score,
            "why": f"rank {rank}: {part} matches the question with a score of {hit.score:.2f}",
            "message_id": turns_to_messages([item])[0].id if METADATA_KEY in item.metadata else None,
            "untrusted": True,
        },
    )
