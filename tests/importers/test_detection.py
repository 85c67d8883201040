"""Formats are told apart by what files hold; nothing is imported by guesswork."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

from llmslim_memory import HistoryImportError, import_history
from tests.importers.helpers import document, imported, lines, message, new_memory, said
from tests.importers.test_chatgpt import conversation as chatgpt
from tests.importers.test_claude_ai import conversation as claude
from tests.importers.test_claude_code import user


def test_a_transcript_is_recognised_behind_two_hundred_lines_of_bookkeeping_less_one(tmp_path: Path) -> None:
    noise = [{"type": "queue-operation", "operation": "dequeue", "sessionId": "s", "n": n} for n in range(199)]
    assert said(lines(tmp_path / "x.jsonl", [*noise, user("u1", "Deploy on Thursdays.")])) == ["Deploy on Thursdays."]


@pytest.mark.parametrize("name", ["conversations.json", "anything.txt", "export"])
def test_a_file_is_read_whatever_it_is_called(tmp_path: Path, name: str) -> None:
    assert imported(document(tmp_path / name, [chatgpt("hi")])).format == "chatgpt"
    assert imported(document(tmp_path / name, [claude("hi")])).format == "claude-ai"


def test_a_claude_array_is_not_taken_for_chatgpts_or_for_memories(tmp_path: Path) -> None:
    report = imported(document(tmp_path / "conversations.json", [claude("hi", "hello")]))
    assert (report.format, report.imported) == ("claude-ai", 2)


@pytest.mark.parametrize(
    "value", [{"a": 1}, [{"name": "x"}], {"docs": []}, [[1]], {"full_name": "Ann", "skills": ["x"]}]
)
def test_an_unknown_format_is_an_error_that_says_what_was_looked_at(tmp_path: Path, value: object) -> None:
    memory = new_memory()
    with pytest.raises(HistoryImportError, match=r"thing\.json"):
        import_history(document(tmp_path / "thing.json", value), memory)
    assert memory.scan().items == []


def test_plain_text_is_never_imported(tmp_path: Path) -> None:
    path = tmp_path / "notes.md"
    path.write_text("# Notes\nuser: hello\n", encoding="utf-8")
    with pytest.raises(HistoryImportError):
        import_history(path, new_memory())


def test_a_folder_may_hold_exports_of_several_kinds(tmp_path: Path) -> None:
    document(tmp_path / "one.json", [chatgpt("from one")])
    document(tmp_path / "two.json", [claude("from two")])
    report = imported(tmp_path)
    assert (report.format, report.imported, report.files) == ("mixed", 2, 2)


def test_other_files_of_an_export_that_look_like_messages_are_left_alone(tmp_path: Path) -> None:
    document(tmp_path / "conversations.json", [claude("real")])
    document(tmp_path / "feedback.json", [message("not said in a chat")])
    assert said(tmp_path) == ["real"]


def test_a_named_format_leaves_other_files_of_a_folder_out(tmp_path: Path) -> None:
    document(tmp_path / "one.json", [chatgpt("one")])
    document(tmp_path / "two.json", [claude("two")])
    assert said(tmp_path, format="claude-ai") == ["two"]
    assert imported(tmp_path, format="claude-ai").passed_over == ("one.json",)


def test_files_of_a_folder_and_its_archives_that_hold_no_history_are_named_and_counted(tmp_path: Path) -> None:
    document(tmp_path / "conversations.json", [claude("real")])
    document(tmp_path / "feedback.json", [message("not said in a chat")])
    document(tmp_path / "settings.json", {"theme": "dark"})
    (tmp_path / "notes.txt").write_text("read me")
    (tmp_path / "._notes.txt").write_text("of the file manager")
    with zipfile.ZipFile(tmp_path / "more.zip", "w") as archive:
        archive.writestr("pictures/", "")
        archive.writestr("pictures/cat.png", b"png")
        archive.writestr("__MACOSX/cat.png", b"png")
    report = imported(tmp_path)
    assert sorted(report.passed_over) == ["feedback.json", "more.zip/pictures/cat.png", "notes.txt", "settings.json"]
    assert (report.passed_over_total, report.imported, report.ok) == (4, 1, True)


def test_of_very_many_files_without_history_all_are_counted_and_the_first_named(tmp_path: Path) -> None:
    document(tmp_path / "conversations.json", [claude("real")])
    for number in range(1_200):
        (tmp_path / f"{number:04}.png").touch()
    report = imported(tmp_path)
    assert (report.passed_over_total, len(report.passed_over), report.passed_over[0]) == (1_200, 1_000, "0000.png")


def test_the_numbered_files_of_newer_chatgpt_zips_are_found_at_any_depth(tmp_path: Path) -> None:
    path = tmp_path / "export.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for number, text in enumerate(("one", "two", "three")):
            archive.writestr(
                f"export/text/conversations-00{number}.json", json.dumps([chatgpt(text, key=f"c{number}")])
            )
        archive.writestr("__MACOSX/._conversations-000.json", b"\x00\x05\x16\x07")
        archive.writestr("export/user.json", json.dumps({"id": "user-1", "email": "a"}))
        archive.writestr("export/chat.html", "<html>")
        for name in ("export_manifest", "user_settings", "message_feedback", "group_chats", "shopping", "sora"):
            archive.writestr(f"export/{name}.json", json.dumps([{"id": name, "conversation_id": "c0", "rating": "up"}]))
        archive.writestr(
            "export/shared_conversations.json", json.dumps([{"id": "s", "conversation_id": "c0", "title": "t"}])
        )
    assert said(path) == ["one", "two", "three"]


def test_a_manifest_alone_names_the_zips_to_fetch_and_never_their_links(tmp_path: Path) -> None:
    files = [
        {"category": "conversations", "filename": "conversations-000.zip", "export_url": "secret-link"},
        {"category": "memories", "filename": "memories-000.zip", "export_url": "other-link"},
    ]
    path = document(tmp_path / "manifest-org.json", {"version": "1.0", "data_files": files})
    with pytest.raises(HistoryImportError, match=r"conversations-000\.zip") as raised:
        imported(path)
    assert "link" not in str(raised.value)


def test_a_folder_of_zips_is_read_with_the_manifest_beside_them(tmp_path: Path) -> None:
    document(tmp_path / "manifest-org.json", {"data_files": [{"category": "conversations", "filename": "c.zip"}]})
    for name in ("conversations-000.zip", "conversations-000 (1).zip"):
        with zipfile.ZipFile(tmp_path / name, "w") as archive:
            archive.writestr("conversations.json", json.dumps([claude("said once")]))
    report = imported(tmp_path)
    assert (report.imported, report.duplicates, report.ok) == (1, 1, True)


def test_a_truncated_first_conversation_larger_than_the_window_is_still_recognised(tmp_path: Path) -> None:
    big = chatgpt(*(f"turn {number} " + "lorem ipsum " * 100 for number in range(1200)))
    assert len(json.dumps(big)) > 1 << 20
    assert imported(document(tmp_path / "c.json", [big])).imported == 1200
