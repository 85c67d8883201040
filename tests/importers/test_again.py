"""Importing again: the same history, a longer one, an overlapping one, after a crash, after a deletion."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from llmslim_memory import (
    HistoryImportError,
    InMemoryStore,
    Memory,
    MemoryItem,
    SQLiteStore,
    StoreError,
    import_history,
)
from tests.importers.helpers import contents, document, imported, lines, message, new_memory, turns
from tests.importers.test_chatgpt import conversation as chatgpt
from tests.importers.test_claude_ai import conversation as claude
from tests.importers.test_claude_code import assistant, user
from tests.importers.test_mem0 import fact

Write = Callable[[Path, int], Path]


def transcript(path: Path, count: int) -> Path:
    records = [user("m0", "word 0")]
    records += [(user, assistant)[n % 2](f"m{n}", f"word {n}", f"m{n - 1}") for n in range(1, count)]
    return lines(path / "s.jsonl", records)


EXPORTS: dict[str, Write] = {
    "chatgpt": lambda path, n: document(path / "c.json", [chatgpt(*(f"word {i}" for i in range(n)))]),
    "claude-ai": lambda path, n: document(path / "c.json", [claude(*(f"word {i}" for i in range(n)))]),
    "claude-code": transcript,
    "mem0": lambda path, n: document(path / "m.json", {"results": [fact(f"word {i}", f"f{i}") for i in range(n)]}),
    "jsonl": lambda path, n: lines(path / "g.jsonl", [message(f"word {i}", session_id="s") for i in range(n)]),
}


@pytest.mark.parametrize("name", EXPORTS)
def test_the_same_export_adds_nothing_and_a_longer_one_only_what_is_new(tmp_path: Path, name: str) -> None:
    memory = new_memory()
    first = imported(EXPORTS[name](tmp_path, 3), memory)
    assert (first.format, first.imported) == (name, 3)
    before = turns(memory)
    again = imported(EXPORTS[name](tmp_path, 3), memory)
    assert (again.imported, again.duplicates) == (0, 3)
    assert turns(memory) == before
    longer = imported(EXPORTS[name](tmp_path, 5), memory)
    assert (longer.imported, longer.duplicates) == (2, 3)
    assert contents(memory) == [f"word {n}" for n in range(5)]


@pytest.mark.parametrize("name", EXPORTS)
def test_a_dry_run_counts_as_the_import_after_it_and_stores_nothing(tmp_path: Path, name: str) -> None:
    memory = new_memory()
    path = EXPORTS[name](tmp_path, 4)
    for _ in range(2):
        dry, real = imported(path, memory, dry_run=True), imported(path, memory)
        assert dry.dry_run
        assert (dry.imported, dry.duplicates, dry.skipped) == (real.imported, real.duplicates, real.skipped)
        assert [session.imported for session in dry.sessions] == [session.imported for session in real.sessions]
        assert len(turns(memory)) == 4


def test_a_dry_run_makes_no_database_and_needs_none(tmp_path: Path) -> None:
    path = EXPORTS["jsonl"](tmp_path, 2)
    target = tmp_path / "deep" / "memory.db"
    assert import_history(path, str(target), dry_run=True).imported == 2
    assert import_history(path, f"sqlite:///{target}", dry_run=True).imported == 2
    assert not target.parent.exists()
    assert import_history(path, None, dry_run=True).imported == 2
    with pytest.raises(ValueError, match="memory is None"):
        import_history(path, None)


def test_a_dry_run_finds_copies_within_the_export(tmp_path: Path) -> None:
    document(tmp_path / "a.json", [chatgpt("one", "two")])
    document(tmp_path / "b.json", [chatgpt("one", "two", "three")])
    dry = import_history(tmp_path, None, dry_run=True)
    assert (dry.imported, dry.duplicates) == (3, 2)


def test_overlapping_exports_end_as_one(tmp_path: Path) -> None:
    talks = [chatgpt(f"in {key}", key=key) for key in "abcd"]
    memory = new_memory()
    for part in (talks[:3], talks[1:]):
        imported(document(tmp_path / "c.json", part), memory)
    assert contents(memory) == ["in a", "in b", "in c", "in d"]


def test_a_resumed_a_forked_and_a_copied_session_collapse(tmp_path: Path) -> None:
    original = [user("u", "the words"), assistant("a", "the reply", "u")]
    copied = [record | {"sessionId": "copy"} for record in original]
    forked = [
        record | {"uuid": f"new-{record['uuid']}", "sessionId": "fork", "forkedFrom": {"messageUuid": record["uuid"]}}
        for record in original
    ]
    memory = new_memory()
    for name, records in (("a", original), ("b", [*copied, user("v", "went on", "a")]), ("c", forked)):
        lines(tmp_path / f"{name}.jsonl", records)
    report = imported(tmp_path, memory)
    assert contents(memory) == ["the words", "the reply", "went on"]
    assert report.duplicates == 4


def test_replies_that_share_a_message_id_across_sessions_are_all_kept(tmp_path: Path) -> None:
    lines(tmp_path / "a.jsonl", [assistant("a", "one", reply="msg_1")])
    lines(tmp_path / "b.jsonl", [assistant("b", "two", reply="msg_1")])
    memory = new_memory()
    imported(tmp_path, memory)
    assert contents(memory) == ["one", "two"]


def test_two_users_who_import_the_same_export_each_have_it(tmp_path: Path) -> None:
    memory = new_memory()
    path = EXPORTS["chatgpt"](tmp_path, 2)
    for name in ("ann", "bob"):
        assert imported(path, memory, user_id=name).imported == 2
    assert len({item.id for item in turns(memory)}) == 4


def test_what_the_user_deleted_stays_deleted_unless_asked_for(tmp_path: Path) -> None:
    memory = new_memory()
    path = EXPORTS["claude-ai"](tmp_path, 3)
    imported(path, memory)
    memory.delete(turns(memory)[1].id)
    for options in ({"dry_run": True}, {}):
        report = imported(path, memory, **options)
        assert (report.imported, report.duplicates, report.skipped) == (0, 2, {"deleted": 1})
    assert contents(memory) == ["word 0", "word 2"]
    assert imported(path, memory, include_deleted=True).imported == 1
    assert sorted(contents(memory)) == ["word 0", "word 1", "word 2"]


def test_a_turn_corrected_in_memory_keeps_the_correction(tmp_path: Path) -> None:
    memory = new_memory()
    path = EXPORTS["chatgpt"](tmp_path, 1)
    imported(path, memory)
    memory.update(turns(memory)[0].id, "corrected")
    assert imported(path, memory).duplicates == 1
    assert contents(memory) == ["corrected"]


class Failing(InMemoryStore):
    """A store whose disk fills up."""

    left = 700

    def apply(self, batch: Any) -> Any:
        if self.left < len(batch.add):
            raise StoreError("the disk is full")
        self.left -= len(batch.add)
        return super().apply(batch)


def test_an_import_that_failed_half_way_ends_the_same_when_it_is_started_again(tmp_path: Path) -> None:
    path = EXPORTS["jsonl"](tmp_path, 1200)
    store = Failing()
    memory = new_memory(store)
    with pytest.raises(StoreError):
        imported(path, memory)
    assert len(turns(memory)) == 500
    store.left = 10_000
    report = imported(path, memory)
    assert (report.imported, report.duplicates) == (700, 500)
    whole = new_memory()
    imported(path, whole)
    assert contents(memory) == contents(whole)


def test_an_import_that_was_killed_ends_the_same_when_it_is_started_again(tmp_path: Path) -> None:
    path = EXPORTS["jsonl"](tmp_path, 1700)
    script = (
        "import os, signal, sys; from llmslim_memory import Memory, import_history\n"
        "memory = Memory(sys.argv[2], encoding=len); restore = memory.restore\n"
        "def twice(items, calls=[]):\n"
        "    calls.append(1); len(calls) == 3 and os.kill(os.getpid(), signal.SIGKILL); return restore(items)\n"
        "memory.restore = twice; import_history(sys.argv[1], memory)"
    )
    target = tmp_path / "memory.db"
    done = subprocess.run([sys.executable, "-c", script, str(path), str(target)], capture_output=True, check=False)
    assert done.returncode == -9, done.stderr
    with new_memory(SQLiteStore(target)) as memory:
        assert len(turns(memory)) == 1000
        report = imported(path, memory)
        assert (report.imported, report.duplicates) == (700, 1000)
        assert contents(memory) == [f"word {n}" for n in range(1700)]
        memory.store.close()  # type: ignore[attr-defined]


@pytest.mark.parametrize("limit", [1, 2, 499, 500, 501, 1199, 1200, 5000])
def test_a_limit_stops_after_so_many_new_turns_and_the_next_import_goes_on(tmp_path: Path, limit: int) -> None:
    memory = new_memory()
    path = EXPORTS["jsonl"](tmp_path, 1200)
    report = imported(path, memory, limit=limit)
    assert report.imported == min(limit, 1200)
    assert report.limited == (limit <= 1200)
    assert imported(path, memory).imported == 1200 - report.imported


def test_only_turns_in_the_time_window_are_imported(tmp_path: Path) -> None:
    records = [message(f"day {day}", timestamp=f"2026-05-0{day}T10:00:00Z") for day in range(1, 6)]
    memory = new_memory()
    path = lines(tmp_path / "a.jsonl", [*records, message("no time", session_id="other")])
    report = imported(path, memory, since="2026-05-02T10:00:00Z", until="2026-05-04T10:00:00Z")
    assert contents(memory) == ["day 2", "day 3", "no time"]
    assert report.skipped == {"outside_window": 3}


@pytest.mark.parametrize(("text", "count"), [("x", 1300), ("x" * 90_000, 120), ("語" * 90_000, 60)])
def test_turns_are_written_in_batches_of_bounded_number_and_size(tmp_path: Path, text: str, count: int) -> None:
    written: list[list[str]] = []

    class Watched(InMemoryStore):
        def apply(self, batch: Any) -> Any:
            written.append([item.content for item in batch.add])
            return super().apply(batch)

    path = lines(tmp_path / "a.jsonl", [message(f"{number} {text}") for number in range(count)])
    imported(path, new_memory(Watched()))
    assert sum(map(len, written)) == count
    assert all(len(batch) <= 500 for batch in written)
    assert all(sum(len(text.encode()) for text in batch) < 4_300_000 for batch in written)
    assert len(written) > 1


def test_sessions_are_told_as_they_are_done_and_add_up_to_the_report(tmp_path: Path) -> None:
    talks = [chatgpt(*(f"{key} {n}" for n in range(40)), key=f"c{key}") for key in range(50)]
    told: list[Any] = []
    report = imported(document(tmp_path / "c.json", talks), on_session=told.append)
    assert [session.session_id for session in told] == [f"c{key}" for key in range(50)]
    assert report.sessions == tuple(told)
    assert report.sessions_total == 50
    assert sum(session.imported for session in told) == report.imported == 2000


def test_progress_ends_at_the_size_of_what_is_read(tmp_path: Path) -> None:
    for name in ("jsonl", "claude-code"):
        seen: list[tuple[int, int]] = []
        imported(EXPORTS[name](tmp_path / "", 3), on_progress=lambda done, total, seen=seen: seen.append((done, total)))
        assert seen[-1][0] == seen[-1][1] > 0
        assert [done for done, _ in seen] == sorted(done for done, _ in seen)


def test_a_report_is_json(tmp_path: Path) -> None:
    report = imported(EXPORTS["chatgpt"](tmp_path, 2))
    data = json.loads(json.dumps(report.to_dict()))
    assert (data["imported"], data["ok"], data["sessions"][0]["turns"]) == (2, True, 2)


def test_a_store_that_can_do_no_more_than_it_must_takes_an_import(tmp_path: Path) -> None:
    class Bare:
        def __init__(self) -> None:
            inner = InMemoryStore()
            for name in ("add", "list", "get", "update", "delete", "delete_scope"):
                setattr(self, name, getattr(inner, name))

    memory = Memory(Bare(), encoding=len)  # type: ignore[arg-type]
    path = EXPORTS["jsonl"](tmp_path, 3)
    assert import_history(path, memory).imported == 3
    assert import_history(path, memory).duplicates == 3


def test_an_import_that_stops_strictly_keeps_what_came_before(tmp_path: Path) -> None:
    memory = new_memory()
    path = lines(tmp_path / "a.jsonl", [message("one"), message("two"), "{", message("three")])
    with pytest.raises(HistoryImportError, match="line 3"):
        import_history(path, memory, strict=True)
    assert contents(memory) == ["one", "two"]


def test_imported_turns_are_found_by_a_search(tmp_path: Path) -> None:
    memory = new_memory()
    imported(document(tmp_path / "c.json", [claude("My cat is called Pixel.", "A fine name.")]), memory)
    assert "Pixel" in memory.search("What is my cat called?", user_id="default").text


def _ids(items: list[MemoryItem]) -> list[str]:
    return [item.id for item in items]


def test_ids_are_the_same_in_every_memory(tmp_path: Path) -> None:
    one, other = new_memory(), new_memory()
    for name in EXPORTS:
        for memory in (one, other):
            imported(EXPORTS[name](tmp_path, 3), memory)
    assert _ids(turns(one)) == _ids(turns(other))


def test_a_dry_run_leaves_a_database_file_as_it_is(tmp_path: Path) -> None:
    path = EXPORTS["jsonl"](tmp_path, 3)
    target = tmp_path / "memory.db"
    import_history(path, target, limit=2)
    before = target.read_bytes(), target.stat().st_mtime_ns
    report = import_history(path, str(target), dry_run=True)
    assert (report.imported, report.duplicates) == (1, 2)
    assert (target.read_bytes(), target.stat().st_mtime_ns) == before
