"""What is said is not lost among threads and processes, and what is purged is gone from the file."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from llmslim_memory import Memory as TurnMemory
from llmslim_memory.mem0 import Memory, MemoryClient

THREADS, EACH, PROGRAMS = 8, 200, ("one", "two")


def test_two_processes_of_eight_threads_lose_none_of_3200_memories(tmp_path: Path) -> None:
    db = tmp_path / "memory.db"
    program = Path(__file__).with_name("adding.py")
    commands = [[sys.executable, str(program), str(db), name, str(THREADS), str(EACH)] for name in PROGRAMS]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    running = [subprocess.Popen(command, **pipes, text=True) for command in commands]  # type: ignore[call-overload]
    answers = [process.communicate(timeout=300) for process in running]
    assert [process.returncode for process in running] == [0, 0], answers[0][1] + answers[1][1]
    assert "locked" not in answers[0][1] + answers[1][1]
    acknowledged = {line for out, _ in answers for line in out.splitlines()}
    with Memory(db=str(db)) as memory:
        stored = {
            (name, entry["memory"]): entry["id"]
            for name in PROGRAMS
            for entry in memory.get_all(user_id=name, limit=10_000)["results"]
        }
        assert len(memory.history(next(iter(acknowledged)))) == 1
    said = {(n, f"{n} {thread} says {number}") for n in PROGRAMS for thread in range(THREADS) for number in range(EACH)}
    assert len(said) == 3_200
    assert stored.keys() == said
    assert set(stored.values()) == acknowledged


CANARY = "zanzibar-canary-7731"
IMAGE = {"type": "image_url", "image_url": {"url": f"data:{CANARY}"}}


def bytes_of(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file())


def tell(memory: Memory) -> list[str]:
    """A secret in a text, an older text, metadata, a whole message and a message without text."""
    parts = [{"type": "text", "text": f"my word is {CANARY}"}, IMAGE]
    ids = [
        memory.add({"role": "user", "content": parts}, user_id="ann", metadata={"note": CANARY})["results"][0]["id"],
        memory.add(f"it was {CANARY} before", user_id="ann")["results"][0]["id"],
    ]
    memory.update(ids[1], "it is another now")
    memory.add({"role": "user", "content": [IMAGE]}, user_id="ann")
    memory.add("bob was here", user_id="bob")
    assert memory.search(CANARY, user_id="ann")["results"]
    return ids


def test_purging_a_scope_leaves_no_byte_of_it_in_any_file(tmp_path: Path) -> None:
    with Memory(db=str(tmp_path / "memory.db")) as memory:
        tell(memory)
        assert CANARY.encode() in bytes_of(tmp_path)
        memory.delete_all(user_id="ann", purge=True)
        assert CANARY.encode() not in bytes_of(tmp_path)
        assert memory.get_all(user_id="bob")["results"]


def test_purging_memories_one_by_one_leaves_no_byte_of_them(tmp_path: Path) -> None:
    with Memory(db=str(tmp_path / "memory.db")) as memory:
        first, second = tell(memory)
        memory.delete(first)
        assert CANARY.encode() in bytes_of(tmp_path), "a plain deletion keeps the history"
        memory.delete(first, purge=True)
        memory.delete(second, purge=True)
        memory.delete_all(user_id="ann")
        assert CANARY.encode() not in bytes_of(tmp_path)


def test_purging_a_scope_takes_the_histories_of_what_was_deleted_before(tmp_path: Path) -> None:
    with Memory(db=str(tmp_path / "memory.db")) as memory:
        tell(memory)
        memory.delete_all(user_id="ann")
        assert CANARY.encode() in bytes_of(tmp_path)
        memory.delete_all(user_id="ann", purge=True)
        assert CANARY.encode() not in bytes_of(tmp_path)


def test_the_clients_purges_leave_nothing_either(tmp_path: Path) -> None:
    with MemoryClient(db=str(tmp_path / "memory.db")) as client:
        client.add(CANARY, app_id="shop")
        client.add(CANARY, user_id="ann", app_id="shop")
        client.delete_all(app_id="shop", purge=True)
        memory_id = client.add(CANARY, user_id="ann")["results"][0]["id"]
        client.delete(memory_id, purge=True)
        assert CANARY.encode() not in bytes_of(tmp_path)


def test_a_reset_leaves_nothing(tmp_path: Path) -> None:
    with Memory(db=str(tmp_path / "memory.db")) as memory:
        memory.delete(tell(memory)[0])
        memory.reset()
        assert CANARY.encode() not in bytes_of(tmp_path)


def test_eight_threads_that_merge_metadata_lose_none_of_it(any_store: Any) -> None:
    with TurnMemory(any_store, encoding=len) as turns:
        memory = Memory(db=turns)
        memory_id = memory.add("I moved to Pune", user_id="asha", metadata={"first": True})["results"][0]["id"]

        def merge(thread: int) -> None:
            for step in range(5):
                memory.update(memory_id, metadata={f"{thread}-{step}": step})

        with ThreadPoolExecutor(8) as pool:
            list(pool.map(merge, range(8)))
        merged = {f"{thread}-{step}": step for thread in range(8) for step in range(5)}
        assert memory.get(memory_id)["metadata"] == {"first": True, **merged}
        assert [row["event"] for row in memory.history(memory_id)] == ["ADD"] + ["UPDATE"] * 40
