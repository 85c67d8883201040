"""Importing a JSONL file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from llmslim_memory import Memory
from tests.cli.conftest import Command

LINES = [
    {"role": "user", "content": "I moved.", "timestamp": "2026-01-02T10:00:00Z", "session_id": "s1", "user_id": "ann"},
    {
        "role": "assistant",
        "content": "Where to?",
        "timestamp": "2026-01-02T10:01:00Z",
        "session_id": "s1",
        "user_id": "ann",
    },
    {"role": "user", "content": "ok", "id": "m7"},
    {"role": "user", "content": "ok"},
    {"role": "user", "content": "ok"},
]


@pytest.fixture
def history(tmp_path: Path) -> Path:
    path = tmp_path / "history.jsonl"
    path.write_text("\n\n".join(json.dumps(line) for line in LINES), encoding="utf-8")
    return path


def test_each_line_becomes_a_turn_of_its_user_and_session(command: Command, history: Path, db: Path) -> None:
    assert command("import", str(history)).out == "5 turns imported, 0 there already\n"
    with Memory(db) as memory:
        assert [item.content for item in memory.get_all(user_id="ann", run_id="s1")] == ["I moved.", "Where to?"]
        assert [item.content for item in memory.get_all(user_id="default")] == ["ok", "ok", "ok"]


def test_importing_again_adds_only_what_is_new(command: Command, history: Path) -> None:
    command("import", str(history))
    with history.open("a", encoding="utf-8") as file:
        file.write("\n" + json.dumps({"role": "user", "content": "new"}))
    assert json.loads(command("import", str(history), "--json").out) == {"imported": 1, "duplicates": 5}


def test_all_lines_can_be_stored_under_one_user(command: Command, history: Path, db: Path) -> None:
    command("import", str(history), "--user", "eve")
    with Memory(db) as memory:
        assert len(memory.get_all(user_id="eve")) == 5


@pytest.mark.parametrize("line", ["{", "[]", '{"role": "user"}', '"text"', "[" * 100_000])
def test_a_line_that_is_no_message_is_named(command: Command, history: Path, line: str) -> None:
    history.write_text(f"\n{line}", encoding="utf-8")
    done = command("import", str(history))
    assert done.code == 2
    assert "line 2 is no message" in done.err
