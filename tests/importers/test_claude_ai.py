"""Claude.ai exports: blocks, pastes and branches, in old exports and new."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.importers.helpers import document, imported, lines, new_memory, said, turns

ROOT = "00000000-0000-4000-8000-000000000000"


def entry(key: str, text: str, parent: str | None = None, sender: str = "human", **fields: Any) -> dict[str, Any]:
    """A message as newer exports have it."""
    return {
        "uuid": key,
        "sender": sender,
        "text": text,
        "content": [{"type": "text", "text": text}],
        "created_at": "2026-09-10T10:00:00.123456Z",
        "attachments": [],
        "files": [],
        "parent_message_uuid": parent or ROOT,
        **fields,
    }


def talk(*messages: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {
        "uuid": "t1",
        "name": "Garden",
        "created_at": "2026-09-10T10:00:00Z",
        "chat_messages": list(messages),
        **fields,
    }


def conversation(*texts: str) -> dict[str, Any]:
    """A conversation without branches, the user and the assistant in turn."""
    senders = ("human", "assistant")
    return talk(*(entry(f"m{n}", text, f"m{n - 1}" if n else None, senders[n % 2]) for n, text in enumerate(texts)))


def outcome(tmp_path: Path, **fields: Any) -> tuple[list[str], dict[str, int], dict[str, int]]:
    """What is stored of a message, why it is left out if it is, and which parts of it are."""
    memory = new_memory()
    report = imported(document(tmp_path / "c.json", [talk(entry("m", "flat text") | fields)]), memory)
    return [item.content for item in turns(memory)], dict(report.skipped), dict(report.parts_skipped)


def test_the_flat_text_that_leaks_thinking_is_used_only_without_blocks(tmp_path: Path) -> None:
    blocks = [{"type": "thinking", "thinking": "plan"}, {"type": "text", "text": "Try ferns."}]
    assert outcome(tmp_path, content=blocks) == (["Try ferns."], {}, {"thinking": 1})
    assert outcome(tmp_path, content=[]) == (["flat text"], {}, {})
    assert outcome(tmp_path, content=None) == (["flat text"], {}, {})


@pytest.mark.parametrize(
    ("block", "reason"),
    [
        ({"type": "thinking", "thinking": "x"}, "thinking"),
        ({"type": "redacted_thinking", "data": "x"}, "thinking"),
        ({"type": "tool_use", "name": "web", "input": {}}, "tool_output"),
        ({"type": "tool_result", "content": []}, "tool_output"),
        ({"type": "injected_prompt_block", "text": "Memory snapshot"}, "meta"),
        ({"type": "image"}, "attachment"),
        ({"type": "voice_note"}, "attachment"),
        ({"type": "token_budget"}, "unsupported"),
        ({"type": "flag"}, "unsupported"),
        ({"type": "brand_new", "text": "unknown"}, "unsupported"),
        ({"no": "type"}, "unsupported"),
        (17, "unsupported"),
    ],
)
def test_a_block_that_is_no_text_costs_that_block_alone(tmp_path: Path, block: Any, reason: str) -> None:
    words = {"type": "text", "text": "words"}
    assert outcome(tmp_path, content=[block, words]) == (["words"], {}, {reason: 1})
    assert outcome(tmp_path, content=[block]) == ([], {reason: 1}, {})


def test_the_transcript_of_a_voice_note_is_what_the_user_said(tmp_path: Path) -> None:
    assert outcome(tmp_path, content=[{"type": "voice_note", "text": "spoken"}])[0] == ["spoken"]


def test_a_paste_is_the_users_words_and_an_attached_file_is_counted(tmp_path: Path) -> None:
    paste = {"file_name": "", "extracted_content": "Pasted recipe"}
    sheet = {"file_name": "a.csv", "extracted_content": "1,2"}
    assert outcome(tmp_path, attachments=[paste, sheet]) == (["flat text\n\nPasted recipe"], {}, {"attachment": 1})
    assert outcome(tmp_path, content=[], text="", attachments=[paste])[0] == ["Pasted recipe"]


def test_a_message_of_files_alone_is_counted_as_an_attachment(tmp_path: Path) -> None:
    assert outcome(tmp_path, content=[], text="", files=[{"file_name": None}]) == ([], {"attachment": 1}, {})


def test_thinking_and_artifacts_are_cut_from_old_replies(tmp_path: Path) -> None:
    text = '<antThinking>plan</antThinking>Here it is.<antArtifact identifier="x">code</antArtifact> Enjoy.'
    assert outcome(tmp_path, content=None, text=text, sender="assistant")[0] == ["Here it is. Enjoy."]


def test_the_branch_of_the_last_message_is_imported(tmp_path: Path) -> None:
    messages = [
        entry("m1", "plant?"),
        entry("m2", "ferns", "m1", "assistant"),
        entry("m3", "no ferns", "m2"),
        entry("m4", "hostas", "m3", "assistant"),
        entry("m5", "evergreen ones", "m2"),
        entry("m6", "polystichum", "m5", "assistant"),
    ]
    path = document(tmp_path / "c.json", [talk(*messages)])
    assert said(path) == ["plant?", "ferns", "evergreen ones", "polystichum"]
    assert imported(path).skipped == {"other_branch": 2}
    path = document(tmp_path / "c.json", [talk(*messages, current_leaf_message_uuid="m4")])
    assert said(path) == ["plant?", "ferns", "no ferns", "hostas"]


def test_without_parents_or_with_one_missing_all_messages_count(tmp_path: Path) -> None:
    old = [entry("a", "one"), entry("b", "two", sender="assistant")]
    for message in old:
        del message["parent_message_uuid"]
    assert said(document(tmp_path / "c.json", [talk(*old)])) == ["one", "two"]
    lost = [entry("a", "one", "gone"), entry("b", "two", "a", "assistant"), entry("c", "three", "b")]
    assert said(document(tmp_path / "c.json", [talk(*lost)])) == ["one", "two", "three"]


def test_parents_in_a_circle_end(tmp_path: Path) -> None:
    circle = [entry("a", "one", "b"), entry("b", "two", "a", "assistant")]
    assert said(document(tmp_path / "c.json", [talk(*circle)])) == ["one", "two"]


@pytest.mark.parametrize(
    ("written", "microsecond"),
    [
        ("2026-09-10T10:02:06Z", 0),
        ("2026-09-10T12:02:06+02:00", 0),
        ("2026-09-10T10:02:06.5Z", 500_000),
        ("2026-09-10T10:02:06.123456789Z", 123_456),
    ],
)
def test_times_are_read_with_any_fraction_and_offset(tmp_path: Path, written: str, microsecond: int) -> None:
    memory = new_memory()
    imported(document(tmp_path / "c.json", [talk(entry("m", "x", created_at=written))]), memory)
    assert turns(memory)[0].created_at == datetime(2026, 9, 10, 10, 2, 6, microsecond, UTC)


@pytest.mark.parametrize("bad", [{"sender": "robot"}, {"sender": None}, None, 3, "text"])
def test_a_bad_message_does_not_cost_the_conversation(tmp_path: Path, bad: Any) -> None:
    broken = {**entry("x", "x", "m1"), **bad} if isinstance(bad, dict) else bad
    report = imported(document(tmp_path / "c.json", [talk(entry("m1", "one"), broken, entry("m2", "two", "m1"))]))
    assert report.imported == 2
    assert report.malformed + report.skipped.get("other_branch", 0) == 1


def test_the_other_files_of_an_export_are_counted_and_not_taken_for_chats(tmp_path: Path) -> None:
    document(tmp_path / "conversations.json", [conversation("real")])
    document(tmp_path / "memories.json", [{"conversations_memory": "Grows plants", "account_uuid": "a"}])
    document(tmp_path / "projects.json", [{"uuid": "p", "name": "n", "docs": [], "prompt_template": ""}])
    design = {
        "uuid": "d",
        "project": {"uuid": "p"},
        "messages": [{"uuid": "x", "role": "user", "content": {"content": "draw"}}],
    }
    document(tmp_path / "design.json", [design])
    memory = new_memory()
    report = imported(tmp_path, memory)
    assert [item.content for item in turns(memory)] == ["real"]
    assert report.skipped == {"meta": 1, "unsupported": 2}


def test_conversations_one_a_line_are_read(tmp_path: Path) -> None:
    path = lines(tmp_path / "conversations.jsonl", [talk(entry(f"m{n}", f"word {n}"), uuid=f"t{n}") for n in range(3)])
    assert said(path) == ["word 0", "word 1", "word 2"]


def test_fields_of_older_and_newer_exports_are_no_obstacle(tmp_path: Path) -> None:
    added = {"index": 0, "truncated": False, "edited_at": None, "chat_feedback": None, "files_v2": [], "new": {"x": 1}}
    assert outcome(tmp_path, **added) == (["flat text"], {}, {})


def test_memories_of_newer_exports_are_claudes_own_and_counted(tmp_path: Path) -> None:
    value = {"conversations_memory": "x", "project_memories": {}, "memory_files": [{"path": "a", "content": "b"}]}
    document(tmp_path / "c.json", [conversation("real")])
    document(tmp_path / "memories.json", value)
    assert imported(tmp_path).skipped == {"meta": 1}


def test_tool_calls_and_results_are_imported_as_a_tool_turn_when_asked_for(tmp_path: Path) -> None:
    blocks = [
        {"type": "tool_use", "name": "web", "input": {"q": "juglone"}},
        {"type": "tool_result", "content": [{"type": "text", "text": "toxic"}]},
        {"type": "text", "text": "Avoid it."},
    ]
    memory = new_memory()
    path = document(tmp_path / "c.json", [talk(entry("m", "", sender="assistant", content=blocks))])
    imported(path, memory, include_tool_output=True)
    assert [(item.role, item.content) for item in turns(memory)] == [
        ("tool", 'web {"q":"juglone"}\n\ntoxic'),
        ("assistant", "Avoid it."),
    ]
