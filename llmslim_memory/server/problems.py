"""Which problem each exception of a route becomes; none tells of the inside."""

from __future__ import annotations

import logging
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import JSONResponse
from starlette.routing import Match

from llmslim_memory.errors import (
    DuplicateIdError,
    HistoryImportError,
    InvalidTypeError,
    InvalidValueError,
    MissingExtraError,
    StoreError,
    StoreFullError,
    StoreUnavailableError,
    UnsupportedError,
)
from llmslim_memory.server.answers import UNAVAILABLE, problem
from llmslim_memory.server.auth import ForbiddenError
from llmslim_memory.server.idempotency import IdempotencyConflictError

logger = logging.getLogger(__name__)

RETRY_AFTER_SECONDS = 5
_KINDS = {
    400: "bad_request",
    401: "unauthorized",
    403: "forbidden",
    404: "not_found",
    405: "method_not_allowed",
    413: "too_large",
}


def install(app: FastAPI) -> None:
    """Turn every exception that a route lets through into a problem."""
    for error, status, kind in (
        (DuplicateIdError, 409, "duplicate_id"),
        (IdempotencyConflictError, 409, "idempotency_conflict"),
        (HistoryImportError, 422, "import_failed"),
        (InvalidValueError, 422, "invalid_value"),
        (InvalidTypeError, 422, "invalid_value"),
        (UnsupportedError, 501, "unsupported"),
        (MissingExtraError, 501, "missing_extra"),
    ):
        app.add_exception_handler(error, _told(status, kind))
    app.add_exception_handler(ForbiddenError, _fixed(403, "forbidden", "this token does not cover that user"))
    app.add_exception_handler(ClientDisconnect, _fixed(400, "disconnected", "the request ended before its body did"))
    app.add_exception_handler(StoreFullError, _fixed(507, "store_full", "the memory store has no room left"))
    app.add_exception_handler(StoreUnavailableError, _unavailable)
    app.add_exception_handler(StoreError, _fixed(500, "store_error", "the memory store failed"))
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(Exception, _fixed(500, "internal_error", "something went wrong here"))


def _told(status: int, kind: str) -> Any:
    async def handle(_request: Request, error: Exception) -> JSONResponse:
        return problem(status, kind, str(error))

    return handle


def _fixed(status: int, kind: str, detail: str) -> Any:
    async def handle(_request: Request, error: Exception) -> JSONResponse:
        if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            logger.error("%s: %s", kind, type(error).__name__, exc_info=error)
        return problem(status, kind, detail)

    return handle


async def _unavailable(_request: Request, error: Exception) -> JSONResponse:
    logger.warning("the store cannot be reached: %s", type(error.__cause__ or error).__name__)
    return problem(503, "store_unavailable", UNAVAILABLE, headers={"Retry-After": str(RETRY_AFTER_SECONDS)})


async def _invalid(_request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)  # noqa: S101 - registered for this class only
    errors = [{"where": ".".join(map(str, e["loc"])), "what": e["msg"]} for e in error.errors()]
    detail = "; ".join(f"{e['where']}: {e['what']}" for e in errors[:3])
    return problem(422, "invalid_request", detail, errors=errors)


async def _http(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)  # noqa: S101 - registered for this class only
    headers = dict(error.headers or {})
    if error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
        headers["Allow"] = ", ".join(_methods(request))
    return problem(error.status_code, _KINDS.get(error.status_code, "http_error"), str(error.detail), headers=headers)


def _methods(request: Request) -> list[str]:
    """Every method of the path that was asked for; the router itself names those of the first route only."""
    routes = [route for route in request.app.routes if route.matches(request.scope)[0] is not Match.NONE]
    return sorted({method for route in routes for method in getattr(route, "methods", None) or ()})
