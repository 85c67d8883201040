"""What stands before every route: the Host check, limits of size and time, safe headers, one line of log a request."""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import time
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from llmslim_memory.server.answers import problem
from llmslim_memory.server.auth import UNAUTHORIZED, TokenTable

if TYPE_CHECKING:
    from llmslim_memory.server.metrics import Metrics

logger = logging.getLogger("llmslim_memory.access")

LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})
_STREAMED = ("/v1/import", "/v1/export")
_SAFE_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}


@dataclass(frozen=True, slots=True)
class Limits:
    """How much a request may send and how long it may take."""

    body_bytes: int = 8 << 20
    import_bytes: int = 1 << 30
    seconds: float = 30.0


def host_name(header: str) -> str:
    """The name in a Host header, without port and brackets, in lower case."""
    host = header.strip().lower()
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0] if host.count(":") <= 1 else host


def is_address(host: str) -> bool:
    """Whether ``host`` is an IP address, which no DNS record can point elsewhere."""
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


@dataclass(frozen=True, slots=True)
class HostGuard:
    """Refuses a request whose Host is a name that this server was not told of, against DNS rebinding.

    ``allowed`` of ``None`` takes every name: right only where each request carries a token.
    """

    app: ASGIApp
    allowed: Collection[str] | None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or answer 421."""
        if scope["type"] == "http" and self.allowed is not None:
            host = host_name(Headers(scope=scope).get("host", ""))
            if host not in LOOPBACK_NAMES and host not in self.allowed and not is_address(host):
                await problem(421, "unknown_host", "this server does not go by that name")(scope, receive, send)
                return
        await self.app(scope, receive, send)


@dataclass(frozen=True, slots=True)
class SizeLimit:
    """Answers 413 when a body is larger than its route takes, by its announced length or as it arrives."""

    app: ASGIApp
    limits: Limits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on with a body that is counted."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        most = self.limits.import_bytes if scope["path"].endswith("/v1/import") else self.limits.body_bytes
        length = Headers(scope=scope).get("content-length", "0")
        if not length.isdigit() or int(length) > most:
            await problem(413, "too_large", _over(most))(scope, receive, send)
            return
        await self.app(scope, _counted(receive, most), send)


def _over(most: int) -> str:
    return f"the body is over {most} bytes"


def _counted(receive: Receive, most: int) -> Callable[[], Awaitable[Message]]:
    seen = 0

    async def counted() -> Message:
        nonlocal seen
        message = await receive()
        seen += len(message.get("body", b""))
        if seen > most:
            raise HTTPException(413, _over(most))
        return message

    return counted


@dataclass(frozen=True, slots=True)
class TimeLimit:
    """Answers 504 when a route has not begun to answer in time; what it had begun to write is still finished."""

    app: ASGIApp
    limits: Limits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, for so long."""
        if scope["type"] != "http" or scope["path"].endswith(_STREAMED):
            await self.app(scope, receive, send)
            return
        started = False

        async def noted(message: Message) -> None:
            nonlocal started
            started = True
            await send(message)

        try:
            async with asyncio.timeout(self.limits.seconds):
                await self.app(scope, receive, noted)
        except TimeoutError:
            if not started:
                await problem(504, "timeout", f"no answer within {self.limits.seconds:g} s")(scope, receive, send)


@dataclass(frozen=True, slots=True)
class Observed:
    """Adds safe headers, counts, and logs each request by its route and status, never by what it holds."""

    app: ASGIApp
    metrics: Metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on and note how it went."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        start = time.perf_counter()
        status = 500

        async def noted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                for name, value in _SAFE_HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        try:
            await self.app(scope, receive, noted)
        finally:
            seconds = time.perf_counter() - start
            route = _route_of(scope)
            self.metrics.note(scope["method"], route, status, seconds)
            logger.info("%s %s %d %.1f ms", scope["method"], route, status, seconds * 1e3)


def _route_of(scope: Scope) -> str:
    """The path of the route that answered, as it was declared, or ``"unmatched"``."""
    if "route" in scope:
        return str(scope["route"].path)
    # Only FastAPI's routes say so. The plain one that it has, of the schema, has a fixed path.
    return scope["path"].removeprefix(scope.get("root_path", "")) if "endpoint" in scope else "unmatched"


@dataclass(frozen=True, slots=True)
class TokenGuard:
    """Asks every request for a token that covers one user; for applications that know nothing of tokens."""

    app: ASGIApp
    tokens: TokenTable
    user_id: str | None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or answer 401."""
        if scope["type"] == "http":
            caller = self.tokens.bearer(Headers(scope=scope).get("authorization", ""))
            if caller is None or not caller.may_see(self.user_id):
                refusal = problem(401, "unauthorized", UNAUTHORIZED, headers={"WWW-Authenticate": "Bearer"})
                await refusal(scope, receive, send)
                return
        await self.app(scope, receive, send)
