"""The route that answers a question from memory, and the one that lists what there is to search."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter

from llmslim_memory.envelope import ContextEnvelope
from llmslim_memory.server.models import ContextOut, ScopesOut, SearchIn
from llmslim_memory.server.service import CallerDep, ServiceDep, recalled, scope_of
from llmslim_memory.types import MemoryContext

router = APIRouter(prefix="/v1", tags=["search"])


@router.post("/search", response_model=ContextOut)
async def search(body: SearchIn, caller: CallerDep, service: ServiceDep) -> dict[str, Any]:
    """The part of a scope's history that answers ``query``, within ``budget`` tokens."""
    options = body.model_dump(exclude={"query", "format", "user_id", "agent_id", "run_id"})
    scope = scope_of(caller, body.user_id, body.agent_id, body.run_id)
    context = await service.memory.search(body.query, **scope, **options)
    return _answer(context) | {"format": body.format, "text": _text(context, body.format)}


def _text(context: MemoryContext, form: str) -> str:
    return ContextEnvelope(context).to_text() if form == "enveloped" else context.text


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
