"""Clients that leave before their request is whole."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from starlette.types import Message

from llmslim_memory import Memory
from llmslim_memory.server.app import create_app


@pytest.mark.parametrize("path", ["/v1/import", "/v1/memories"])
async def test_a_client_that_leaves_within_its_body_stores_nothing_and_is_no_fault_of_ours(
    path: str, caplog: pytest.LogCaptureFixture
) -> None:
    memory = Memory()
    body = b'{"role": "user", "content": "half"}\n'
    arriving: list[Message] = [{"type": "http.request", "body": body, "more_body": True}, {"type": "http.disconnect"}]
    sent: list[Message] = []

    async def receive() -> Message:
        return arriving.pop(0)

    async def send(message: Message) -> None:
        sent.append(message)

    headers = [(b"host", b"127.0.0.1"), (b"content-type", b"application/json"), (b"content-length", b"500")]
    scope: dict[str, Any] = {"type": "http", "http_version": "1.1", "method": "POST", "path": path, "root_path": ""}
    scope |= {"raw_path": path.encode(), "query_string": b"user_id=ann", "headers": headers, "scheme": "http"}
    with caplog.at_level(logging.WARNING):
        await create_app(memory)(scope, receive, send)
    assert [message["status"] for message in sent if message["type"] == "http.response.start"] in ([], [400])
    assert caplog.text == ""
    assert memory.get_all(user_id="ann") == []
