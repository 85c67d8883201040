"""Contracts for stores that are closed, and for stores that several processes share."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import Any

import pytest

from llmslim_memory.errors import StoreClosedError
from llmslim_memory.memory import Memory
from llmslim_memory.testing.turns import ASHA, ClosableStore, add_all, contents, turn
from llmslim_memory.types import MemoryStore, Scope

Opener = Callable[[], ClosableStore]
PROCESS_SECONDS = 120


class CloseContract:
    """A store with ``close()``."""

    @pytest.mark.parametrize(
        "use",
        [
            lambda store: store.add([turn()]),
            lambda store: store.list(ASHA),
            lambda store: store.get("t"),
            lambda store: store.update("t", content="x"),
            lambda store: store.delete("t"),
            lambda store: store.delete_scope(ASHA),
        ],
        ids=["add", "list", "get", "update", "delete", "delete_scope"],
    )
    def test_a_closed_store_says_so(self, store: ClosableStore, use: Callable[[MemoryStore], Any]) -> None:
        store.add([turn(id="t")])
        store.close()
        with pytest.raises(StoreClosedError):
            use(store)

    def test_closing_twice_does_nothing(self, store: ClosableStore) -> None:
        store.close()
        store.close()

    def test_leaving_a_with_block_closes(self, store: Any) -> None:
        with store as entered:
            assert entered is store
        with pytest.raises(StoreClosedError):
            store.get("t")


class SharedContract:
    """A store that outlives its process and that several processes use at once.

    The fixture ``opener`` gives a function that opens what ``store`` holds once more, here or in another process: it
    must be picklable, such as ``functools.partial(MyStore, path)``.
    """

    @pytest.fixture
    def opener(self) -> Opener:
        """How to open the store's data once more; override it."""
        raise NotImplementedError("override the fixture `opener` with one that gives a picklable function")

    def test_what_was_stored_is_there_after_opening_again(self, store: ClosableStore, opener: Opener) -> None:
        ids = add_all(store, turn("a", metadata={"k": [1]}), turn("b"), turn("c"))
        store.update(ids[1], content="B")
        store.delete(ids[2])
        before = store.list(ASHA)
        store.close()
        with closing(opener()) as again:
            assert again.list(ASHA) == before
            again.add([turn("d")])
            assert contents(again.list(ASHA)) == ["a", "B", "d"]

    def test_what_another_opener_writes_is_seen_at_once(self, store: ClosableStore, opener: Opener) -> None:
        with closing(opener()) as other:
            [item_id] = add_all(other, turn("a"))
            assert contents(store.list(ASHA)) == ["a"]
            store.update(item_id, content="b")
            assert contents(other.list(ASHA)) == ["b"]
            other.delete(item_id)
            assert store.list(ASHA) == []

    def test_two_processes_and_eight_threads_lose_no_turn(self, store: ClosableStore, opener: Opener) -> None:
        # 8 threads and 2 processes add 200 turns each while they list; nothing fails and all 2,000 are there.
        done = _in_processes([(add_turns, (opener, f"process {n}", 1, 200)) for n in range(2)], meanwhile=store)
        assert done == [0, 0]
        found = store.list(Scope(run_id="shared"))
        assert len(found) == 2000
        assert len({item.seq for item in found}) == 2000
        for user_id in ("process 0-0", "process 1-0", *(f"here-{n}" for n in range(8))):
            assert contents(store.list(Scope(user_id=user_id))) == [str(n) for n in range(200)]

    def test_several_processes_may_open_at_once(self, store: ClosableStore, opener: Opener) -> None:
        assert _in_processes([(add_turns, (opener, f"process {n}", 1, 3)) for n in range(4)]) == [0, 0, 0, 0]
        assert len(store.list(Scope(run_id="shared"))) == 12


class SharedChangesContract:
    """A shared store that can be followed: the writes of other processes are among the changes."""

    def test_the_writes_of_another_process_are_among_the_changes(self, store: Any, opener: Opener) -> None:
        ids = add_all(store, turn("old"), turn("gone"))
        cursor = store.changes(ASHA).cursor
        assert _in_processes([(change_turns, (opener, ids))]) == [0]
        changes = store.changes(ASHA, after=cursor)
        items = store.get_many([head.id for head in changes.heads])
        assert sorted(contents(items.values())) == ["edited", "new"]
        assert ids[1] in changes.deleted

    def test_a_search_follows_the_writes_of_another_process(self, store: Any, opener: Opener) -> None:
        ids = add_all(store, turn("old"), turn("gone"))
        memory = Memory(store)
        assert memory.search("old", user_id="asha").text.count("user: ") == 2
        assert _in_processes([(change_turns, (opener, ids))]) == [0]
        text = memory.search("edited", user_id="asha").text
        assert [word in text for word in ("edited", "new", "old", "gone")] == [True, True, False, False]


def add_turns(opener: Opener, name: str, threads: int, count: int) -> None:
    """In a process of its own: add ``count`` turns one by one and list them now and then."""
    with closing(opener()) as store:
        _add_in_threads(store, name, threads, count)


def change_turns(opener: Opener, ids: Sequence[str]) -> None:
    """In a process of its own: edit the first turn, delete the second, add a third."""
    with closing(opener()) as store:
        store.update(ids[0], content="edited")
        store.delete(ids[1])
        store.add([turn("new")])


def _add_in_threads(store: MemoryStore, name: str, threads: int, count: int) -> None:
    def add(number: int) -> None:
        scope = Scope(user_id=f"{name}-{number}")
        for n in range(count):
            store.add([turn(str(n), user_id=scope.user_id, run_id="shared")])
            if n % 20 == 0:
                assert len(store.list(scope)) == n + 1

    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(add, range(threads)))


def _in_processes(
    calls: Sequence[tuple[Callable[..., None], tuple[Any, ...]]], meanwhile: MemoryStore | None = None
) -> list[int | None]:
    """Make each call in a process of its own and return their exit codes."""
    # A forked process would share this one's connections; a spawned one starts as another program would.
    context = multiprocessing.get_context("spawn")
    processes = [context.Process(target=call, args=args, daemon=True) for call, args in calls]
    for process in processes:
        process.start()
    if meanwhile is not None:
        _add_in_threads(meanwhile, "here", 8, 200)
    for process in processes:
        process.join(PROCESS_SECONDS)
    return [process.exitcode for process in processes]
