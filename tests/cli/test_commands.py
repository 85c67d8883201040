"""What each command does."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from llmslim_memory import InMemoryStore, Memory
from llmslim_memory.cli import demo, doctor
from llmslim_memory.cli.options import load_vocabulary_meanwhile
from tests.cli.conftest import Command


def added(command: Command, *arguments: str) -> dict[str, Any]:
    item: dict[str, Any] = json.loads(command("add", "--json", *arguments).out)
    return item


def test_a_turn_that_was_added_is_shown_by_its_id(command: Command) -> None:
    item = added(command, "I moved to Pune.", "--at", "2026-10-17T14:05:00Z")
    assert command("get", item["id"]).out == "I moved to Pune.\n"
    assert (item["user_id"], item["role"], item["created_at"]) == ("default", "user", "2026-10-17T14:05:00+00:00")


def test_a_turn_can_carry_a_role_ids_and_metadata(command: Command) -> None:
    item = added(
        command,
        "Noted.",
        "--role",
        "assistant",
        "--user",
        "ann",
        "--agent",
        "bot",
        "--run",
        "s1",
        "--metadata",
        '{"a": 1}',
    )
    assert [item[name] for name in ("role", "user_id", "agent_id", "run_id", "metadata")] == [
        "assistant", "ann", "bot", "s1", {"a": 1},
    ]  # fmt: skip


def test_a_turn_can_come_from_stdin(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("a long\nstory"))
    assert added(command, "-")["content"] == "a long\nstory"


def test_a_message_with_an_id_is_stored_once(command: Command) -> None:
    assert added(command, "once", "--id", "m1")["id"] == added(command, "once", "--id", "m1")["id"]
    assert len(json.loads(command("list", "--json").out)) == 1


def test_listing_shows_the_newest_turns_oldest_first(command: Command) -> None:
    for hour in range(3):
        added(command, f"turn {hour}", "--at", f"2026-01-01T0{hour}:00:00Z")
    done = command("list", "--limit", "2")
    assert [line.split("user: ")[1] for line in done.out.splitlines()] == ["turn 1", "turn 2"]
    assert done.err == "2 of 3 turns\n"
    since = command("list", "--json", "--since", "2026-01-01T02:00:00Z")
    assert [item["content"] for item in json.loads(since.out)] == ["turn 2"]


def test_a_long_turn_is_listed_by_its_opening(command: Command) -> None:
    added(command, "word " * 100)
    (line,) = command("list").out.splitlines()
    assert line.endswith("…")
    assert len(line) < 180


def test_a_message_whose_id_is_stored_with_other_content_is_refused_kept_or_updated(command: Command) -> None:
    first = added(command, "one", "--id", "m1")
    assert "already with other content" in command("add", "two", "--id", "m1").err
    assert added(command, "two", "--id", "m1", "--on-conflict", "keep")["content"] == "one"
    updated = added(command, "two", "--id", "m1", "--on-conflict", "update")
    assert (updated["id"], updated["content"]) == (first["id"], "two")


def test_the_line_break_that_ends_stdin_is_not_part_of_the_turn(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("first\nsecond\n"))
    assert added(command, "-")["content"] == "first\nsecond"


def test_turns_are_deleted_by_id(command: Command) -> None:
    kept, gone = added(command, "kept"), added(command, "gone")
    done = command("delete", gone["id"], gone["id"])
    assert (done.code, done.out, done.err) == (0, "1 turn deleted\n", "")
    assert [item["id"] for item in json.loads(command("list", "--json").out)] == [kept["id"]]


def test_an_unknown_id_is_named_and_ends_a_deletion_with_1_after_the_others_are_deleted(command: Command) -> None:
    gone, also_gone = added(command, "gone"), added(command, "gone too")
    done = command("delete", "NO-SUCH-ID", gone["id"])
    assert (done.code, done.out) == (1, "1 turn deleted\n")
    assert done.err == "there is no turn with the id 'NO-SUCH-ID'\n"
    again = command("delete", gone["id"], also_gone["id"], "--json")
    assert (again.code, json.loads(again.out)) == (1, {"deleted": 1, "unknown": [gone["id"]]})


def test_a_session_is_deleted_as_a_whole_only_when_confirmed(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    added(command, "one", "--run", "s1")
    added(command, "two", "--run", "s2")
    for answer in ("n\n", ""):
        monkeypatch.setattr(sys, "stdin", io.StringIO(answer))
        refused = command("delete", "--all", "--run", "s1")
        assert refused.code == 130
        assert "nothing deleted: answer y, or pass --yes" in refused.err
    assert json.loads(command("delete", "--all", "--run", "s1", "--yes", "--json").out)["deleted"] == 1
    assert [item["content"] for item in json.loads(command("list", "--json").out)] == ["two"]


def test_a_question_brings_back_what_was_said(command: Command) -> None:
    added(command, "I moved to Pune last month.")
    done = command("search", "Where do I live?")
    assert "user: I moved to Pune last month." in done.out
    assert ", the whole history: 1 turn, 1 session, " in done.err


def test_a_question_is_answered_as_json_or_in_an_envelope(command: Command) -> None:
    added(command, "I moved to Pune last month.")
    context = json.loads(command("search", "Where do I live?", "--json", "--budget", "100").out)
    assert (context["budget"], context["counter"], context["found"]) == (100, "o200k_base", True)
    assert "</recalled-history" in command("search", "Where do I live?", "--envelope").out


def test_a_search_says_why_each_turn_was_kept_or_dropped(command: Command) -> None:
    kept = added(command, "I moved to Pune last month.")
    dropped = added(command, "The report is about quarterly figures. " * 20)
    done = command("search", "When did I move to Pune?", "--budget", "40", "--explain", "--json")
    statuses = {turn["id"]: turn["status"] for turn in json.loads(done.out)["explanation"]["turns"]}
    assert statuses == {kept["id"]: "kept", dropped["id"]: "dropped"}
    assert kept["id"][:6] in command("search", "When did I move to Pune?", "--budget", "40", "--explain").out


def test_a_question_that_nothing_bears_on_says_so(command: Command) -> None:
    added(command, "I moved to Pune last month. " * 20)
    done = command("search", "zebra", "--budget", "20")
    assert (done.code, done.out) == (0, "")
    assert "nothing in" in done.err


def test_statistics_count_users_sessions_and_turns(command: Command) -> None:
    for user, run in (("ann", "s1"), ("ann", "s2"), ("bob", "s3")):
        added(command, "text", "--user", user, "--run", run, "--at", "2026-01-02T00:00:00Z")
    figures = json.loads(command("stats", "--json").out)
    assert (figures["turns"], figures["sessions"], len(figures["users"])) == (3, 3, 2)
    assert "  ann: 2 turns, 2 sessions, 2026-01-02 to 2026-01-02\n" in command("stats").out


def test_a_backup_holds_every_turn(command: Command, tmp_path: Path) -> None:
    added(command, "kept safe")
    copy = tmp_path / "copy.db"
    assert command("backup", str(copy)).code == 0
    with Memory(copy) as memory:
        assert [item.content for item in memory.get_all(user_id="default")] == ["kept safe"]
    again = command("backup", str(copy))
    assert (again.code, "exists already" in again.err) == (2, True)


def test_a_backup_of_what_is_no_file_names_the_tools_for_it(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    added(command, "text")
    monkeypatch.setattr(Memory, "store", InMemoryStore())
    done = command("backup", str(tmp_path / "copy.db"))
    assert (done.code, "pg_dump" in done.err) == (2, True)


def test_a_backup_tells_its_size(command: Command, tmp_path: Path) -> None:
    added(command, "text")
    copy = tmp_path / "copy.db"
    assert json.loads(command("backup", str(copy), "--json").out) == {"path": str(copy), "bytes": copy.stat().st_size}


def test_the_doctor_finds_a_sound_memory_sound(command: Command) -> None:
    added(command, "text")
    done = command("doctor")
    assert done.code == 0
    assert "every page and index is sound" in done.out
    assert "WRONG" not in done.out


def test_the_doctor_finds_a_file_of_another_program(command: Command, db: Path) -> None:
    db.write_text("not a database " * 100)
    done = command("doctor", "--json")
    assert done.code == 1
    assert [finding["name"] for finding in json.loads(done.out) if not finding["ok"]] == ["database"]


def test_the_doctor_says_how_to_get_exact_counts(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("llmslim_memory.tokens.load_encoding", lambda name: None)
    done = command("doctor")
    assert done.code == 1
    assert "WRONG tokenizer: tokens are estimated: put o200k_base.tiktoken into" in done.out


def test_the_doctor_names_what_is_not_installed(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "PACKAGES", {"no-such-package-here": "postgres"})
    assert "no-such-package-here (extra postgres)" in command("doctor").out


def test_the_example_history_is_long_and_in_order() -> None:
    turns = demo.example_turns()
    assert len(turns) >= 150
    assert [turn["timestamp"] for turn in turns] == sorted(turn["timestamp"] for turn in turns)
    assert len({turn["session_id"] for turn in turns}) > 20


def test_the_demonstration_answers_within_its_budget_and_says_what_it_saved(command: Command) -> None:
    done = command("demo")
    assert done.code == 0
    assert "We live in Porto now" in done.out
    assert "6 questions:" in done.out
    (context,) = json.loads(command("demo", "--json", "--budget", "120", "Which invoice was too high?").out)
    assert context["tokens"] <= 120
    assert "INV-2291" in context["text"]


def test_the_demonstration_tells_of_an_estimate_in_its_introduction_alone() -> None:
    nowhere = {"LLMSLIM_OFFLINE": "1"}
    hidden = "from llmslim_memory import cli, vocabulary; vocabulary.local_folders = list; cli.main(['demo', 'Where?'])"
    done = subprocess.run(
        [sys.executable, "-c", hidden], env={**os.environ, **nowhere}, capture_output=True, text=True, check=True
    )
    assert "(estimated at 4 characters each)" in done.stdout
    assert done.stderr == ""


def test_a_question_that_the_example_cannot_answer_is_told_so(command: Command) -> None:
    assert "nothing in the history bears on it" in command("demo", "zzyzx qwfp").out


def test_a_missing_argument_names_the_help_of_its_command(command: Command) -> None:
    assert "(llmslim-memory search --help)" in command("search").err


def test_a_server_loads_the_vocabulary_before_it_is_asked() -> None:
    counted = Event()

    def count(text: str) -> int:
        counted.set()
        return len(text)

    with Memory(encoding=count) as memory:
        load_vocabulary_meanwhile(memory)
        assert counted.wait(60)
