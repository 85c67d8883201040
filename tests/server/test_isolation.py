"""By no route, parameter, header or cursor does a token of Ann reach Ben's turns."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from fastapi.testclient import TestClient

from llmslim_memory import AsyncMemory, Memory, MemoryItem
from llmslim_memory.errors import InvalidValueError
from llmslim_memory.server import memories
from llmslim_memory.server.app import create_app
from llmslim_memory.server.auth import TokenTable, new_token, token_line
from llmslim_memory.server.listening import settle
from tests.server.conftest import ANN, BEN, ROOT, bearer

SECRET = "heron-7731"


@pytest.fixture
def theirs(memory: Memory) -> str:
    """Ben's one turn; its id."""
    (item,) = memory.add(
        {"role": "user", "content": f"my secret is {SECRET}", "id": "m1"}, user_id="ben", agent_id="bot", run_id="s"
    )
    return item.id


def everything_ann_can_ask(item_id: str) -> list[tuple[str, str, dict[str, Any] | None]]:
    message = {"role": "user", "content": "overwritten", "id": "m1"}
    scopes: list[dict[str, Any]] = [{"user_id": "ben"}, {"agent_id": "bot"}, {"run_id": "s"}, {"user_id": "*"}, {}]
    asked: list[tuple[str, str, dict[str, Any] | None]] = [
        ("GET", f"/v1/memories/{item_id}", None),
        ("PATCH", f"/v1/memories/{item_id}", {"content": "overwritten"}),
        ("DELETE", f"/v1/memories/{item_id}", None),
        ("GET", "/v1/scopes", None),
        ("GET", "/metrics", None),
    ]
    for scope in scopes:
        query = "&".join(f"{name}={value}" for name, value in scope.items())
        asked += [
            ("GET", f"/v1/memories?{query}", None),
            ("GET", f"/v1/export?{query}", None),
            ("DELETE", f"/v1/memories?{query}", None),
            ("POST", "/v1/search", {"query": "secret", "explain": True, **scope}),
            ("POST", "/v1/memories", {"messages": [message], "on_conflict": "update", **scope}),
        ]
    return asked


def test_nothing_of_ben_is_read_changed_counted_or_deleted(guarded: TestClient, memory: Memory, theirs: str) -> None:
    for method, path, body in everything_ann_can_ask(theirs):
        response = guarded.request(method, path, json=body, headers=bearer(ANN))
        assert SECRET not in response.text, path
        assert "ben" not in response.text or response.status_code in (403, 422), path
        assert theirs not in response.text, path
    (kept,) = memory.get_all(user_id="ben")
    assert kept.content == f"my secret is {SECRET}"
    assert [hit.item.id for hit in memory.rank("secret", user_id="ben")] == [theirs]


def test_anothers_turn_is_answered_like_one_that_does_not_exist(guarded: TestClient, theirs: str) -> None:
    for method, body in (("GET", None), ("PATCH", {"content": "x"}), ("DELETE", None)):
        real, unknown = (
            guarded.request(method, f"/v1/memories/{name}", json=body, headers=bearer(ANN))
            for name in (theirs, "0" * 32)
        )
        assert (real.status_code, real.json()) == (unknown.status_code, unknown.json())
        assert real.status_code == 404


OPEN = {"/healthz", "/readyz", "/openapi.json", "/", "/ui", "/ui/", "/ui/app.js", "/ui/icon.svg", "/ui/style.css"}
"""Routes that hold nothing of anybody and ask for no token."""

BODIES: dict[tuple[str, str], dict[str, Any]] = {
    ("POST", "/v1/memories"): {"messages": [{"role": "user", "content": "overwritten", "id": "m1"}]},
    ("POST", "/v1/search"): {"query": "secret", "explain": True},
    ("PATCH", "/v1/memories/{memory_id}"): {"content": "overwritten"},
    ("POST", "/v1/import"): {"role": "user", "content": "overwritten", "id": "m1", "user_id": "ben"},
}


def every_route() -> list[tuple[str, str]]:
    """Each method of each path that the application answers, however it was added."""
    routes = list(create_app(Memory()).routes)
    found = []
    while routes:
        route = routes.pop()
        routes += getattr(getattr(route, "original_router", None), "routes", [])
        path = getattr(route, "path", None)
        if path is not None:
            found += [(method, path) for method in (getattr(route, "methods", None) or {"GET"}) if method != "HEAD"]
    return sorted(set(found))


def test_every_route_is_either_open_on_purpose_or_asks_for_a_token(guarded: TestClient) -> None:
    asked = every_route()
    assert len(asked) > 15
    for method, path in asked:
        answer = guarded.request(method, path.replace("{memory_id}", "x"))
        assert (answer.status_code == 401) is (path not in OPEN), (method, path)


def test_no_route_gives_ann_anything_of_ben_by_scope_header_cursor_or_key(
    guarded: TestClient, memory: Memory, theirs: str
) -> None:
    memory.add({"role": "user", "content": "another of ben"}, user_id="ben")
    guarded.post("/v1/memories", json=BODIES["POST", "/v1/memories"] | {"user_id": "ben"}, headers=bearer(BEN))
    cursor = guarded.get("/v1/memories?limit=1", headers=bearer(BEN)).json()["next_cursor"]
    before = memory.get_all(user_id="ben")
    keyed = {"Idempotency-Key": "k", "X-User-Id": "ben", "X-Forwarded-User": "ben"}
    scopes = [{"user_id": "ben"}, {"agent_id": "bot"}, {"run_id": "s"}, {"user_id": "BEN"}, {"user_id": "*"}, {}]
    for method, path in every_route():
        for scope in scopes:
            for more in ({}, {"cursor": cursor}):
                body = BODIES.get((method, path))
                response = guarded.request(
                    method,
                    path.replace("{memory_id}", theirs),
                    params={**scope, **more},
                    json=body if body is None or path == "/v1/import" else {**body, **scope},
                    headers={**bearer(ANN), **keyed},
                )
                assert response.status_code < 500, (method, path, scope)
                for secret in (SECRET, theirs, "another of ben"):
                    assert secret not in response.text, (method, path, scope)
    assert memory.get_all(user_id="ben") == before


def test_the_same_key_of_two_users_tells_neither_of_the_other(guarded: TestClient) -> None:
    body = {"messages": [{"role": "user", "content": "mine"}]}
    answers = [
        guarded.post("/v1/memories", json=body, headers={**bearer(token), "Idempotency-Key": "k"})
        for token in (BEN, ANN)
    ]
    assert [answer.status_code for answer in answers] == [201, 201]
    assert answers[0].json()["items"][0]["id"] != answers[1].json()["items"][0]["id"]


@pytest.mark.parametrize("method", ["GET", "PATCH", "DELETE"])
def test_a_miss_takes_the_same_steps_and_the_same_time_whether_or_not_the_turn_exists(
    guarded: TestClient, memory: Memory, theirs: str, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    """The clock stands, but for 4 ms that finding another's turn takes and 1 ms that finding none does."""
    steps: list[str] = []
    now = 0.0
    found = Memory.get

    def get(self: Memory, memory_id: str) -> MemoryItem | None:
        nonlocal now
        item = found(self, memory_id)
        steps.append("get")
        now += 0.001 if item is None else 0.004
        return item

    async def sleep(seconds: float) -> None:
        nonlocal now
        steps.append("sleep")
        now += seconds

    monkeypatch.setattr(AsyncMemory, "get", _off_the_loop(get))
    monkeypatch.setattr(memories, "asyncio", SimpleNamespace(sleep=sleep))
    monkeypatch.setattr(memories, "time", SimpleNamespace(perf_counter=lambda: now))
    taken = []
    for name in (theirs, "0" * 32):
        start = now
        body = {"content": "x"} if method == "PATCH" else None
        assert guarded.request(method, f"/v1/memories/{name}", json=body, headers=bearer(ANN)).status_code == 404
        taken.append(now - start)
    assert steps == ["get", "sleep"] * 2
    assert taken == [pytest.approx(memories.MISS_SECONDS)] * 2


def _off_the_loop(get: Callable[[Memory, str], MemoryItem | None]) -> Any:
    async def call(self: AsyncMemory, memory_id: str) -> MemoryItem | None:
        return get(self.open(), memory_id)

    return call


def test_scopes_show_only_ones_own(guarded: TestClient, theirs: str) -> None:
    assert guarded.get("/v1/scopes", headers=bearer(ANN)).json() == {"scopes": []}
    assert [s["user_id"] for s in guarded.get("/v1/scopes", headers=bearer(BEN)).json()["scopes"]] == ["ben"]


def test_a_token_for_all_reaches_all(guarded: TestClient, theirs: str) -> None:
    found = guarded.post("/v1/search", json={"query": "secret", "user_id": "ben"}, headers=bearer(ROOT))
    assert SECRET in found.text
    assert guarded.get("/metrics", headers=bearer(ROOT)).status_code == 200


@pytest.mark.parametrize(
    "header", ["", "Bearer", "Bearer ", "Basic abc", "Bearer wrong", f"Token {ANN}", f"bearer{ANN}"], ids=range(7)
)  # ids of its own, since a token is new in each process
def test_without_a_valid_token_every_route_but_health_is_closed(guarded: TestClient, header: str) -> None:
    for method, path in [
        ("GET", "/v1/memories?user_id=ann"),
        ("POST", "/v1/memories"),
        ("DELETE", "/v1/memories?user_id=ann"),
        ("GET", "/v1/memories/x"),
        ("PATCH", "/v1/memories/x"),
        ("DELETE", "/v1/memories/x"),
        ("POST", "/v1/search"),
        ("GET", "/v1/scopes"),
        ("GET", "/metrics"),
    ]:
        response = guarded.request(method, path, headers={"Authorization": header} if header else {})
        assert response.status_code == 401, path
        assert response.headers["www-authenticate"] == "Bearer"
    assert guarded.get("/healthz").status_code == 200


def test_a_listing_of_ann_does_not_show_how_much_ben_writes(guarded: TestClient, memory: Memory) -> None:
    def cursor() -> str:
        text: str = guarded.get("/v1/memories?limit=1", headers=bearer(ANN)).json()["next_cursor"]
        return text

    memory.add([{"role": "user", "content": str(n)} for n in range(3)], user_id="ann")
    before = cursor()
    memory.add([{"role": "user", "content": str(n)} for n in range(500)], user_id="ben")
    assert len(before) == len(cursor())
    items = guarded.get("/v1/memories", headers=bearer(ANN)).json()["items"]
    assert all("seq" not in item for item in items)


def test_one_token_can_be_bound_to_several_users() -> None:
    token = new_token()
    caller = TokenTable.parse(token_line(token, ["ann", "ben"])).find(token)
    assert caller is not None
    assert caller.users == {"ann", "ben"}
    with pytest.raises(InvalidValueError, match="user_id is missing"):
        caller.user(None)


@pytest.mark.parametrize("text", ["", "# nothing", "abc ann", "zz" * 32 + " ann", "ab" * 32, "ab" * 32 + " ,"])
def test_a_tokens_file_that_makes_no_sense_is_refused_without_showing_it(text: str) -> None:
    with pytest.raises(InvalidValueError) as caught:
        TokenTable.parse(text)
    assert "ab" * 32 not in str(caught.value)


@pytest.mark.parametrize("content", [None, b"\xff\xfe"])
def test_a_tokens_file_that_cannot_be_read_is_named(tmp_path: Path, content: bytes | None) -> None:
    file = tmp_path / "tokens.txt"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(InvalidValueError, match=r"tokens\.txt' cannot be read .*llmslim-memory token"):
        settle("127.0.0.1", 8080, tokens_file=file)


def test_a_token_of_some_users_is_forbidden_to_see_the_figures_of_all(guarded: TestClient) -> None:
    answer = guarded.get("/metrics", headers=bearer(ANN))
    assert (answer.status_code, answer.json()["type"]) == (403, "forbidden")


def test_comments_and_blank_lines_are_passed_over() -> None:
    token = new_token()
    table = TokenTable.parse(f"# tokens\n\n{token_line(token, [])}  # the operator\n")
    found = table.find(token)
    assert found is not None
    assert found.users is None
    assert table.find(token + "x") is None
    assert token not in repr(table)
