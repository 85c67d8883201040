"""Histories go in and come out, as JSONL."""

from __future__ import annotations

import json

from fastapi.testclient import TestClient

from llmslim_memory import Memory
from llmslim_memory.server.app import create_app
from tests.server.conftest import ANN, ROOT, bearer


def lines(*texts: str) -> bytes:
    said = [{"role": "user", "content": text, "id": str(n)} for n, text in enumerate(texts)]
    return b"".join(json.dumps(line).encode() + b"\n" for line in said)


def test_importing_again_adds_only_what_is_new(client: TestClient) -> None:
    first = client.post("/v1/import?user_id=ann", content=lines("a", "b")).json()
    again = client.post("/v1/import?user_id=ann", content=lines("a", "b", "c")).json()
    assert (first["imported"], again["imported"], again["duplicates"]) == (2, 1, 2)


def test_credentials_are_replaced_unless_told_not_to(client: TestClient) -> None:
    key = "AKIA" + "Q7ZRTXPLMWNB3KDV"
    assert client.post("/v1/import?user_id=ann", content=lines(f"my key is {key}")).json()["redactions"]
    assert key not in client.get("/v1/memories?user_id=ann").text


def test_an_export_restores_every_turn_exactly(client: TestClient, memory: Memory) -> None:
    said = [{"role": "user", "content": f"turn {n}", "metadata": {"n": n}} for n in range(450)]
    memory.add(said, user_id="ann", run_id="r", timestamp="2026-01-01")
    exported = client.get("/v1/export?user_id=ann")
    assert exported.headers["content-type"].startswith("application/x-ndjson")
    other = Memory()
    with TestClient(create_app(other), base_url="http://localhost") as second:
        report = second.post("/v1/import?format=llmslim-memory", content=exported.content).json()
    assert report["imported"] == 450
    assert other.get_all(user_id="ann") == memory.get_all(user_id="ann")


def test_an_export_of_everyone_must_name_a_scope(client: TestClient) -> None:
    assert client.get("/v1/export").status_code == 422


def test_what_is_no_history_is_refused_without_naming_a_path(client: TestClient) -> None:
    response = client.post("/v1/import?user_id=ann", content=b"\x00\x01\x02 not a history")
    assert "/" not in response.text.replace("application/", "")
    assert response.status_code == 422 or response.json()["malformed"] == 1


def test_a_bound_token_imports_for_its_user_only(guarded: TestClient, memory: Memory) -> None:
    theirs = json.dumps({"role": "user", "content": "forged", "user_id": "ben"}).encode()
    assert guarded.post("/v1/import", content=theirs, headers=bearer(ANN)).json()["imported"] == 1
    assert guarded.post("/v1/import?user_id=ben", content=theirs, headers=bearer(ANN)).status_code == 403
    own = guarded.post("/v1/import?format=llmslim-memory", content=theirs, headers=bearer(ANN))
    assert own.status_code == 403
    assert memory.get_all(user_id="ben") == []
    assert [item.content for item in memory.get_all(user_id="ann")] == ["forged"]
    assert guarded.get("/v1/export?user_id=ann", headers=bearer(ROOT)).status_code == 200
