"""Problem details (RFC 9457): a type for programs and a sentence for people."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from starlette.responses import JSONResponse

UNAVAILABLE = "the memory store can't be reached right now; try again shortly"
"""What is said, over HTTP and MCP alike, while the database is away."""


def problem(
    status: int, kind: str, detail: str, *, headers: Mapping[str, str] | None = None, **more: Any
) -> JSONResponse:
    """A response whose body says what went wrong."""
    body = {"type": kind, "title": HTTPStatus(status).phrase, "status": status, "detail": detail, **more}
    return JSONResponse(body, status, dict(headers or {}), media_type="application/problem+json")
