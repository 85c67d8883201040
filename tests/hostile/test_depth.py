"""Nesting without end is refused on the way in, so that nothing stored is too deep to be read or sent on."""

from __future__ import annotations

from typing import Any

import pytest
from fastapi.testclient import TestClient

from llmslim_memory import Memory
from llmslim_memory.errors import InvalidValueError
from llmslim_memory.server.app import create_app


def nested(levels: int, kind: type) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = {"a": value} if kind is dict else [value]
    return value


def result_in_result(levels: int) -> Any:
    content: Any = "found"
    for _ in range(levels):
        content = [{"type": "tool_result", "content": content}]
    return content


@pytest.mark.parametrize("value", [nested(70, dict), {"a": nested(70, list)}, {"a": (nested(900, dict),)}])
def test_metadata_nested_too_deep_is_refused(value: Any) -> None:
    memory = Memory()
    with pytest.raises(InvalidValueError, match="64 levels deep"):
        memory.add({"role": "user", "content": "hello", "metadata": value}, user_id="ann")
    (item,) = memory.add({"role": "user", "content": "hello", "metadata": nested(64, dict)}, user_id="ann")
    with pytest.raises(InvalidValueError, match="64 levels deep"):
        memory.update(item.id, metadata=value)


@pytest.mark.parametrize("levels", [80, 5000])
def test_blocks_nested_too_deep_are_refused(levels: int) -> None:
    memory = Memory()
    with pytest.raises(InvalidValueError, match="64 levels deep"):
        memory.add({"role": "tool", "content": result_in_result(levels)}, user_id="ann")
    (item,) = memory.add({"role": "tool", "content": result_in_result(60)}, user_id="ann")
    assert item.content == "found"


def test_no_request_stores_a_turn_that_answers_cannot_hold() -> None:
    with TestClient(create_app(Memory()), base_url="http://127.0.0.1", raise_server_exceptions=False) as client:
        for metadata in (nested(240, dict), nested(800, dict), nested(64, dict)):
            message = {"role": "user", "content": "hello", "metadata": metadata}
            status = client.post("/v1/memories", json={"user_id": "ann", "messages": message}).status_code
            assert status == (201 if metadata == nested(64, dict) else 422)
        listed = client.get("/v1/memories", params={"user_id": "ann"})
        found = client.post("/v1/search", json={"user_id": "ann", "query": "hello"})
        assert (listed.status_code, found.status_code, len(listed.json()["items"])) == (200, 200, 1)
