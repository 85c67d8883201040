"""The commands that serve the memory over HTTP and make the tokens that open it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from llmslim_memory.cli.options import (
    DEFAULT_DB,
    DEFAULT_ENCODING,
    Db,
    Encoding,
    Json,
    check_store,
    load_vocabulary_meanwhile,
    opened,
)
from llmslim_memory.cli.output import show, show_json
from llmslim_memory.errors import MissingExtraError

Host = Annotated[str, typer.Option("--host", help="Address to listen on; beyond this machine only with tokens.")]
Port = Annotated[int, typer.Option("--port", min=0, max=65535, help="Port to listen on; 0 picks a free one.")]
Tokens = Annotated[
    Path | None,
    typer.Option("--tokens", help="File of token hashes and users (see `token`), or LLMSLIM_MEMORY_TOKENS."),
]
NoAuth = Annotated[bool, typer.Option("--no-auth", help="Ask for no token, whoever can reach the address.")]
AllowedHosts = Annotated[
    list[str] | None, typer.Option("--allowed-host", help="A name this server goes by; may be given several times.")
]
RootPath = Annotated[str, typer.Option("--root-path", help="The prefix under which a proxy serves it, like /memory.")]


def serve(
    db: Db = DEFAULT_DB,
    host: Host = "127.0.0.1",
    port: Port = 8080,
    tokens: Tokens = None,
    no_auth: NoAuth = False,
    allowed_host: AllowedHosts = None,
    root_path: RootPath = "",
    timeout: Annotated[float, typer.Option(min=0.1, help="Seconds a request may take.")] = 30.0,
    max_body: Annotated[int, typer.Option(min=1024, help="Bytes a request may send.")] = 8 << 20,
    max_import: Annotated[int, typer.Option(min=1024, help="Bytes an import may send.")] = 1 << 30,
    encoding: Encoding = DEFAULT_ENCODING,
    workers: Annotated[int, typer.Option(min=0, help="Processes that search beside this one, to use more cores.")] = 0,
) -> None:
    """Serve the memory over HTTP, with an inspector page at /ui; Ctrl-C finishes what was begun and stops."""
    try:
        from llmslim_memory.server.app import create_app
        from llmslim_memory.server.guards import Limits
        from llmslim_memory.server.listening import run, settle
    except ImportError as error:
        raise MissingExtraError("serve needs an extra: pip install 'llmslim-memory[server]'") from error
    listening = settle(
        host, port, tokens_file=tokens, no_auth=no_auth, allowed_hosts=allowed_host or (), root_path=root_path
    )
    with opened(db, new=True, encoding=encoding, workers=workers) as memory:
        check_store(memory)
        load_vocabulary_meanwhile(memory)
        app = create_app(
            memory,
            tokens=listening.tokens,
            allowed_hosts=listening.allowed_hosts,
            limits=Limits(body_bytes=max_body, import_bytes=max_import, seconds=timeout),
        )
        run(app, listening, announce="serving memory", page="/ui/")


def token(
    user: Annotated[
        list[str] | None, typer.Option("--user", "-u", help="Whose memory it opens: all by default.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Make a token: shown once, with the line that lets it in, for the file that `serve --tokens` reads."""
    try:
        from llmslim_memory.server.auth import new_token, token_line
    except ImportError as error:
        raise MissingExtraError("token needs an extra: pip install 'llmslim-memory[server]'") from error
    secret = new_token()
    line = token_line(secret, user or [])
    if as_json:
        show_json({"token": secret, "line": line})
    else:
        show(f"token (keep it, it is not shown again):\n  {secret}\nline for the tokens file:\n  {line}")
