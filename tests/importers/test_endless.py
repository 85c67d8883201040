"""The same thing over and over, which no import may take time for that grows with the square of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.importers.helpers import document, imported, lines, said
from tests.importers.test_chatgpt import conversation as chatgpt
from tests.importers.test_claude_ai import conversation as claude
from tests.importers.test_claude_code import assistant, queued, record, user

# With work that grows with the square of the text, any of these would take minutes or hours.
ENDLESS: dict[str, list[dict[str, Any]]] = {
    "reminders": [user("u", "<system-reminder></system-reminder>" * 200_000 + "words")],
    "rewinds": [user("u", "words"), *(user(f"u{n}", f"words {n}", "u") for n in range(20_000))],
    "queued": [user(f"u{n}", "words") for n in range(15_000)] + [queued(f"q{n}", "words") for n in range(15_000)],
    "circle": [record("system", f"s{n}", f"s{(n + 1) % 30_000}") for n in range(30_000)] + [user("u", "words", "s5")],
    "snapshots": [assistant(f"a{n}", "words" * (1 + n), "u", reply="m") for n in range(2000)],
    "tags": [user("u", "<pasted_content " * 6_000), user("v", "<command-args>" * 6_000), user("w", "words")],
}


@pytest.mark.parametrize("name", ENDLESS)
def test_a_transcript_of_one_thing_over_and_over_ends(tmp_path: Path, name: str) -> None:
    assert imported(lines(tmp_path / "a.jsonl", ENDLESS[name]), dry_run=True).imported


def test_an_export_of_marks_and_tags_over_and_over_ends(tmp_path: Path) -> None:
    marks = ["\ue200" * 90_000, "【" * 90_000, "\ue200cite\ue202" * 9_000, "【1†" * 20_000, "words"]
    assert "words" in said(document(tmp_path / "a.json", [chatgpt(*marks)]))
    tags = ["<antThinking>" * 7_000, "<antArtifact " * 7_000, "<antThinking></antThinking>" * 3_000, "words"]
    assert "words" in said(document(tmp_path / "b.json", [claude(*tags)]))
