"""The MCP server, asked by the SDK's own client over real stdio and real HTTP."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from mcp import Client, StdioServerParameters
from mcp.types import CallToolResult, TextContent

from llmslim_memory import AsyncMemory, InMemoryStore, Memory, MemoryItem, Scope, StoreUnavailableError
from llmslim_memory.server.auth import new_token, token_line
from llmslim_memory.server.mcp import LISTED_CHARACTERS, UNAVAILABLE, create_server
from tests.server.processes import serving

NAMES = {"recall", "remember", "list_memories", "forget"}


def text_of(result: CallToolResult) -> str:
    (content,) = result.content
    assert isinstance(content, TextContent)
    return content.text


@asynccontextmanager
async def over_stdio(folder: Path, *arguments: str) -> AsyncIterator[Client]:
    command = ["-m", "llmslim_memory", "mcp", "--db", str(folder / "memory.db"), *arguments]
    async with Client(StdioServerParameters(command=sys.executable, args=command)) as client:
        yield client


async def call(client: Client, tool: str, **arguments: Any) -> CallToolResult:
    return await client.call_tool(tool, arguments)


async def test_over_stdio_it_remembers_across_processes(tmp_path: Path) -> None:
    async with over_stdio(tmp_path) as client:
        assert {tool.name for tool in (await client.list_tools()).tools} == NAMES
        assert "Kept as" in text_of(await call(client, "remember", content="I moved to Pune."))
    async with over_stdio(tmp_path) as client:
        recalled = text_of(await call(client, "recall", query="Where do I live?"))
        assert "Pune" in recalled
        assert "untrusted" in recalled
    with Memory(tmp_path / "memory.db") as memory:
        assert [item.user_id for item in memory.get_all(user_id="default")] == ["default"]


async def test_the_model_cannot_leave_the_scope(tmp_path: Path) -> None:
    with Memory(tmp_path / "memory.db") as memory:
        (theirs,) = memory.add({"role": "user", "content": "the secret heron"}, user_id="ben", run_id="s")
        memory.add({"role": "user", "content": "hello"}, user_id="ann", run_id="s")
    async with over_stdio(tmp_path, "--user", "ann") as client:
        for tool in (await client.list_tools()).tools:
            assert not {"user_id", "agent_id", "run_id"} & set(tool.input_schema.get("properties", {}))
        assert "heron" not in text_of(await call(client, "recall", query="secret heron", user_id="ben"))
        assert "heron" not in text_of(await call(client, "list_memories"))
        refused = await call(client, "forget", memory_id=theirs.id)
        unknown = await call(client, "forget", memory_id="0" * 32)
        assert refused.is_error
        assert text_of(refused).replace(theirs.id, "") == text_of(unknown).replace("0" * 32, "")
        resource = await client.read_resource("memory://sessions/s")
        assert "heron" not in resource.contents[0].text  # type: ignore[union-attr]
    with Memory(tmp_path / "memory.db") as memory:
        assert memory.get(theirs.id) is not None


async def test_tools_say_whether_they_read_or_erase() -> None:
    async with Client(create_server(Memory(), Scope("ann"), allow_import=True)) as client:
        tools = {tool.name: tool.annotations for tool in (await client.list_tools()).tools}
    assert set(tools) == {*NAMES, "import_history"}
    assert tools["recall"] is not None
    assert tools["recall"].read_only_hint
    assert tools["forget"] is not None
    assert tools["forget"].destructive_hint


async def test_a_listing_goes_page_by_page_and_forgets_by_id() -> None:
    memory = Memory()
    items = memory.add([{"role": "user", "content": f"thing {n}"} for n in range(3)], user_id="ann")
    async with Client(create_server(memory, Scope("ann"))) as client:
        page = text_of(await call(client, "list_memories", limit=2))
        assert "thing 1" in page
        assert "thing 2" not in page
        cursor = page.rsplit("cursor ", 1)[1]
        assert "thing 2" in text_of(await call(client, "list_memories", limit=2, cursor=cursor))
        await call(client, "forget", memory_id=items[0].id)
        assert "thing 0" not in text_of(await call(client, "list_memories"))
        assert "Nothing in memory" in text_of(await call(client, "recall", query="zxqv plorf", budget=5))


async def test_a_listing_of_large_turns_is_bounded_and_loses_none() -> None:
    memory = Memory()
    memory.add([{"role": "user", "content": f"thing-{n} " + "word " * 50_000} for n in range(30)], user_id="ann")
    async with Client(create_server(memory, Scope("ann"))) as client:
        pages, cursor = [], None
        while True:
            page = text_of(await call(client, "list_memories", limit=100, cursor=cursor))
            assert len(page) < LISTED_CHARACTERS + 1_000
            assert "more characters]" in page
            pages.append(page)
            if "More: cursor " not in page:
                break
            cursor = page.rsplit("cursor ", 1)[1]
        assert len(pages) > 1
        assert [int(n) for n in re.findall(r"thing-(\d+)", "".join(pages))] == list(range(30))


async def test_a_large_session_is_bounded_and_says_what_it_leaves_out() -> None:
    memory = Memory()
    memory.add([{"role": "user", "content": "word " * 500} for _ in range(100)], user_id="ann", run_id="long")
    async with Client(create_server(memory, Scope("ann"))) as client:
        read = (await client.read_resource("memory://sessions/long")).contents[0].text  # type: ignore[union-attr]
        assert len(read) < LISTED_CHARACTERS + 1_000
        shown = read.count("] user: ")
        assert f"Not shown: {100 - shown} later turns" in read


@pytest.mark.parametrize("content", ["", " \n\t"])
async def test_blank_text_is_not_remembered(content: str) -> None:
    memory = Memory()
    async with Client(create_server(memory, Scope("ann"))) as client:
        refused = await call(client, "remember", content=content)
        assert refused.is_error
        assert "blank" in text_of(refused)
    assert memory.get_all(user_id="ann") == []


async def test_sessions_are_resources() -> None:
    memory = Memory()
    memory.add({"role": "user", "content": "hello"}, user_id="ann", run_id="r 1/ä")
    async with Client(create_server(memory, Scope("ann"))) as client:
        listed = await client.read_resource("memory://sessions")
        assert json.loads(listed.contents[0].text)[0]["run_id"] == "r 1/ä"  # type: ignore[union-attr]
        read = await client.read_resource("memory://sessions/r%201%2F%C3%A4")
        assert "hello" in read.contents[0].text  # type: ignore[union-attr]


async def test_an_export_is_imported_where_that_is_allowed(tmp_path: Path) -> None:
    chat = tmp_path / "chat.jsonl"
    chat.write_text('{"role": "user", "content": "I like tea"}\n')
    memory = Memory()
    async with Client(create_server(memory, Scope("ann"), allow_import=True)) as client:
        assert "1 turns imported" in text_of(await call(client, "import_history", path=str(chat)))
        assert (await call(client, "import_history", path="/does/not/exist")).is_error
    assert [item.content for item in memory.get_all(user_id="ann")] == ["I like tea"]


class Flaky(InMemoryStore):
    down = False

    def changes(self, *args: Any, **kwargs: Any) -> Any:
        if self.down:
            raise StoreUnavailableError("db.internal:5432 refused root")
        return super().changes(*args, **kwargs)

    def get(self, item_id: str) -> MemoryItem | None:
        if self.down:
            raise RuntimeError("db.internal:5432")
        return super().get(item_id)


async def test_when_the_store_is_down_it_says_so_and_works_again_after() -> None:
    store = Flaky()
    async with Client(create_server(AsyncMemory(store), Scope("ann"))) as client:
        await call(client, "remember", content="I like tea")
        store.down = True
        failed = await call(client, "recall", query="tea")
        assert failed.is_error
        assert UNAVAILABLE in text_of(failed)
        assert "internal" not in text_of(await call(client, "forget", memory_id="x"))
        store.down = False
        assert "tea" in text_of(await call(client, "recall", query="tea"))


async def test_over_http_it_answers_with_a_token_of_its_user_only(tmp_path: Path) -> None:
    ann, ben = new_token(), new_token()
    tokens = tmp_path / "tokens"
    tokens.write_text(f"{token_line(ann, ['ann'])}\n{token_line(ben, ['ben'])}\n")
    arguments = ["mcp", "--http", "--db", str(tmp_path / "m.db"), "--user", "ann", "--tokens", str(tokens)]
    with serving(arguments) as served:
        url = f"{served.url}/mcp"
        for headers in ({}, {"Authorization": f"Bearer {ben}"}):
            async with httpx.AsyncClient(headers=headers) as plain:
                assert (await plain.post(url, json={})).status_code == 401
        async with over_http(url, ann) as client:
            await call(client, "remember", content="I moved to Pune.")
            assert "Pune" in text_of(await call(client, "recall", query="Where do I live?"))


@asynccontextmanager
async def over_http(url: str, token: str) -> AsyncIterator[Client]:
    from mcp.client.streamable_http import create_mcp_http_client, streamable_http_client

    async with (
        create_mcp_http_client(headers={"Authorization": f"Bearer {token}"}) as session,
        Client(streamable_http_client(url, http_client=session)) as client,
    ):
        yield client


async def test_over_http_a_foreign_host_is_refused(tmp_path: Path) -> None:
    with serving(["mcp", "--http", "--db", str(tmp_path / "m.db")]) as served:
        async with httpx.AsyncClient() as plain:
            response = await plain.post(f"{served.url}/mcp", json={}, headers={"Host": "evil.example"})
            assert response.status_code == 421


@pytest.mark.parametrize("command", ["mcp", "serve"])
@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--db", "postgresql://ann:hunter2@127.0.0.1:1/x"], "cannot be reached"),
        (["--db", "nosuch://ann:hunter2@127.0.0.1:1/x"], "nosuch"),
        (["--db", "mongodb://ann:hunter2@[::1/x"], ""),
    ],
)
def test_a_store_that_cannot_be_opened_ends_in_one_line_without_its_password(
    command: str, arguments: list[str], says: str
) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "llmslim_memory", command, *arguments], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1
    assert says in done.stderr
    assert "hunter2" not in done.stderr


def test_an_address_that_others_reach_needs_tokens(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "llmslim_memory", "serve", "--db", str(tmp_path / "m.db"), "--host", "0.0.0.0"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)
    assert "--tokens" in done.stderr
    assert not (tmp_path / "m.db").exists()
