"""The command that serves the memory to coding assistants and other MCP clients."""

from __future__ import annotations

from typing import Annotated

import typer

from llmslim_memory.cli.options import (
    DEFAULT_DB,
    DEFAULT_ENCODING,
    DEFAULT_USER,
    Db,
    Encoding,
    check_store,
    load_vocabulary_meanwhile,
    opened,
)
from llmslim_memory.cli.serve import AllowedHosts, Host, NoAuth, Port, RootPath, Tokens
from llmslim_memory.errors import MissingExtraError
from llmslim_memory.types import Scope


def mcp(
    db: Db = DEFAULT_DB,
    user: Annotated[str, typer.Option("--user", "-u", help="Whose memory, for every call.")] = DEFAULT_USER,
    agent: Annotated[str | None, typer.Option("--agent", "-a", help="Only this agent's memory.")] = None,
    run: Annotated[str | None, typer.Option("--run", "-r", help="Only this session's memory.")] = None,
    budget: Annotated[int, typer.Option(min=1, help="Tokens that recall spends by default.")] = 2000,
    allow_import: Annotated[bool, typer.Option(help="Offer a tool that imports this machine's chat exports.")] = False,
    http: Annotated[bool, typer.Option("--http", help="Serve over streamable HTTP at /mcp instead of stdio.")] = False,
    host: Host = "127.0.0.1",
    port: Port = 8765,
    tokens: Tokens = None,
    no_auth: NoAuth = False,
    allowed_host: AllowedHosts = None,
    root_path: RootPath = "",
    encoding: Encoding = DEFAULT_ENCODING,
) -> None:
    """Serve the memory over the Model Context Protocol: on stdio, or over HTTP with --http."""
    try:
        from llmslim_memory.server.mcp import create_server, http_app
    except ImportError as error:
        raise MissingExtraError("mcp needs an extra: pip install 'llmslim-memory[mcp]'") from error
    scope = Scope(user, agent, run)
    with opened(db, new=True, encoding=encoding) as memory:
        check_store(memory)
        load_vocabulary_meanwhile(memory)
        server = create_server(memory, scope, budget=budget, allow_import=allow_import)
        if not http:
            server.run("stdio")
            return
        from llmslim_memory.server.listening import run as listen
        from llmslim_memory.server.listening import settle

        listening = settle(
            host, port, tokens_file=tokens, no_auth=no_auth, allowed_hosts=allowed_host or (), root_path=root_path
        )
        listen(http_app(server, listening, user), listening, announce="serving MCP at /mcp")
