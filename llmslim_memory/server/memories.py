"""Routes that store, list, read, change and delete turns."""

from __future__ import annotations

import asyncio
import time
from typing import Annotated, Any

from fastapi import APIRouter, Header, Query
from starlette.exceptions import HTTPException

from llmslim_memory.errors import InvalidValueError
from llmslim_memory.messages import read_messages
from llmslim_memory.server.auth import Caller
from llmslim_memory.server.cursors import seal, unseal
from llmslim_memory.server.idempotency import claim, named
from llmslim_memory.server.models import AddIn, DeletedOut, PageOut, TurnOut, TurnsOut, UpdateIn
from llmslim_memory.server.service import CallerDep, IdQuery, Service, ServiceDep, scope_of, turn
from llmslim_memory.texts import check_metadata
from llmslim_memory.times import parse_time
from llmslim_memory.types import MemoryItem

MISS_SECONDS = 0.025
PAGES_A_REQUEST = 20

router = APIRouter(prefix="/v1/memories", tags=["memories"])


@router.post("", status_code=201, response_model=TurnsOut)
async def add_memories(
    body: AddIn,
    caller: CallerDep,
    service: ServiceDep,
    idempotency_key: Annotated[str | None, Header(min_length=1, max_length=200)] = None,
) -> dict[str, Any]:
    """Store messages, all of them or none; the same Idempotency-Key stores them once, however often it is sent."""
    given = body.messages if isinstance(body.messages, list) else [body.messages]
    messages = [message.model_dump(exclude_none=True) | {"content": message.content} for message in given]
    scope = scope_of(caller, body.user_id, body.agent_id, body.run_id)
    rules: dict[str, Any] = {"on_conflict": body.on_conflict}
    if idempotency_key is not None:
        _check(body, messages)
        if all("id" not in message for message in messages):
            # What was stored under this key and then edited or deleted stays so, however late the request comes again.
            rules = {"on_conflict": "keep", "revive": False}
        request = body.model_dump_json()
        messages = named(messages, idempotency_key, request)
        memory = await asyncio.to_thread(service.memory.open)
        await asyncio.to_thread(claim, memory.store, idempotency_key, scope, request)
    items = await service.memory.add(messages, **scope, timestamp=body.timestamp, metadata=body.metadata, **rules)
    return {"items": [turn(item) for item in items]}


def _check(body: AddIn, messages: list[dict[str, Any]]) -> None:
    """Refuse what cannot be stored before its key is bound, so that the mended request may use the key."""
    read_messages(messages)
    check_metadata(body.metadata or {})
    if body.timestamp is not None:
        parse_time(body.timestamp)


@router.get("", response_model=PageOut)
async def list_memories(
    caller: CallerDep,
    service: ServiceDep,
    user_id: IdQuery = None,
    agent_id: IdQuery = None,
    run_id: IdQuery = None,
    since: str | None = None,
    until: str | None = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
    cursor: Annotated[str | None, Query(max_length=2000)] = None,
) -> dict[str, Any]:
    """A page of turns in the order they were added, said at or after ``since`` and before ``until``."""
    scope = scope_of(caller, user_id, agent_id, run_id)
    named = [scope["user_id"], scope["agent_id"], scope["run_id"]]
    if not any(named):
        raise InvalidValueError("name at least one of user_id, agent_id and run_id")
    bound = [*named, since, until]
    place = None if cursor is None else unseal(service.cursor_key, cursor, bound)
    window = (
        None if since is None else parse_time(since, "since"),
        None if until is None else parse_time(until, "until"),
    )
    found: list[MemoryItem] = []
    for _ in range(PAGES_A_REQUEST):
        page = await service.memory.scan(**scope, after=place, limit=limit - len(found))
        found += [item for item in page.items if _inside(item, *window)]
        place = page.next
        if place is None or len(found) == limit:
            break
    return {
        "items": [turn(item) for item in found],
        "next_cursor": None if place is None else seal(service.cursor_key, place, bound),
    }


def _inside(item: MemoryItem, since: Any, until: Any) -> bool:
    return (since is None or item.created_at >= since) and (until is None or item.created_at < until)


@router.delete("", response_model=DeletedOut)
async def delete_scope(
    caller: CallerDep, service: ServiceDep, user_id: IdQuery = None, agent_id: IdQuery = None, run_id: IdQuery = None
) -> dict[str, int]:
    """Delete every turn of a scope; at least one id is required."""
    return {"deleted": await service.memory.delete_all(**scope_of(caller, user_id, agent_id, run_id))}


@router.get("/{memory_id}", response_model=TurnOut)
async def get_memory(memory_id: str, caller: CallerDep, service: ServiceDep) -> dict[str, Any]:
    """One turn."""
    return turn(await _visible(memory_id, caller, service))


@router.patch("/{memory_id}", response_model=TurnOut)
async def update_memory(memory_id: str, body: UpdateIn, caller: CallerDep, service: ServiceDep) -> dict[str, Any]:
    """Correct a turn's content, its metadata, or both."""
    await _visible(memory_id, caller, service)
    item = await service.memory.update(memory_id, body.content, metadata=body.metadata)
    if item is None:
        raise HTTPException(404, "there is no such turn")
    return turn(item)


@router.delete("/{memory_id}", response_model=DeletedOut)
async def delete_memory(memory_id: str, caller: CallerDep, service: ServiceDep) -> dict[str, int]:
    """Delete one turn."""
    await _visible(memory_id, caller, service)
    return {"deleted": int(await service.memory.delete(memory_id))}


async def _visible(memory_id: str, caller: Caller, service: Service) -> MemoryItem:
    """The turn, if the caller may see it; another user's is answered like one that does not exist, and as slowly."""
    start = time.perf_counter()
    item = await service.memory.get(memory_id)
    if item is None or not caller.may_see(item.user_id):
        await asyncio.sleep(max(0.0, start + MISS_SECONDS - time.perf_counter()))
        raise HTTPException(404, "there is no such turn")
    return item
