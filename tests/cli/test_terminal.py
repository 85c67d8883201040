"""How the command line behaves towards terminals, pipes and mistakes."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llmslim_memory import Memory
from llmslim_memory._version import __version__
from llmslim_memory.cli import app, output
from tests.cli.conftest import Command

CONTROLS = "\x1b[31mred\x1b[0m \x9b2J \x07 \x7f \u202eevil\r"


def run(*arguments: str, **settings: str) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "llmslim_memory", *arguments]
    return subprocess.run(command, capture_output=True, env=os.environ | settings, timeout=60)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["frob"], "No such command 'frob'"),
        (["search"], "Missing argument"),
        (["search", "x", "--budget", "0"], "--budget"),
        (["search", "x"], "there is no memory at"),
        (["list", "--db", "oracle://user:secret@host/db"], "oracle://"),
        (["add", " ", "--role", "Üser"], "role"),
        (["add", "x", "--metadata", "[1]"], "--metadata is no JSON object"),
        (["add", "x", "--metadata", "{"], "--metadata is no JSON object"),
        (["add", "x", "--user", " "], "user_id is blank"),
        (["add", "x", "--at", "noon"], "'noon' is not a time"),
        (["delete"], "name the turns to delete"),
        (["delete", "x", "--all"], "name the turns to delete"),
        (["import", "missing.jsonl"], "missing.jsonl"),
        (["demo", "--encoding", "o201k"], "'o201k' is neither"),
    ],
)
def test_a_mistake_is_one_line_on_stderr_and_exit_code_2(command: Command, arguments: list[str], message: str) -> None:
    done = command(*arguments)
    assert (done.code, done.out) == (2, "")
    assert message in done.err
    assert "secret" not in done.err
    assert done.err.startswith("llmslim-memory: ")
    assert done.err.count("\n") == 1


def test_an_unknown_turn_is_named(command: Command) -> None:
    command("add", "x")
    assert command("get", "nope").err == "llmslim-memory: there is no turn with the id 'nope'\n"


def test_a_bug_is_one_line_too_unless_it_is_being_looked_for(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(self: Memory) -> None:
        raise RuntimeError("cannot\nbe")

    command("add", "x")
    monkeypatch.setattr(Memory, "scopes", fail)
    assert (
        command("stats").err == "llmslim-memory: RuntimeError, which should not happen (LLMSLIM_DEBUG=1 shows where)\n"
    )
    monkeypatch.setenv("LLMSLIM_DEBUG", "1")
    with pytest.raises(RuntimeError, match="cannot"):
        app.main(["stats"])


def test_the_version_and_the_commands_are_shown(command: Command) -> None:
    assert command("--version").out == f"{__version__}\n"
    assert "search" in command("--help").out == command().out
    assert not [line for line in command("--help").out.splitlines()[1:] if line.endswith("...")]


def test_databases_with_a_password_are_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    from llmslim_memory.cli.options import shown_db

    assert shown_db("postgresql://ann:secret@db.example/memory") == "postgresql://..."


def test_control_sequences_do_not_reach_a_terminal(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    item = json.loads(command("add", CONTROLS, "--json").out)
    monkeypatch.setattr("rich.console.Console.is_terminal", True)
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("TERM", "dumb")
    for shown in (command("get", item["id"]).out, command("search", "red").out, command("list").out):
        assert "evil" in shown
        assert not set("\x1b\x9b\x07\x7f\u202e\r") & set(shown)


def test_a_pipe_gets_the_text_as_it_was_said(command: Command) -> None:
    item = json.loads(command("add", CONTROLS, "--json").out)
    assert command("get", item["id"]).out.startswith("\x1b[31mred\x1b[0m \x9b2J")


def test_json_holds_every_character_and_none_that_steers_a_terminal(command: Command) -> None:
    shown = command("add", CONTROLS, "--json").out
    assert json.loads(shown)["content"] == CONTROLS
    assert not set("\x1b\x9b\x07\x7f\u202e\r") & set(shown)


@given(st.text())
def test_what_is_printed_holds_nothing_that_steers_a_terminal(text: str) -> None:
    shown = output.printable(text)
    assert all(char in "\n\t" or char >= " " for char in shown)
    assert not any("\x7f" <= char <= "\x9f" for char in shown)


def test_text_with_brackets_and_colons_is_no_markup(command: Command) -> None:
    item = json.loads(command("add", "[bold]x[/bold] :smile: [/]", "--json").out)
    assert command("get", item["id"]).out == "[bold]x[/bold] :smile: [/]\n"
    assert "[bold]x[/bold] :smile: [/]" in command("search", "smile").out


def test_a_terminal_without_unicode_gets_escapes(db: Path) -> None:
    assert run("add", "tea 茶 é", PYTHONIOENCODING="ascii").returncode == 0
    done = run("list", PYTHONIOENCODING="ascii")
    assert done.stdout.decode("ascii").rstrip().endswith("tea \\u8336 \\xe9")
    assert json.loads(run("list", "--json", PYTHONIOENCODING="ascii").stdout)[0]["content"] == "tea 茶 é"


def test_input_that_is_no_text_is_kept_as_far_as_it_is(db: Path) -> None:
    command = [sys.executable, "-m", "llmslim_memory", "add", "-", "--json"]
    done = subprocess.run(command, input=b"caf\xe9 ok", capture_output=True, timeout=60, check=True)
    assert json.loads(done.stdout)["content"] == "caf\ufffd ok"


def test_a_closed_pipe_ends_the_command_quietly(db: Path) -> None:
    with Memory(db) as memory:
        memory.add([{"role": "user", "content": "x" * 5000}] * 200, user_id="default")
    command = [sys.executable, "-m", "llmslim_memory", "list", "--limit", "200", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.read(10)
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(30) == app.PIPE_CLOSED


def test_a_pipe_closed_before_the_first_word_ends_the_command_quietly(db: Path) -> None:
    with Memory(db) as memory:
        memory.add({"role": "user", "content": "x"}, user_id="default")
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "llmslim_memory", "list", "--json"]
    done = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, timeout=60, check=False)
    os.close(writing)
    assert (done.returncode, done.stderr) == (app.PIPE_CLOSED, b"")


def test_an_interrupt_ends_the_command_quietly(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(self: Memory) -> None:
        raise KeyboardInterrupt

    command("add", "x")
    monkeypatch.setattr(Memory, "scopes", interrupt)
    done = command("stats")
    assert (done.code, done.out, done.err) == (app.INTERRUPTED, "", "")


def test_a_port_in_use_is_named_with_the_remedy(command: Command) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = command("serve", "--port", str(port))
    assert done.code == 2
    assert f"port {port} of 127.0.0.1 is in use" in done.err
    assert "pass another --port" in done.err
