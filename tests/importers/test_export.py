"""Our own export: every field of every turn, restored exactly, and checked as any untrusted file is."""

from __future__ import annotations

import gzip
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from llmslim_memory import HistoryImportError, Memory, MemoryItem, SQLiteStore, export_history, import_history
from llmslim_memory.testing import strategies
from tests.importers.helpers import contents, imported, lines, message, new_memory, turns


def without_seq(items: list[MemoryItem]) -> list[dict[str, Any]]:
    return [item.to_dict() | {"seq": 0} for item in items]


def filled() -> Memory:
    memory = new_memory()
    start = datetime(2026, 1, 2, 3, 4, 5, 678_901, UTC)
    for number in range(250):
        text = f'turn {number} \u2028 naïve \U0001f600\n\t\\ "quoted" password=Zq8{number}kLm2xW9vRt4nB'
        memory.add(
            {
                "role": ("user", "assistant", "tool")[number % 3],
                "content": text,
                "metadata": {"n": [number, None, {"a": 1.5}]},
            },
            user_id=f"user {number % 4}",
            agent_id="bot" if number % 2 else None,
            run_id=None if number % 5 else "s",
            timestamp=start + timedelta(days=number, microseconds=number),
        )
    memory.update(turns(memory)[7].id, "corrected", metadata={"why": "typo"})
    return memory


@pytest.mark.parametrize("name", ["all.jsonl", "all.jsonl.gz"])
def test_an_export_restores_every_field_in_the_same_order(tmp_path: Path, name: str) -> None:
    memory, other = filled(), new_memory(SQLiteStore(tmp_path / "other.db"))
    assert export_history(memory, tmp_path / name) == 250
    report = imported(tmp_path / name, other)
    assert (report.format, report.imported, report.seen, report.redactions) == ("llmslim-memory", 250, 250, {})
    assert without_seq(turns(other)) == without_seq(turns(memory))
    assert imported(tmp_path / name, other).duplicates == 250
    other.store.close()  # type: ignore[attr-defined]


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(items=st.lists(strategies.turns(), max_size=5, unique_by=lambda item: item.id))
def test_whatever_can_be_stored_comes_back_from_an_export(tmp_path: Path, items: list[MemoryItem]) -> None:
    memory, other = new_memory(), new_memory()
    memory.restore(items)
    export_history(memory, tmp_path / "x.jsonl", overwrite=True)
    imported(tmp_path / "x.jsonl", other, format="llmslim-memory")
    assert without_seq(turns(other)) == without_seq(turns(memory))


def test_the_first_line_names_format_and_version(tmp_path: Path) -> None:
    export_history(filled(), tmp_path / "x.jsonl")
    assert json.loads((tmp_path / "x.jsonl").read_text(encoding="utf-8").split("\n")[0]) == {
        "format": "llmslim-memory",
        "version": 1,
    }


def test_only_a_part_is_exported_where_ids_are_given(tmp_path: Path) -> None:
    memory = filled()
    assert export_history(memory, tmp_path / "a.jsonl", user_id="user 1", agent_id="bot") == len(
        memory.get_all(user_id="user 1", agent_id="bot")
    )


def test_the_file_is_for_its_owner_alone_and_appears_only_whole(tmp_path: Path) -> None:
    target = tmp_path / "x.jsonl"

    def stop(count: int) -> None:
        assert not target.exists()
        if count == 120:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        export_history(filled(), target, on_progress=stop)
    assert list(tmp_path.iterdir()) == []
    export_history(filled(), target)
    assert target.stat().st_mode & 0o777 == 0o600


def test_a_file_that_is_there_is_not_replaced_unless_asked_to(tmp_path: Path) -> None:
    target = tmp_path / "x.jsonl"
    target.write_text("mine", encoding="utf-8")
    with pytest.raises(ValueError, match="exists already"):
        export_history(filled(), target)
    assert target.read_text(encoding="utf-8") == "mine"
    assert export_history(filled(), target, overwrite=True) == 250


def test_a_missing_memory_or_folder_is_an_error_and_makes_nothing(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no memory"):
        export_history(tmp_path / "missing.db", tmp_path / "x.jsonl")
    with pytest.raises(ValueError, match="cannot be written"):
        export_history(filled(), tmp_path / "no folder" / "x.jsonl")
    assert list(tmp_path.iterdir()) == []


HEADER = {"format": "llmslim-memory", "version": 1}
GOOD: dict[str, Any] = {
    "id": "0af1",
    "role": "user",
    "content": "fine",
    "created_at": "2026-01-02T03:04:05.678901+00:00",
    "user_id": "ann",
    "metadata": {},
}


@pytest.mark.parametrize(
    "bad",
    [
        {"id": None},
        {"id": ""},
        {"id": 5},
        {"id": "x\x00"},
        {"id": "x" * 2000},
        {"role": "System:"},
        {"role": None},
        {"content": None},
        {"content": 5},
        {"content": "x" * (1 << 21)},
        {"created_at": None},
        {"created_at": "soon"},
        {"created_at": True},
        {"updated_at": "soon"},
        {"user_id": None},
        {"user_id": " "},
        {"run_id": ["s"]},
        {"metadata": "text"},
        {"metadata": [1]},
    ],
)
def test_a_turn_that_could_not_have_been_stored_is_malformed(tmp_path: Path, bad: dict[str, Any]) -> None:
    memory = new_memory()
    report = imported(lines(tmp_path / "x.jsonl", [HEADER, GOOD, GOOD | {"id": "0af2"} | bad]), memory)
    assert (report.imported, report.malformed) == (1, 1)


def test_a_turn_that_is_stored_is_never_replaced_by_one_of_a_file(tmp_path: Path) -> None:
    memory = new_memory()
    imported(lines(tmp_path / "x.jsonl", [HEADER, GOOD]), memory)
    report = imported(lines(tmp_path / "x.jsonl", [HEADER, GOOD | {"content": "forged", "user_id": "eve"}]), memory)
    assert report.duplicates == 1
    assert contents(memory) == ["fine"]


def test_under_another_user_a_turn_is_another_turn(tmp_path: Path) -> None:
    memory = new_memory()
    path = lines(tmp_path / "x.jsonl", [HEADER, GOOD])
    for name in (None, "bob", "bob"):
        imported(path, memory, user_id=name)
    assert [(item.user_id, item.content) for item in turns(memory)] == [("ann", "fine"), ("bob", "fine")]


def test_long_turns_that_memory_holds_are_restored(tmp_path: Path) -> None:
    memory, other = new_memory(), new_memory()
    memory.add(message("x " * 200_000), user_id="ann")
    export_history(memory, tmp_path / "x.jsonl.gz")
    imported(tmp_path / "x.jsonl.gz", other)
    assert contents(other) == contents(memory)


def test_deleted_turns_are_not_restored_unless_asked_for(tmp_path: Path) -> None:
    memory = filled()
    export_history(memory, tmp_path / "x.jsonl")
    memory.delete(turns(memory)[3].id)
    assert imported(tmp_path / "x.jsonl", memory).skipped == {"deleted": 1}
    assert imported(tmp_path / "x.jsonl", memory, include_deleted=True).imported == 1


def test_an_export_of_a_newer_release_is_refused(tmp_path: Path) -> None:
    path = lines(tmp_path / "x.jsonl", [HEADER | {"version": 2}, GOOD])
    with pytest.raises(HistoryImportError, match="newer release"):
        import_history(path, new_memory())


def test_an_empty_memory_exports_and_imports(tmp_path: Path) -> None:
    assert export_history(new_memory(), tmp_path / "x.jsonl.gz") == 0
    assert gzip.decompress((tmp_path / "x.jsonl.gz").read_bytes()).count(b"\n") == 1
    assert imported(tmp_path / "x.jsonl.gz").seen == 0
