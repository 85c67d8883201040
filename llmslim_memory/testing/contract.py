"""What every store must do: inherit the contract, give it a `store` fixture, and run pytest."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llmslim_memory.errors import DuplicateIdError
from llmslim_memory.testing import strategies
from llmslim_memory.testing.keeping import MICROSECOND, KeepingContract, few_examples
from llmslim_memory.testing.turns import ASHA, BORIS, NOON, add_all, contents, turn
from llmslim_memory.types import MemoryItem, MemoryStore, Scope

LOOKALIKES = [
    ("u1", "u10"),
    ("a_b", "axb"),
    ("a%b", "aXXb"),
    ("%", "anyone"),
    ("A", "a"),
    ("u1", "u1 "),
    ("\u00e9", "e\u0301"),
    ("asha", "\u0430sha"),
    ("$ne", "u"),
    ('{"$ne": null}', "u"),
    ("' OR '1'='1", "u"),
    ("null", "None"),
    ("1", "01"),
    ("u1", "u1\u200b"),
    ("stra\u00dfe", "strasse"),
]
UNUSABLE_IDS = ["", "  ", "a\x00b", "\ud800", "x" * 513, 7, None, {"$ne": None}, ["a"]]


class StoreContract(KeepingContract):
    """The six methods of :class:`~llmslim_memory.types.MemoryStore`.

    ::

        class TestMyStore(StoreContract):
            @pytest.fixture
            def store(self):
                with MyStore() as store:
                    yield store
    """

    # Scopes

    @pytest.mark.parametrize("name", ["user_id", "agent_id", "run_id"])
    @pytest.mark.parametrize(("mine", "other"), LOOKALIKES)
    def test_ids_that_look_alike_are_kept_apart(self, store: MemoryStore, name: str, mine: str, other: str) -> None:
        for value in (mine, other):
            ids: dict[str, Any] = {"user_id": None, name: value}
            store.add([turn(value, **ids)])
        assert contents(store.list(Scope(**{name: mine}))) == [mine]
        assert contents(store.list(Scope(**{name: other}))) == [other]
        assert store.delete_scope(Scope(**{name: mine})) == 1
        assert contents(store.list(Scope(**{name: other}))) == [other]

    def test_an_id_that_is_left_out_matches_every_value(self, store: MemoryStore) -> None:
        combinations = [(u, a, r) for u in ("u", "v", None) for a in ("a", None) for r in ("r", "s", None)]
        items = [turn(f"{ids}", user_id=ids[0], agent_id=ids[1], run_id=ids[2]) for ids in combinations if any(ids)]
        store.add(items)
        for scope in [Scope(u, a, r) for u in ("u", None) for a in ("a", None) for r in ("r", None) if u or a or r]:
            expected = [i.content for i in items if scope.matches(i.user_id, i.agent_id, i.run_id)]
            assert contents(store.list(scope)) == expected, scope

    def test_one_id_does_not_stand_for_another_kind_of_id(self, store: MemoryStore) -> None:
        store.add([turn("user", user_id="x"), turn("agent", user_id=None, agent_id="x"), turn("run", run_id="x")])
        assert contents(store.list(Scope(agent_id="x"))) == ["agent"]
        assert contents(store.list(Scope(run_id="x"))) == ["run"]

    def test_a_scope_that_nobody_used_is_empty(self, store: MemoryStore) -> None:
        assert store.list(Scope(user_id="nobody")) == []

    # Time windows

    def test_a_window_holds_its_start_and_not_its_end(self, store: MemoryStore) -> None:
        store.add([turn(str(n), at=n) for n in range(5)])
        start, end = NOON + timedelta(seconds=1), NOON + timedelta(seconds=3)
        assert contents(store.list(ASHA, since=start)) == ["1", "2", "3", "4"]
        assert contents(store.list(ASHA, until=end)) == ["0", "1", "2"]
        assert contents(store.list(ASHA, since=start, until=end)) == ["1", "2"]
        assert store.list(ASHA, since=end, until=start) == []
        assert store.list(ASHA, since=start, until=start) == []

    def test_a_window_is_exact_to_the_microsecond(self, store: MemoryStore) -> None:
        store.add([turn("before", at=NOON - MICROSECOND), turn("at"), turn("after", at=NOON + MICROSECOND)])
        assert contents(store.list(ASHA, since=NOON, until=NOON + MICROSECOND)) == ["at"]
        assert contents(store.list(ASHA, since=NOON + MICROSECOND)) == ["after"]
        assert contents(store.list(ASHA, until=NOON)) == ["before"]

    def test_a_window_may_be_given_in_any_time_zone(self, store: MemoryStore) -> None:
        store.add([turn("in"), turn("out", at=-1)])
        assert contents(store.list(ASHA, since=NOON.astimezone(timezone(timedelta(hours=9))))) == ["in"]

    # Get, update, delete

    def test_an_unknown_id_is_nobody(self, store: MemoryStore) -> None:
        assert store.get("unknown") is None
        assert store.update("unknown", content="x") is None
        assert store.delete("unknown") is False

    @pytest.mark.parametrize("item_id", UNUSABLE_IDS, ids=repr)
    def test_what_cannot_be_an_id_is_refused(self, store: MemoryStore, item_id: Any) -> None:
        for call in (store.get, store.delete, lambda i: store.update(i, content="x")):
            with pytest.raises((ValueError, TypeError)):
                call(item_id)

    def test_new_content_replaces_the_old_and_leaves_the_rest(self, store: MemoryStore) -> None:
        [item_id] = add_all(store, turn("old", metadata={"k": 1}, run_id="r"))
        before = store.get(item_id)
        updated = store.update(item_id, content="new")
        assert before is not None
        assert updated is not None
        assert updated.updated_at is not None
        assert replace(updated, updated_at=None) == replace(before, content="new")
        assert store.get(item_id) == updated

    def test_new_metadata_replaces_the_old_and_leaves_the_content(self, store: MemoryStore) -> None:
        [item_id] = add_all(store, turn("text", metadata={"a": 1, "b": 2}))
        updated = store.update(item_id, metadata={"b": 3})
        assert updated is not None
        assert (updated.content, updated.metadata) == ("text", {"b": 3})
        emptied = store.update(item_id, metadata={})
        assert emptied is not None
        assert emptied.metadata == {}

    def test_content_may_become_empty(self, store: MemoryStore) -> None:
        [item_id] = add_all(store, turn("text"))
        updated = store.update(item_id, content="")
        assert updated is not None
        assert updated.content == ""

    def test_an_update_with_nothing_changes_nothing(self, store: MemoryStore) -> None:
        [item_id] = add_all(store, turn("text"))
        before = store.get(item_id)
        assert store.update(item_id) == before
        assert store.get(item_id) == before

    def test_updated_at_is_the_time_of_the_update_in_utc(self, store: MemoryStore) -> None:
        [item_id] = add_all(store, turn("text"))
        updated = store.update(item_id, content="new")
        assert updated is not None
        assert updated.updated_at is not None
        assert abs(updated.updated_at - datetime.now(UTC)) < timedelta(minutes=10)
        assert updated.updated_at.utcoffset() == timedelta(0)

    def test_an_update_leaves_a_turn_in_its_place(self, store: MemoryStore) -> None:
        ids = add_all(store, turn("a"), turn("b"), turn("c"))
        store.update(ids[1], content="B")
        assert contents(store.list(ASHA)) == ["a", "B", "c"]

    def test_metadata_that_is_no_json_is_refused_on_update(self, store: MemoryStore) -> None:
        [item_id] = add_all(store, turn("text", metadata={"a": 1}))
        with pytest.raises(ValueError, match="JSON"):
            store.update(item_id, content="new", metadata={"x": object()})
        stored = store.get(item_id)
        assert stored is not None
        assert (stored.content, stored.metadata) == ("text", {"a": 1})

    def test_a_deleted_turn_is_gone_and_the_others_stay(self, store: MemoryStore) -> None:
        ids = add_all(store, turn("a"), turn("b"), turn("c"))
        assert store.delete(ids[1]) is True
        assert store.delete(ids[1]) is False
        assert store.get(ids[1]) is None
        assert contents(store.list(ASHA)) == ["a", "c"]

    def test_a_deleted_id_may_be_used_again(self, store: MemoryStore) -> None:
        store.add([turn("old", id="t")])
        store.delete("t")
        store.add([turn("new", id="t", user_id="boris")])
        assert store.list(ASHA) == []
        assert contents(store.list(BORIS)) == ["new"]

    def test_deleting_a_scope_counts_its_turns_and_leaves_others(self, store: MemoryStore) -> None:
        store.add([turn("a", run_id="1"), turn("b", run_id="2"), turn("c", user_id="boris", run_id="1")])
        assert store.delete_scope(Scope(user_id="asha", run_id="1")) == 1
        assert contents(store.list(ASHA)) == ["b"]
        assert store.delete_scope(ASHA) == 1
        assert store.delete_scope(ASHA) == 0
        assert contents(store.list(BORIS)) == ["c"]

    # Threads

    def test_sixteen_threads_write_and_read_at_once(self, store: MemoryStore) -> None:
        def work(number: int) -> None:
            scope = Scope(user_id=f"user-{number}")
            for n in range(12):
                item = turn(str(n), at=n, user_id=scope.user_id, run_id="shared")
                store.add([item])
                assert store.get(item.id) is not None
                assert contents(store.list(scope)) == [str(i) for i in range(n + 1)]
            store.update(item.id, content="last")

        with ThreadPoolExecutor(16) as pool:
            list(pool.map(work, range(16)))
        found = store.list(Scope(run_id="shared"))
        assert len(found) == 16 * 12
        assert len({item.seq for item in found}) == len(found)
        assert contents(found).count("last") == 16

    def test_of_many_threads_adding_one_id_exactly_one_succeeds(self, store: MemoryStore) -> None:
        def attempt(number: int) -> bool:
            try:
                store.add([turn(str(number), id="t"), turn(f"beside {number}")])
            except DuplicateIdError:
                return False
            return True

        with ThreadPoolExecutor(8) as pool:
            won = list(pool.map(attempt, range(24)))
        assert won.count(True) == 1
        assert contents(store.list(ASHA)) == [str(won.index(True)), f"beside {won.index(True)}"]

    def test_a_thread_that_lists_never_sees_half_a_batch(self, store: MemoryStore) -> None:
        def add_batches() -> None:
            for _ in range(15):
                store.add([turn("x") for _ in range(10)])

        with ThreadPoolExecutor(4) as pool:
            writers = [pool.submit(add_batches) for _ in range(2)]
            while not all(writer.done() for writer in writers):
                assert len(store.list(ASHA)) % 10 == 0
            for writer in writers:
                writer.result()
        assert len(store.list(ASHA)) == 300

    # Anything, compared with a list

    @few_examples
    @given(items=st.lists(strategies.turns(), max_size=12))
    def test_whatever_is_added_comes_back_by_every_scope(self, store: MemoryStore, items: list[MemoryItem]) -> None:
        # Examples share one store, so each has ids and users of its own; the longest id is cut to make room.
        mark = uuid4().hex
        items = [replace(i, id=i.id + mark, user_id=f"{i.user_id}"[:400] + mark) for i in items]
        items = list({item.id: item for item in items}.values())
        store.add(items)
        for user_id in {item.user_id for item in items}:
            mine = sorted((i for i in items if i.user_id == user_id), key=lambda i: i.created_at)
            found = store.list(Scope(user_id=user_id))
            assert [replace(i, seq=0) for i in found] == mine
