"""What a model imports lies in the scope that its server was started for."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from mcp import Client

from llmslim_memory import Memory, Scope
from llmslim_memory.errors import InvalidValueError
from llmslim_memory.server.mcp import create_server


async def test_an_import_cannot_leave_the_scope(tmp_path: Path) -> None:
    line = {"role": "user", "content": "hello", "user_id": "ben", "agent_id": "other", "session_id": "s"}
    file = tmp_path / "chat.jsonl"
    file.write_text(json.dumps(line) + "\n", "utf-8")
    memory = Memory()
    async with Client(create_server(memory, Scope("ann", "bot"), allow_import=True)) as client:
        await client.call_tool("import_history", {"path": str(file)})
    assert [(found.user_id, found.agent_id, found.turns) for found in memory.scopes()] == [("ann", "bot", 1)]


def test_a_memory_of_one_session_takes_no_imports() -> None:
    with pytest.raises(InvalidValueError, match="one session cannot take imports"):
        create_server(Memory(), Scope("ann", run_id="s"), allow_import=True)
