"""Importing chats from files, and exporting them."""

from __future__ import annotations

import json
import re
import sys
import time
from io import StringIO
from pathlib import Path

import pytest

from llmslim_memory import Memory
from llmslim_memory.cli.files import _bytes_read
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
    assert command("import", str(history)).out.endswith("5 turns imported, 0 there already\n")
    with Memory(db) as memory:
        assert [item.content for item in memory.get_all(user_id="ann", run_id="s1")] == ["I moved.", "Where to?"]
        assert [item.content for item in memory.get_all(user_id="default")] == ["ok", "ok", "ok"]


def test_importing_again_adds_only_what_is_new(command: Command, history: Path) -> None:
    command("import", str(history))
    with history.open("a", encoding="utf-8") as file:
        file.write("\n" + json.dumps({"role": "user", "content": "new"}))
    report = json.loads(command("import", str(history), "--json").out)
    assert (report["imported"], report["duplicates"], report["seen"]) == (1, 5, 6)


def test_all_lines_can_be_stored_under_one_user(command: Command, history: Path, db: Path) -> None:
    command("import", str(history), "--user", "eve")
    with Memory(db) as memory:
        assert len(memory.get_all(user_id="eve")) == 5


@pytest.mark.parametrize("line", ["{", "[]", '{"role": "user"}', '"text"', "[" * 100_000])
def test_a_file_without_messages_is_named_with_what_was_looked_at(command: Command, history: Path, line: str) -> None:
    history.write_text(f"\n{line}", encoding="utf-8")
    done = command("import", str(history))
    assert done.code == 2
    assert "'history.jsonl'" in done.err


@pytest.mark.parametrize("line", ["{", "[]", '{"role": "user"}', '"text"', "[" * 100_000])
def test_a_strict_import_names_the_line_that_is_no_message(command: Command, history: Path, line: str) -> None:
    history.write_text(f'{{"role": "user", "content": "hi"}}\n{line}', encoding="utf-8")
    assert command("import", str(history)).code == 0
    done = command("import", str(history), "--strict")
    assert done.code == 2
    assert "line 2" in done.err


def test_a_dry_run_says_what_would_be_imported_and_makes_no_database(command: Command, history: Path, db: Path) -> None:
    assert command("import", str(history), "--dry-run").out.endswith("5 turns would be imported, 0 there already\n")
    assert not db.exists()


def test_the_summary_lists_sessions_reasons_and_credentials(command: Command, history: Path) -> None:
    key = "ghp_" + "k3Jd9sLq2WvT7xZb5NcR8mYp4HgF6tUa1EoS"
    with history.open("a", encoding="utf-8") as file:
        file.write("\n" + json.dumps({"role": "tool", "content": "42"}))
        file.write("\n" + json.dumps({"role": "user", "content": f"the key is {key}"}))
    done = command("import", str(history))
    assert "s1" in done.out
    assert "tool_output" in done.out
    assert "github 1" in done.out
    assert key not in done.out + done.err


def test_a_file_that_breaks_off_is_imported_as_far_as_it_goes_and_the_exit_code_says_so(
    command: Command, tmp_path: Path
) -> None:
    folder = tmp_path / "export"
    folder.mkdir()
    whole = json.dumps([{"role": "user", "content": "one"}, {"role": "user", "content": "two"}])
    (folder / "a.json").write_text(whole[:-20], encoding="utf-8")
    done = command("import", str(folder))
    assert done.code == 1
    assert "a.json" in done.err
    assert "1 turn imported" in done.out


def test_an_import_of_a_folder_says_which_files_it_passed_over(command: Command, history: Path) -> None:
    for name in ("a.txt", "b.txt", "c.txt", "d.txt", "e.txt"):
        history.with_name(name).touch()
    done = command("import", str(history.parent))
    assert "5 turns imported" in done.out
    assert "no chat history: 5 files (a.txt, b.txt, c.txt and 2 more)" in done.err
    assert json.loads(command("import", str(history.parent), "--json").out)["passed_over"][3:5] == ["d.txt", "e.txt"]
    assert "no chat history" not in command("import", str(history)).err


def test_an_export_restores_the_memory_exactly(command: Command, history: Path, tmp_path: Path) -> None:
    command("import", str(history))
    assert "5 turns" in command("export", str(tmp_path / "all.jsonl.gz")).out
    other = str(tmp_path / "other.db")
    assert command("import", str(tmp_path / "all.jsonl.gz"), "--db", other).out.endswith(
        "5 turns imported, 0 there already\n"
    )
    assert command("export", str(tmp_path / "again.jsonl"), "--db", other).code == 0
    assert command("export", str(tmp_path / "first.jsonl")).code == 0
    assert (tmp_path / "again.jsonl").read_bytes() == (tmp_path / "first.jsonl").read_bytes()


def test_an_export_does_not_replace_a_file_unless_asked_to(command: Command, history: Path, tmp_path: Path) -> None:
    command("import", str(history))
    target = tmp_path / "out.jsonl"
    target.write_text("mine", encoding="utf-8")
    assert command("export", str(target)).code == 2
    assert target.read_text(encoding="utf-8") == "mine"
    assert command("export", str(target), "--overwrite").code == 0
    assert target.read_text(encoding="utf-8").startswith('{"format": "llmslim-memory", "version": 1}')


@pytest.mark.parametrize("name", ["import", "export"])
def test_an_empty_name_is_no_folder(
    command: Command, history: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(history.parent)
    done = command(name, "")
    assert done.code == 2
    assert done.out == ""


def test_every_option_of_an_import_reaches_it(command: Command, history: Path, db: Path) -> None:
    with history.open("a", encoding="utf-8") as file:
        for record in (
            {"role": "tool", "content": "output", "timestamp": "2026-01-03T10:00:00Z"},
            {"role": "user", "content": "late", "timestamp": "2026-02-02T10:00:00Z"},
            {"role": "user", "content": "password=Zq8Xk2LmPw9vRt4nBs7c", "timestamp": "2026-01-03T11:00:00Z"},
        ):
            file.write("\n" + json.dumps(record))
    options = "--format jsonl --user eve --agent bot --since 2026-01-02 --until 2026-02-01 --include-tool-output"
    command("import", str(history), *options.split(), "--no-redact", "--helpers", "0", "--include-deleted", "--json")
    with Memory(db) as memory:
        found = memory.get_all(user_id="eve", agent_id="bot")
    assert [item.content for item in found[:2]] == ["I moved.", "Where to?"]
    assert {"output", "password=Zq8Xk2LmPw9vRt4nBs7c"} < {item.content for item in found}
    assert "late" not in {item.content for item in found}
    report = json.loads(command("import", str(history), "--user", "eve", "--limit", "2", "--json").out)
    assert (report["imported"], report["limited"]) == (2, True)


class Terminal(StringIO):
    """What is written to a terminal."""

    def isatty(self) -> bool:
        return True


def test_on_a_terminal_bytes_rate_and_time_left_are_shown(
    command: Command, history: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setenv("TERM", "xterm")
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    with _bytes_read() as on_progress:
        for done in range(0, 101, 10):
            on_progress(done * 1_000_000, 100_000_000)
            time.sleep(0.03)
    assert re.search(r"100\.0/100\.0 MB", screen.getvalue())
    assert re.search(r"[MG]B/s", screen.getvalue())
    assert re.search(r"\d:\d\d:\d\d", screen.getvalue())
