"""What the routes share: the memory, who may ask, and the key that seals cursors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import Depends, Query, Request
from starlette.exceptions import HTTPException

from llmslim_memory.aio import AsyncMemory
from llmslim_memory.server.auth import UNAUTHORIZED, Caller, TokenTable
from llmslim_memory.server.guards import Limits
from llmslim_memory.server.metrics import Metrics
from llmslim_memory.server.models import Id
from llmslim_memory.types import MemoryItem, ScopeIds


@dataclass(frozen=True, slots=True)
class Service:
    """One server: its memory, its tokens (``None``: no token is asked for), its limits."""

    memory: AsyncMemory
    tokens: TokenTable | None
    limits: Limits
    metrics: Metrics
    cursor_key: bytes


def _service(request: Request) -> Service:
    service: Service = request.app.state.service
    return service


ServiceDep = Annotated[Service, Depends(_service)]


def _caller(request: Request, service: ServiceDep) -> Caller:
    if service.tokens is None:
        return Caller()
    caller = service.tokens.bearer(request.headers.get("authorization", ""))
    if caller is None:
        raise HTTPException(401, UNAUTHORIZED, {"WWW-Authenticate": "Bearer"})
    return caller


CallerDep = Annotated[Caller, Depends(_caller)]
IdQuery = Annotated[Id | None, Query()]
"""One of the ids of a scope, in an address."""


def scope_of(caller: Caller, user_id: str | None, agent_id: str | None, run_id: str | None) -> ScopeIds:
    """The ids that a request is about, after the caller's token was held against them."""
    return ScopeIds(user_id=caller.user(user_id), agent_id=agent_id, run_id=run_id)


def turn(item: MemoryItem) -> dict[str, Any]:
    """A turn for a client: all of it but ``seq``, whose gaps would count other people's turns."""
    return {name: value for name, value in item.to_dict().items() if name != "seq"}


def recalled(data: Mapping[str, Any]) -> dict[str, Any]:
    """A recalled turn for a client, likewise."""
    return {**data, "item": {name: value for name, value in data["item"].items() if name != "seq"}}
