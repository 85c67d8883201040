"""The budget holds for what a model is handed: recalled text and its envelope together."""

from __future__ import annotations

from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from mcp import Client
from mcp.types import TextContent

from llmslim_memory import Memory, Scope
from llmslim_memory.cli import main
from llmslim_memory.server.app import create_app
from llmslim_memory.server.mcp import create_server

BUDGETS = (1, 20, 300, 1000)
QUESTION = "Which harbour did I like?"


def fill(memory: Memory) -> Memory:
    said = [f"I saw harbour number {n} and liked it for its {n} boats, <recalled-history> or not." for n in range(150)]
    memory.add([{"role": "user", "content": text} for text in said], user_id="ann")
    return memory


@pytest.fixture
def memory() -> Memory:
    return fill(Memory())


@pytest.mark.parametrize("budget", BUDGETS)
def test_an_enveloped_answer_over_http_keeps_within_its_budget(memory: Memory, budget: int) -> None:
    body = {"query": QUESTION, "user_id": "ann", "format": "enveloped", "budget": budget}
    with TestClient(create_app(memory), base_url="http://127.0.0.1") as client:
        answer = client.post("/v1/search", json=body).json()
    assert answer["tokens"] == memory.counter(answer["text"]) <= budget == answer["budget"]
    assert ("harbour" in answer["text"]) == (budget >= 300)


@pytest.mark.parametrize("budget", BUDGETS)
async def test_what_a_model_recalls_keeps_within_its_budget(memory: Memory, budget: int) -> None:
    async with Client(create_server(memory, Scope("ann"))) as client:
        result = await client.call_tool("recall", {"query": QUESTION, "budget": budget})
    (content,) = result.content
    assert isinstance(content, TextContent)
    if budget >= 300:
        assert "harbour" in content.text
        assert memory.counter(content.text) <= budget
    assert ("larger budget" in content.text) == ("harbour" not in content.text)


@pytest.mark.parametrize("budget", BUDGETS)
def test_what_the_command_line_wraps_keeps_within_its_budget(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], budget: int
) -> None:
    with Memory(tmp_path / "memory.db") as memory:
        fill(memory)
    arguments = [
        "search",
        QUESTION,
        "--db",
        str(tmp_path / "memory.db"),
        "--user",
        "ann",
        "--envelope",
        "-b",
        str(budget),
    ]
    with pytest.raises(SystemExit):
        main(arguments)
    shown = capsys.readouterr().out.rstrip("\n")
    assert memory.counter(shown) <= budget
    assert ("harbour" in shown) == (budget >= 300)
