"""Routes that take a whole history in and give it out, as JSONL, a line at a time."""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Literal

from fastapi import APIRouter, Request
from fastapi.responses import StreamingResponse

from llmslim_memory.errors import HistoryImportError, InvalidValueError
from llmslim_memory.history import import_history
from llmslim_memory.importers.limits import ImportLimits
from llmslim_memory.importers.own import HEADER
from llmslim_memory.server.auth import Caller, ForbiddenError
from llmslim_memory.server.models import ImportOut
from llmslim_memory.server.service import CallerDep, IdQuery, Service, ServiceDep, scope_of
from llmslim_memory.types import ScopeIds

PAGE = 200

router = APIRouter(prefix="/v1", tags=["transfer"])


@router.post(
    "/import",
    response_model=ImportOut,
    openapi_extra={"requestBody": {"required": False, "content": {"application/x-ndjson": {"schema": {}}}}},
)
async def import_turns(
    request: Request,
    caller: CallerDep,
    service: ServiceDep,
    user_id: IdQuery = None,
    agent_id: IdQuery = None,
    format: Literal["jsonl", "llmslim-memory"] = "jsonl",  # noqa: A002
    redact: bool = True,
) -> dict[str, Any]:
    """Import JSONL, one message a line, or our own export (tokens for all users only); again adds what is new."""
    if caller.users is not None and format != "jsonl":
        # Our own export restores ids, and with them turns of other users: not for a token that is bound to some.
        raise ForbiddenError
    user = caller.user(user_id)
    with tempfile.TemporaryDirectory(prefix="llmslim-") as folder:
        upload = Path(folder, "upload.jsonl")
        file = await asyncio.to_thread(upload.open, "wb")
        try:
            async for chunk in request.stream():
                await asyncio.to_thread(file.write, chunk)
        finally:
            await asyncio.to_thread(file.close)
        return await asyncio.to_thread(_import, upload, service, user, agent_id, format, redact)


def _import(
    upload: Path, service: Service, user_id: str | None, agent_id: str | None, form: str, redact: bool
) -> dict[str, Any]:
    limits = ImportLimits(max_file_bytes=service.limits.import_bytes)
    try:
        report = import_history(
            upload,
            service.memory.open(),
            format=form,
            user_id=user_id,
            agent_id=agent_id,
            redact=redact,
            limits=limits,
        )
    except HistoryImportError as error:
        raise HistoryImportError(_without_folder(str(error), upload)) from error
    errors = [_without_folder(text, upload) for text in report.errors]
    return report.to_dict() | {"source": "upload", "errors": errors}


def _without_folder(text: str, upload: Path) -> str:
    return text.replace(f"{upload.parent}/", "")


@router.get("/export", response_class=StreamingResponse, responses={200: {"content": {"application/x-ndjson": {}}}})
async def export_turns(
    caller: CallerDep, service: ServiceDep, user_id: IdQuery = None, agent_id: IdQuery = None, run_id: IdQuery = None
) -> StreamingResponse:
    """Every turn of a scope with all its fields, a header line first: what import restores exactly."""
    scope = _export_scope(caller, user_id, agent_id, run_id)
    first = await service.memory.scan(**scope, limit=PAGE)
    return StreamingResponse(_lines(service, scope, first), media_type="application/x-ndjson")


def _export_scope(caller: Caller, user_id: str | None, agent_id: str | None, run_id: str | None) -> ScopeIds:
    scope = scope_of(caller, user_id, agent_id, run_id)
    if not any((scope["user_id"], scope["agent_id"], scope["run_id"])):
        raise InvalidValueError("name at least one of user_id, agent_id and run_id")
    return scope


async def _lines(service: Service, scope: ScopeIds, page: Any) -> AsyncIterator[str]:
    yield json.dumps(HEADER) + "\n"
    count = 0
    while True:
        for item in page.items:
            # A place in this file instead of the store's own number, whose gaps would count other people's turns.
            count += 1
            yield json.dumps(item.to_dict() | {"seq": count}, ensure_ascii=False) + "\n"
        if page.next is None:
            return
        page = await service.memory.scan(**scope, after=page.next, limit=PAGE)
