"""A server in this process, with a token for Ann, one for Ben and one for everyone."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from fastapi.testclient import TestClient

from llmslim_memory import Memory
from llmslim_memory.server.app import create_app
from llmslim_memory.server.auth import TokenTable, new_token, token_line

ANN, BEN, ROOT = new_token(), new_token(), new_token()
TOKENS = TokenTable.parse("\n".join([token_line(ANN, ["ann"]), token_line(BEN, ["ben"]), token_line(ROOT, [])]))


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


@pytest.fixture
def memory() -> Memory:
    return Memory()


@pytest.fixture
def client(memory: Memory) -> Iterator[TestClient]:
    """A client without a token, of a server that asks for none."""
    with TestClient(create_app(memory), base_url="http://127.0.0.1:8080", raise_server_exceptions=False) as client:
        yield client


@pytest.fixture
def guarded(memory: Memory) -> Iterator[TestClient]:
    """A client of a server that asks for tokens."""
    app = create_app(memory, tokens=TOKENS, allowed_hosts=None)
    with TestClient(app, base_url="http://127.0.0.1:8080", raise_server_exceptions=False) as client:
        yield client
