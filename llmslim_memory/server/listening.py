"""Where a server listens and who may ask, settled before it starts: open to a network only with tokens."""

from __future__ import annotations

import errno
import logging
import os
import socket
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

import uvicorn
from starlette.types import ASGIApp

from llmslim_memory.errors import InvalidValueError
from llmslim_memory.server.auth import TokenTable
from llmslim_memory.server.guards import LOOPBACK_NAMES

TOKENS_VARIABLE = "LLMSLIM_MEMORY_TOKENS"
GRACE_SECONDS = 30
KEEP_ALIVE_SECONDS = 75
"""Longer than a proxy keeps an idle connection, so that it never sends into one that is being closed."""


@dataclass(frozen=True, slots=True)
class Listening:
    """An address, the tokens it asks for (``None``: none), and the names it goes by (``None``: any)."""

    host: str
    port: int
    tokens: TokenTable | None
    allowed_hosts: Collection[str] | None
    root_path: str = ""


def settle(
    host: str,
    port: int,
    *,
    tokens_file: Path | None = None,
    no_auth: bool = False,
    allowed_hosts: Sequence[str] = (),
    root_path: str = "",
) -> Listening:
    """Check an address against who may ask.

    Raises:
        ValueError: The address can be reached from other machines and no token is asked for, or the tokens file cannot
            be read or holds none.
    """
    tokens = None if no_auth else _tokens(tokens_file)
    if tokens is None and not no_auth and host not in LOOPBACK_NAMES:
        raise InvalidValueError(
            f"{host} can be reached from other machines: pass --tokens FILE (or set {TOKENS_VARIABLE}), "
            "or --no-auth to serve everyone's memory to whoever asks"
        )
    names = frozenset(name.lower() for name in allowed_hosts)
    # A name that an attacker points here carries no token, so with tokens any name will do unless some are listed.
    return Listening(host, port, tokens, names if names or tokens is None else None, root_path)


def _tokens(file: Path | None) -> TokenTable | None:
    if file is not None:
        return TokenTable.parse(_read(file.expanduser()))
    text = os.environ.get(TOKENS_VARIABLE, "")
    return TokenTable.parse(text.replace(";", "\n")) if text.strip() else None


def _read(file: Path) -> str:
    try:
        return file.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise InvalidValueError(
            f"the tokens file {str(file)!r} cannot be read ({why}): it holds lines that `llmslim-memory token` prints"
        ) from error


def run(app: ASGIApp, listening: Listening, *, announce: str, page: str | None = None) -> None:
    """Serve until told to stop, then finish what was begun; ``page`` is the path of a page for people, if there is one.

    Raises:
        OSError: The address cannot be had; for one in use, the message says what to do.
    """
    family = socket.AF_INET6 if ":" in listening.host else socket.AF_INET
    with _listener(listening, family) as listener:
        # Connections inherit it; without it an answer in two pieces waits 40 ms for the client's acknowledgement.
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        port = listener.getsockname()[1]
        shown = f"[{listening.host}]" if family is socket.AF_INET6 else listening.host
        logging.getLogger("llmslim_memory").setLevel(logging.INFO)
        url = f"http://{shown}:{port}{listening.root_path}"
        logging.getLogger(__name__).info("%s on %s%s", announce, url, f" (inspector: {url}{page})" if page else "")
        config = uvicorn.Config(
            app,
            log_config=None,
            access_log=False,
            server_header=False,
            timeout_keep_alive=KEEP_ALIVE_SECONDS,
            root_path=listening.root_path,
            timeout_graceful_shutdown=GRACE_SECONDS,
        )
        uvicorn.Server(config).run(sockets=[listener])


def _listener(listening: Listening, family: socket.AddressFamily) -> socket.socket:
    try:
        return socket.create_server((listening.host, listening.port), family=family, backlog=2048)
    except OSError as error:
        if error.errno != errno.EADDRINUSE:
            raise
        taken = f"port {listening.port} of {listening.host} is in use: stop what listens there, or pass another --port"
        raise OSError(taken) from error
