"""The route that answers a question from memory, and the one that lists what there is to search."""

from __future__ import annotations

import asyncio
from typing import Any

from fastapi import APIRouter

from llmslim_memory.envelope import ContextEnvelope
from llmslim_memory.memory import Memory
from llmslim_memory.server.models import ContextOut, ScopesOut, SearchIn
from llmslim_memory.server.service import CallerDep, ServiceDep, recalled, scope_of
from llmslim_memory.types import MemoryContext, ScopeIds

router = APIRouter(prefix="/v1", tags=["search"])


@router.post("/search", response_model=ContextOut)
async def search(body: SearchIn, caller: CallerDep, service: ServiceDep) -> dict[str, Any]:
    """The part of a scope's history that answers ``query``, within ``budget`` tokens."""
    options = body.model_dump(exclude={"query", "format", "user_id", "agent_id", "run_id"})
    scope = scope_of(caller, body.user_id, body.agent_id, body.run_id)
    if body.format == "text":
        return _answer(await service.memory.search(body.query, **scope, **options)) | {"format": body.format}
    memory = await asyncio.to_thread(service.memory.open)
    return await asyncio.to_thread(_enveloped, memory, body.query, scope, options) | {"format": body.format}


def _enveloped(memory: Memory, query: str, scope: ScopeIds, options: dict[str, Any]) -> dict[str, Any]:
    """The answer with its text in an envelope, both together within the budget."""
    budget = options["budget"] or memory.budget
    room = ContextEnvelope.room(budget, count=memory.counter, user_id=scope["user_id"])
    context = memory.search(query, **scope, **(options | {"budget": room}))
    text = ContextEnvelope(context, budget=budget, count=memory.counter).to_text()
    return _answer(context) | {"text": text, "tokens": memory.counter(text), "budget": budget}


def _answer(context: MemoryContext) -> dict[str, Any]:
    data = context.to_dict()
    return data | {
        name: [recalled(entry) for entry in data[name]] for name in ("turns", "requests", "preferences", "conflicts")
    }


@router.get("/scopes", response_model=ScopesOut)
async def list_scopes(caller: CallerDep, service: ServiceDep) -> dict[str, Any]:
    """The users, agents and sessions that the caller may read, with counts and times."""
    seen = [summary for summary in await service.memory.scopes() if caller.may_see(summary.user_id)]
    return {
        "scopes": [s._asdict() | {"first": s.first.isoformat(), "last": s.last.isoformat()} for s in seen],
    }
