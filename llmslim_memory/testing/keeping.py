"""What a store must keep: turns as they were given, in their order, all of a batch or none."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from llmslim_memory.errors import DuplicateIdError
from llmslim_memory.testing import strategies
from llmslim_memory.testing.turns import ASHA, BORIS, NOON, add_all, contents, turn
from llmslim_memory.types import MemoryStore

MICROSECOND = timedelta(microseconds=1)

few_examples = settings(
    max_examples=25,
    deadline=None,
    # One store serves all examples of a test, and every subclass runs the same test: both are meant.
    suppress_health_check=[
        HealthCheck.function_scoped_fixture,
        HealthCheck.differing_executors,
        HealthCheck.too_slow,
    ],
)


class KeepingContract:
    """The part of :class:`StoreContract` that is about adding and getting back."""

    @pytest.fixture
    def store(self) -> MemoryStore:
        """A new, empty store; override it."""
        raise NotImplementedError("override the fixture `store` with one that gives a new, empty store")

    # Order

    def test_turns_of_one_moment_come_back_in_the_order_they_were_added(self, store: MemoryStore) -> None:
        store.add([turn("first"), turn("second"), turn("third")])
        store.add([turn("fourth")])
        assert contents(store.list(ASHA)) == ["first", "second", "third", "fourth"]

    def test_turns_come_back_oldest_first_whatever_the_order_of_adding(self, store: MemoryStore) -> None:
        store.add([turn("late", at=20), turn("early", at=1)])
        store.add([turn("middle", at=10)])
        assert contents(store.list(ASHA)) == ["early", "middle", "late"]

    def test_a_microsecond_decides_the_order(self, store: MemoryStore) -> None:
        store.add([turn("after", at=NOON + MICROSECOND), turn("before", at=NOON)])
        assert contents(store.list(ASHA)) == ["before", "after"]

    def test_the_store_numbers_turns_in_the_order_of_adding(self, store: MemoryStore) -> None:
        store.add([turn("a", at=9, seq=500), turn("b", at=5, seq=1), turn("c", at=7)])
        by_seq = sorted(store.list(ASHA), key=lambda item: item.seq)
        assert contents(by_seq) == ["a", "b", "c"]
        assert len({item.seq for item in by_seq}) == 3

    # What is kept

    def test_a_turn_comes_back_as_it_was_given(self, store: MemoryStore) -> None:
        given_turn = turn(
            "Hi\r\n\tthere", role="tool", user_id="u", agent_id="a", run_id="r", metadata={"k": [1, {"x": None}]}
        )
        given_turn = replace(given_turn, created_at=NOON + 7 * MICROSECOND, updated_at=NOON + 9 * MICROSECOND)
        store.add([given_turn])
        stored = store.get(given_turn.id)
        assert stored is not None
        assert replace(stored, seq=0) == given_turn

    def test_get_and_list_give_the_same_turn(self, store: MemoryStore) -> None:
        [item_id] = add_all(store, turn("one", metadata={"a": 1}))
        assert store.list(ASHA) == [store.get(item_id)]

    def test_ids_that_were_not_set_come_back_unset(self, store: MemoryStore) -> None:
        store.add([turn(user_id="asha")])
        [item] = store.list(ASHA)
        assert (item.agent_id, item.run_id, item.updated_at, dict(item.metadata)) == (None, None, None, {})

    @pytest.mark.parametrize(
        "moment",
        [
            datetime(1970, 1, 1, tzinfo=UTC),
            datetime(1901, 12, 13, 20, 45, 51, 999999, tzinfo=UTC),
            datetime(2026, 10, 25, 2, 30, tzinfo=timezone(timedelta(hours=5, minutes=45))),
            datetime(2026, 1, 1, tzinfo=timezone(timedelta(hours=-12))),
            datetime(9999, 12, 31, 23, 59, 59, 999999, tzinfo=UTC),
        ],
    )
    def test_times_come_back_in_utc_to_the_microsecond(self, store: MemoryStore, moment: datetime) -> None:
        [item_id] = add_all(store, turn(at=moment))
        stored = store.get(item_id)
        assert stored is not None
        assert stored.created_at == moment
        assert stored.created_at.utcoffset() == timedelta(0)

    @few_examples
    @given(text=strategies.texts(2000))
    def test_any_text_comes_back_as_it_was(self, store: MemoryStore, text: str) -> None:
        [item_id] = add_all(store, turn(text))
        stored = store.get(item_id)
        assert stored is not None
        assert stored.content == text

    @pytest.mark.parametrize("unit", ["a", "\u3042", "\U0001f40d", "line\r\n"])
    def test_a_long_text_comes_back_as_it_was(self, store: MemoryStore, unit: str) -> None:
        text = unit * (2**20 // len(unit))
        [item_id] = add_all(store, turn(text))
        stored = store.get(item_id)
        assert stored is not None
        assert stored.content == text

    @few_examples
    @given(metadata=strategies.metadata())
    def test_metadata_of_every_json_type_comes_back_as_it_was(
        self, store: MemoryStore, metadata: dict[str, Any]
    ) -> None:
        [item_id] = add_all(store, turn(metadata=metadata))
        stored = store.get(item_id)
        assert stored is not None
        assert _typed(stored.metadata) == _typed(metadata)

    def test_changing_what_was_passed_in_or_handed_out_changes_nothing_stored(self, store: MemoryStore) -> None:
        metadata = {"tags": ["a"]}
        [item_id] = add_all(store, turn(metadata=metadata))
        metadata["tags"].append("b")
        handed_out = store.get(item_id)
        assert handed_out is not None
        handed_out.metadata["tags"].append("c")
        again = store.get(item_id)
        assert again is not None
        assert again.metadata == {"tags": ["a"]}

    # All or nothing

    def test_adding_nothing_does_nothing(self, store: MemoryStore) -> None:
        store.add([])
        assert store.list(ASHA) == []

    def test_a_batch_with_a_known_id_is_refused_whole(self, store: MemoryStore) -> None:
        [known] = add_all(store, turn("old"))
        with pytest.raises(DuplicateIdError):
            store.add([turn("new"), turn("other", id=known), turn("newer")])
        assert contents(store.list(ASHA)) == ["old"]

    def test_a_batch_with_an_id_twice_is_refused_whole(self, store: MemoryStore) -> None:
        with pytest.raises(DuplicateIdError):
            store.add([turn("a"), turn("b", id="twice"), turn("c", id="twice")])
        assert store.list(ASHA) == []

    def test_an_id_of_another_scope_is_taken_too(self, store: MemoryStore) -> None:
        store.add([turn("hers", id="t")])
        with pytest.raises(DuplicateIdError):
            store.add([turn("his", id="t", user_id="boris")])
        assert contents(store.list(ASHA)) == ["hers"]
        assert store.list(BORIS) == []

    def test_a_batch_with_metadata_that_is_no_json_is_refused_whole(self, store: MemoryStore) -> None:
        with pytest.raises(ValueError, match="JSON"):
            store.add([turn("fine"), turn("bad", metadata={"x": object()})])
        assert store.list(ASHA) == []

    @pytest.mark.parametrize(
        "fault",
        [
            {"content": 5},
            {"content": None},
            {"role": None},
            {"user_id": 7},
            {"run_id": ""},
            {"agent_id": {"$ne": None}},
            {"id": "\ud800"},
            {"created_at": "2026-03-01"},
            {"created_at": datetime.min.replace(tzinfo=timezone(timedelta(hours=5)))},
            {"created_at": datetime.max.replace(tzinfo=timezone(timedelta(hours=-5)))},
        ],
        ids=repr,
    )
    def test_a_batch_with_what_is_no_turn_is_refused_whole(self, store: MemoryStore, fault: dict[str, Any]) -> None:
        spoiled = replace(turn("bad"), **fault)
        with pytest.raises((ValueError, TypeError)):
            store.add([turn("fine"), spoiled])
        assert store.list(ASHA) == []

    def test_content_that_is_no_text_is_refused_on_update(self, store: MemoryStore) -> None:
        [item_id] = add_all(store, turn("text"))
        with pytest.raises(TypeError):
            store.update(item_id, content=5)  # type: ignore[arg-type]
        assert contents(store.list(ASHA)) == ["text"]

    def test_a_store_goes_on_after_a_refused_batch(self, store: MemoryStore) -> None:
        store.add([turn("one", id="t")])
        for _ in range(3):
            with pytest.raises(DuplicateIdError):
                store.add([turn("two", id="t")])
        store.add([turn("three")])
        assert contents(store.list(ASHA)) == ["one", "three"]

    def test_a_large_batch_is_stored_whole_and_in_order(self, store: MemoryStore) -> None:
        store.add([turn(str(n)) for n in range(2500)])
        assert contents(store.list(ASHA)) == [str(n) for n in range(2500)]


def _typed(value: Any) -> str:
    """JSON text tells 1 from 1.0 and from true, which ``==`` does not."""
    return json.dumps(value, sort_keys=True)
