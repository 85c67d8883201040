"""Requests that come again under their Idempotency-Key, late, mended, or after what they stored was changed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from fastapi.testclient import TestClient

from llmslim_memory import Memory
from llmslim_memory.server.app import create_app

BODY = {"user_id": "ann", "messages": [{"role": "user", "content": "one"}, {"role": "assistant", "content": "two"}]}


@pytest.fixture
def client() -> Iterator[TestClient]:
    with TestClient(create_app(Memory()), base_url="http://127.0.0.1", raise_server_exceptions=False) as client:
        yield client


def send(client: TestClient, key: str, body: dict[str, Any]) -> Any:
    return client.post("/v1/memories", json=body, headers={"Idempotency-Key": key})


def contents(client: TestClient) -> list[str]:
    return [item["content"] for item in client.get("/v1/memories", params={"user_id": "ann"}).json()["items"]]


def test_a_late_retry_leaves_an_edited_turn_as_it_is(client: TestClient) -> None:
    first = send(client, "k", BODY).json()["items"][0]["id"]
    client.patch(f"/v1/memories/{first}", json={"content": "corrected"})
    assert send(client, "k", BODY).status_code == 201
    assert contents(client) == ["corrected", "two"]


def test_a_late_retry_does_not_bring_back_a_deleted_turn(client: TestClient) -> None:
    first = send(client, "k", BODY).json()["items"][0]["id"]
    client.delete(f"/v1/memories/{first}")
    answer = send(client, "k", BODY)
    assert (answer.status_code, [item["content"] for item in answer.json()["items"]]) == (201, ["two"])
    assert contents(client) == ["two"]


def test_a_late_retry_does_not_bring_back_an_erased_scope(client: TestClient) -> None:
    send(client, "k", BODY)
    client.delete("/v1/memories", params={"user_id": "ann"})
    assert send(client, "k", BODY).json() == {"items": []}
    assert contents(client) == []


def test_after_a_scope_was_erased_its_keys_store_other_messages(client: TestClient) -> None:
    send(client, "k", BODY)
    client.delete("/v1/memories", params={"user_id": "ann"})
    send(client, "k", {"user_id": "ann", "messages": {"role": "user", "content": "three"}})
    assert contents(client) == ["three"]


@pytest.mark.parametrize(
    "wrong",
    [
        {"messages": {"role": "USER", "content": "one"}},
        {"messages": {"role": "user", "content": "one"}, "timestamp": "yesterday"},
    ],
)
def test_a_request_that_could_not_be_stored_leaves_its_key_to_the_mended_one(
    client: TestClient, wrong: dict[str, Any]
) -> None:
    assert send(client, "k", {"user_id": "ann", **wrong}).status_code == 422
    assert send(client, "k", BODY).status_code == 201
    assert send(client, "k", {**BODY, "agent_id": None, "messages": BODY["messages"][:1]}).status_code == 409
    assert contents(client) == ["one", "two"]
