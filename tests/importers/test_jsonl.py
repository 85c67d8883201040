"""Generic messages, in the shapes that model APIs and chat tools log."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.importers.helpers import contents, document, imported, lines, message, new_memory, said, turns


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        (message("x", "human"), ("user", "x")),
        (message("x", "ai"), ("assistant", "x")),
        (message("x", "bot"), ("assistant", "x")),
        (message("x", "model"), ("assistant", "x")),
        (message("x", "User"), ("user", "x")),
        ({"from": "gpt", "value": "x"}, ("assistant", "x")),
        ({"sender": "human", "text": "x"}, ("user", "x")),
        (
            message([{"type": "text", "text": "one"}, "two", {"type": "input_text", "text": "three"}]),
            ("user", "one\n\ntwo\n\nthree"),
        ),
        (message([{"text": "untyped"}]), ("user", "untyped")),
    ],
)
def test_roles_and_contents_of_many_tools_are_understood(
    tmp_path: Path, record: dict[str, Any], expected: tuple[str, str]
) -> None:
    memory = new_memory()
    imported(lines(tmp_path / "a.jsonl", [record]), memory)
    assert [(item.role, item.content) for item in turns(memory)] == [expected]


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        (message("x", "system"), "system"),
        (message("x", "developer"), "system"),
        (message("x", "tool"), "tool_output"),
        (message(None, "assistant", tool_calls=[{"id": "1"}]), "tool_output"),
        (message(None), "empty"),
        (message(""), "empty"),
        (message([{"type": "image_url", "image_url": {}}]), "attachment"),
        (message([{"type": "thinking", "thinking": "x"}], "assistant"), "thinking"),
        (message("x", "narrator"), "unsupported"),
        ({"content": "no role"}, "malformed"),
        ({"role": "user"}, "malformed"),
        ({"role": 5, "content": "x"}, "malformed"),
        (message(5), "malformed"),
        (message({"a": 1}), "malformed"),
    ],
)
def test_what_is_not_said_is_left_out_for_its_reason(tmp_path: Path, record: dict[str, Any], reason: str) -> None:
    report = imported(lines(tmp_path / "a.jsonl", [message("good"), record]))
    assert report.imported == 1
    assert {**report.skipped, **({"malformed": 1} if report.malformed else {})} == {reason: 1}


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("timestamp", "2026-05-01T12:00:05+02:00", datetime(2026, 5, 1, 10, 0, 5, tzinfo=UTC)),
        ("timestamp", "2026-05-01 10:00:00", datetime(2026, 5, 1, 10, tzinfo=UTC)),
        ("ts", 1_777_629_600, datetime(2026, 5, 1, 10, tzinfo=UTC)),
        ("created_at", 1_777_629_600_123, datetime(2026, 5, 1, 10, 0, 0, 123_000, UTC)),
        ("date", "1777629600.5", datetime(2026, 5, 1, 10, 0, 0, 500_000, UTC)),
    ],
)
def test_times_in_every_usual_form_are_read(tmp_path: Path, name: str, value: Any, expected: datetime) -> None:
    memory = new_memory()
    imported(lines(tmp_path / "a.jsonl", [message("x", **{name: value})]), memory)
    assert turns(memory)[0].created_at == expected


@pytest.mark.parametrize("value", [True, None, "soon", "", 0, -1, 1e300, 10**400, [], "0001-01-01T00:00:00+14:00"])
def test_what_is_no_time_is_as_good_as_none(tmp_path: Path, value: Any) -> None:
    memory = new_memory()
    imported(lines(tmp_path / "a.jsonl", [message("x", timestamp=value)]), memory)
    (item,) = turns(memory)
    assert item.metadata["import"]["time"] == "unknown"
    assert (datetime.now(UTC) - item.created_at).total_seconds() < 600


def test_a_turn_without_a_time_was_said_when_the_one_before_it_in_its_session_was(tmp_path: Path) -> None:
    records = [message("a", timestamp="2026-05-01T10:00:00Z", session_id="s"), message("b", session_id="s")]
    memory = new_memory()
    imported(lines(tmp_path / "a.jsonl", records), memory)
    assert turns(memory)[1].created_at == datetime(2026, 5, 1, 10, tzinfo=UTC)


def test_users_agents_and_sessions_of_the_records_are_kept(tmp_path: Path) -> None:
    memory = new_memory()
    path = lines(tmp_path / "a.jsonl", [message("x", user_id="dana", agent_id="bot", session_id=42), message("y")])
    imported(path, memory)
    assert [(i.user_id, i.agent_id, i.run_id) for i in turns(memory)] == [
        ("dana", "bot", "42"),
        ("default", None, None),
    ]


def test_a_named_user_and_agent_hold_for_every_record(tmp_path: Path) -> None:
    memory = new_memory()
    path = lines(tmp_path / "a.jsonl", [message("x", user_id="dana", agent_id="bot"), message("y")])
    imported(path, memory, user_id="eve", agent_id="desk")
    assert {(item.user_id, item.agent_id) for item in turns(memory)} == {("eve", "desk")}


def test_a_conversation_a_line_is_a_session_that_keeps_its_name_as_it_grows(tmp_path: Path) -> None:
    memory = new_memory()
    talk = [message("hi"), message("hello", "assistant")]
    imported(lines(tmp_path / "a.jsonl", [{"messages": talk}, {"messages": [message("other")]}]), memory)
    report = imported(lines(tmp_path / "a.jsonl", [{"messages": [*talk, message("more")]}, {"messages": []}]), memory)
    assert (report.imported, report.duplicates) == (1, 2)
    assert len({item.run_id for item in turns(memory)}) == 2


def test_an_object_around_the_messages_names_their_session(tmp_path: Path) -> None:
    memory = new_memory()
    imported(document(tmp_path / "a.json", {"messages": [message("x"), message("y")], "session_id": "s9"}), memory)
    assert {item.run_id for item in turns(memory)} == {"s9"}


def test_ids_count_within_their_user_and_session(tmp_path: Path) -> None:
    records = [message("a", id="1", session_id=s, user_id=u) for s in ("s1", "s2") for u in ("ann", "bob")]
    memory = new_memory()
    assert imported(lines(tmp_path / "a.jsonl", records), memory).imported == 4
    assert turns(memory)[0].id == memory.item_id("jsonl:1", user_id="ann", run_id="s1")


def test_equal_messages_without_ids_are_as_many_as_were_said(tmp_path: Path) -> None:
    memory = new_memory()
    path = lines(tmp_path / "a.jsonl", [message("ok")] * 3)
    assert imported(path, memory).imported == 3
    assert imported(path, memory).duplicates == 3
    lines(path, [message("ok")] * 4)
    assert imported(path, memory).imported == 1
    assert contents(memory) == ["ok"] * 4


@pytest.mark.parametrize("value", ["\x00", "a\x00b", "x" * 5000, "\ud800", "  "])
def test_ids_that_no_database_can_hold_are_replaced(tmp_path: Path, value: str) -> None:
    memory = new_memory()
    path = lines(tmp_path / "a.jsonl", [message("x", user_id=value, session_id=value, id=value)])
    assert imported(path, memory).imported == 1
    assert imported(path, memory).duplicates == 1


def test_a_pretty_printed_array_is_read(tmp_path: Path) -> None:
    import json

    path = tmp_path / "a.json"
    path.write_text(json.dumps([message("one"), message("two")], indent=4), encoding="utf-8")
    assert said(path) == ["one", "two"]
