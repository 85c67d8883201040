"""A source, a target or an option that cannot be used is named, and nothing is done."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from llmslim_memory import HistoryImportError, export_history, import_history
from llmslim_memory.history.tally import Tally
from tests.importers.helpers import document, lines, message, new_memory, turns
from tests.importers.test_chatgpt import conversation as chatgpt

BAD_PATHS = ["", " ", "a\x00b", "\ud800", "~nobody-of-that-name/x", b"bytes", None, 5, ["a"]]


@pytest.mark.parametrize("source", BAD_PATHS)
def test_a_source_that_is_no_path_is_named(source: Any) -> None:
    with pytest.raises((ValueError, TypeError), match="source"):
        import_history(source, new_memory())


@pytest.mark.parametrize("target", BAD_PATHS)
def test_a_target_that_is_no_path_is_named(target: Any) -> None:
    with pytest.raises((ValueError, TypeError), match="target"):
        export_history(new_memory(), target)


@pytest.mark.parametrize("source", ["missing", "x" * 300, "a.json/inside"])
def test_a_source_that_is_not_there_is_an_import_error(tmp_path: Path, source: str) -> None:
    (tmp_path / "a.json").touch()
    with pytest.raises(HistoryImportError, match="cannot be opened"):
        import_history(tmp_path / source, new_memory())


def test_a_target_whose_name_is_too_long_is_named(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="cannot be written"):
        export_history(new_memory(), tmp_path / ("x" * 300))


@pytest.mark.parametrize(
    "options",
    [
        {"format": "csv"},
        {"format": None},
        {"limit": 0},
        {"limit": -1},
        {"limit": True},
        {"limit": "5"},
        {"since": "soon"},
        {"since": []},
        {"until": "2026-13-01"},
        {"user_id": " "},
        {"user_id": 5},
        {"agent_id": "\x00"},
        {"limits": {"max_depth": 5}},
        {"strict": "no"},
        {"dry_run": 1},
        {"redact": None},
        {"include_tool_output": "yes"},
        {"include_deleted": 0},
        {"on_session": "print"},
        {"on_progress": 5},
    ],
)
def test_an_unusable_argument_is_named_and_nothing_is_stored(tmp_path: Path, options: dict[str, Any]) -> None:
    memory = new_memory()
    with pytest.raises((ValueError, TypeError), match=next(iter(options))):
        import_history(lines(tmp_path / "a.jsonl", [message("words")]), memory, **options)
    assert turns(memory) == []


def test_a_source_may_be_named_by_text_or_path_and_from_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    path = document(tmp_path / "c.json", [chatgpt("hi")])
    for source in (path, str(path), "~/c.json"):
        assert import_history(source, new_memory()).imported == 1


def test_counts_that_do_not_add_up_fail_the_test_that_imports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Tally, "leave", lambda *_: None)
    with pytest.raises(AssertionError):
        import_history(lines(tmp_path / "a.jsonl", [message("words"), message("x", "system")]), new_memory())
