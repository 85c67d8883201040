"""The contract of stores that keep records beside the turns."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from llmslim_memory.errors import DuplicateIdError
from llmslim_memory.testing.turns import (
    ASHA,
    BORIS,
    RecordingStore,
    add_all,
    contents,
    turn,
)
from llmslim_memory.types import (
    Applied,
    Batch,
    Edit,
    Record,
    Scope,
    SupportsRecords,
)


class RecordsContract:
    """:class:`~llmslim_memory.types.SupportsRecords`."""

    def test_the_store_says_that_it_keeps_records(self, store: RecordingStore) -> None:
        assert isinstance(store, SupportsRecords)

    def test_a_record_comes_back_as_it_was_put(self, store: RecordingStore) -> None:
        given = Record("event", "k", {"$a.b": [1, None, {"x": "\u00e9"}]}, "g", "item", "u", "a", "r")
        store.apply(Batch(put=[given, Record("event", "bare", {})]))
        assert store.records("event") == [given, Record("event", "bare", {})]

    def test_records_come_back_in_the_order_they_were_first_written(self, store: RecordingStore) -> None:
        store.apply(Batch(put=[Record("n", key, {"v": 1}) for key in "cab"]))
        store.apply(Batch(put=[Record("n", "c", {"v": 2}, group="g"), Record("n", "d", {})]))
        found = store.records("n")
        assert [record.key for record in found] == ["c", "a", "b", "d"]
        assert found[0] == Record("n", "c", {"v": 2}, group="g")

    def test_records_are_narrowed_by_kind_keys_group_and_scope(self, store: RecordingStore) -> None:
        store.apply(
            Batch(
                put=[
                    Record("n", "1", {}, group="g", user_id="asha"),
                    Record("n", "2", {}, group="h", user_id="asha", run_id="r"),
                    Record("n", "3", {}, group="g", user_id="boris"),
                    Record("m", "1", {}, group="g"),
                ]
            )
        )

        def keys(**narrowed: Any) -> list[str]:
            return [record.key for record in store.records("n", **narrowed)]

        assert keys() == ["1", "2", "3"]
        assert keys(keys=["3", "1", "none"]) == ["1", "3"]
        assert keys(keys=[]) == []
        assert keys(group="g") == ["1", "3"]
        assert keys(scope=ASHA) == ["1", "2"]
        assert keys(scope=Scope(user_id="asha", run_id="r")) == ["2"]
        assert keys(group="g", scope=ASHA, keys=["1", "2"]) == ["1"]
        assert store.records("none") == []

    def test_a_record_is_dropped_by_kind_and_key(self, store: RecordingStore) -> None:
        store.apply(Batch(put=[Record("n", "1", {}), Record("n", "2", {}), Record("m", "1", {})]))
        store.apply(Batch(drop=[("n", "1"), ("n", "unknown")]))
        assert [record.key for record in store.records("n")] == ["2"]
        assert [record.key for record in store.records("m")] == ["1"]

    def test_a_record_can_be_claimed_once(self, store: RecordingStore) -> None:
        store.apply(Batch(claim=[Record("key", "k", {"first": True})]))
        with pytest.raises(DuplicateIdError):
            store.apply(Batch(claim=[Record("key", "k", {"first": False})]))
        with pytest.raises(DuplicateIdError):
            store.apply(Batch(claim=[Record("key", "new", {}), Record("key", "new", {})]))
        assert store.records("key") == [Record("key", "k", {"first": True})]

    def test_of_many_threads_exactly_one_claims_a_record(self, store: RecordingStore) -> None:
        def claim(number: int) -> bool:
            try:
                store.apply(Batch(add=[turn(str(number))], claim=[Record("key", "k", {"by": number})]))
            except DuplicateIdError:
                return False
            return True

        with ThreadPoolExecutor(8) as pool:
            won = list(pool.map(claim, range(16)))
        assert won.count(True) == 1
        assert contents(store.list(ASHA)) == [str(won.index(True))]

    def test_a_batch_does_everything_and_says_how_much(self, store: RecordingStore) -> None:
        store.add([turn("old", id="old"), turn("gone", id="gone")])
        applied = store.apply(
            Batch(
                add=[turn("new")],
                edit=[Edit("old", content="edited"), Edit("unknown", content="x")],
                delete=["gone", "unknown too"],
                put=[Record("n", "1", {}, item_id="gone")],
            )
        )
        assert applied == Applied(added=1, edited=1, deleted=1)
        assert contents(store.list(ASHA)) == ["edited", "new"]
        assert len(store.records("n")) == 1

    def test_an_empty_batch_does_nothing(self, store: RecordingStore) -> None:
        assert store.apply(Batch()) == Applied(0, 0, 0)

    @pytest.mark.parametrize(
        "spoiled",
        [
            Batch(add=[turn("new", id="old")]),
            Batch(claim=[Record("n", "taken", {})]),
            Batch(put=[Record("n", "bad", {"x": object()})]),
            Batch(edit=[Edit("old", metadata={"x": object()})]),
        ],
        ids=["a known id", "a known record", "a record that is no JSON", "metadata that is no JSON"],
    )
    def test_a_batch_with_a_fault_does_nothing_at_all(self, store: RecordingStore, spoiled: Batch) -> None:
        store.apply(
            Batch(add=[turn("text", id="old"), turn("other", id="other")], put=[Record("n", "taken", {"v": 1})])
        )
        before = store.list(ASHA)
        with pytest.raises(ValueError, match=r"JSON|already"):
            store.apply(
                Batch(
                    add=[turn("fine"), *spoiled.add],
                    edit=[Edit("other", content="edited"), *spoiled.edit],
                    delete=["other"],
                    claim=[Record("n", "free", {}), *spoiled.claim],
                    put=[Record("n", "taken", {"v": 2}), *spoiled.put],
                    drop=[("n", "taken")],
                )
            )
        assert store.list(ASHA) == before
        assert store.records("n") == [Record("n", "taken", {"v": 1})]

    def test_a_turn_takes_its_records_with_it(self, store: RecordingStore) -> None:
        store.add([turn(id="a"), turn(id="b")])
        store.apply(Batch(put=[Record("n", "1", {}, item_id="a"), Record("n", "2", {}, item_id="b")]))
        store.delete("a")
        assert [record.key for record in store.records("n")] == ["2"]

    def test_a_scope_takes_its_records_with_it(self, store: RecordingStore) -> None:
        store.add([turn(id="a", run_id="1"), turn(id="b", user_id="boris", run_id="1")])
        ids = [{"user_id": "asha"}, {"run_id": "1"}, {"user_id": "boris", "run_id": "1"}, {"user_id": "asha1"}, {}]
        store.apply(Batch(put=[Record("n", str(n), {}, **names) for n, names in enumerate(ids)]))
        store.apply(Batch(put=[Record("n", "of a", {}, item_id="a"), Record("n", "of b", {}, item_id="b")]))
        store.delete_scope(ASHA)
        assert [record.key for record in store.records("n")] == ["1", "2", "3", "4", "of b"]
        store.delete_scope(Scope(run_id="1"))
        assert [record.key for record in store.records("n")] == ["3", "4"]

    def test_a_scope_without_turns_takes_its_records_with_it(self, store: RecordingStore) -> None:
        store.apply(Batch(put=[Record("n", "1", {}, user_id="asha")]))
        assert store.delete_scope(ASHA) == 0
        assert store.records("n") == []

    def test_deleted_ids_are_remembered_until_they_are_added_again(self, store: RecordingStore) -> None:
        store.add([turn(id="kept"), turn(id="one"), turn(id="two"), turn(id="three", user_id="boris")])
        assert store.tombstones(["kept", "one"]) == frozenset()
        store.delete("one")
        store.apply(Batch(delete=["two"]))
        store.delete_scope(BORIS)
        asked = ["kept", "one", "two", "three", "unknown"]
        assert store.tombstones(asked) == {"one", "two", "three"}
        store.add([turn(id="one")])
        assert store.tombstones(asked) == {"two", "three"}
        assert store.tombstones([]) == frozenset()

    def test_two_thousand_ids_can_be_asked_for_at_once(self, store: RecordingStore) -> None:
        ids = add_all(store, *(turn() for _ in range(2000)))
        store.delete_scope(ASHA)
        assert store.tombstones(ids) == set(ids)
