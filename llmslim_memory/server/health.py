"""Routes for those who run the server: alive, ready, figures."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import Response
from starlette.exceptions import HTTPException

from llmslim_memory.server.models import HealthOut
from llmslim_memory.server.service import CallerDep, ServiceDep

router = APIRouter(tags=["operations"])
_PROBE = "llmslim-readiness-probe"


@router.get("/healthz", response_model=HealthOut)
async def alive() -> dict[str, str]:
    """Whether the process answers at all."""
    return {"status": "ok"}


@router.get("/readyz", response_model=HealthOut)
async def ready(service: ServiceDep) -> dict[str, str]:
    """Whether the store answers too; 503 while it does not."""
    await service.memory.get(_PROBE)
    return {"status": "ready"}


@router.get("/metrics", response_class=Response)
async def metrics(caller: CallerDep, service: ServiceDep) -> Response:
    """Requests and latencies by route, in Prometheus' text format; not for tokens that are bound to users."""
    if caller.users is not None:
        raise HTTPException(403, "this token is bound to users")
    return Response(service.metrics.text(), media_type=service.metrics.content_type)
