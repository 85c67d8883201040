"""The HTTP application: routes, guards and problems put together."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI
from starlette.middleware import Middleware

from llmslim_memory._version import __version__
from llmslim_memory.aio import AsyncMemory
from llmslim_memory.memory import Memory
from llmslim_memory.server import health, inspector, memories, problems, searching, transfer
from llmslim_memory.server.auth import TokenTable
from llmslim_memory.server.cursors import new_key
from llmslim_memory.server.guards import HostGuard, Limits, Observed, SizeLimit, TimeLimit
from llmslim_memory.server.metrics import Metrics
from llmslim_memory.server.models import ProblemOut
from llmslim_memory.server.service import Service

_PROBLEM: dict[str, Any] = {"model": ProblemOut, "content": {"application/problem+json": {}}}
_ANSWERS: dict[int | str, dict[str, Any]] = {
    status: {**_PROBLEM, "description": text}
    for status, text in {
        400: "The body cannot be read",
        401: "No valid token",
        403: "The token does not cover that user",
        404: "No such turn",
        409: "That id is stored already with other content",
        413: "The body is too large",
        421: "The Host is not one of this server's",
        422: "A value cannot be used",
        500: "The server failed",
        501: "The store or the installation lacks an ability",
        503: "The memory store cannot be reached; see Retry-After",
        504: "No answer in time",
        507: "The memory store is full",
    }.items()
}


def create_app(
    memory: Memory | AsyncMemory,
    *,
    tokens: TokenTable | None = None,
    allowed_hosts: Collection[str] | None = (),
    limits: Limits | None = None,
) -> FastAPI:
    """The memory as an HTTP application.

    Args:
        memory: What is served; closed with the application if it was opened by it, as ``AsyncMemory`` does.
        tokens: Who may ask; ``None`` asks for no token.
        allowed_hosts: Names that the server goes by beside loopback names and addresses; ``None`` takes every name.
        limits: Sizes and times of requests.
    """
    limits = limits or Limits()
    metrics = Metrics()
    shared = memory if isinstance(memory, AsyncMemory) else AsyncMemory(memory)
    service = Service(shared, tokens, limits, metrics, new_key())

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        yield
        await shared.close()

    app = FastAPI(
        title="llmslim-memory",
        version=__version__,
        summary="Long-term memory for agents: turns kept word for word, recalled within a token budget.",
        lifespan=lifespan,
        responses=_ANSWERS,
        docs_url=None,
        redoc_url=None,
        middleware=[
            Middleware(Observed, metrics=metrics),
            Middleware(HostGuard, allowed=allowed_hosts),
            Middleware(SizeLimit, limits=limits),
            Middleware(TimeLimit, limits=limits),
        ],
    )
    app.state.service = service
    problems.install(app)
    for routes in (memories, searching, transfer, health, inspector):
        app.include_router(routes.router)
    return app
