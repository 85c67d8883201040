"""Memory joins the layers: what is added comes back, in its scope only, and bad input changes nothing."""

from __future__ import annotations

import copy
import pickle
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from memories import NOON, BareStore, contents, memory, say

from llmslim_memory import (
    AsyncMemory,
    Batch,
    DuplicateIdError,
    Edit,
    InMemoryStore,
    Memory,
    MemoryItem,
    Record,
    Scope,
    UnsupportedError,
)
from llmslim_memory.errors import StoreClosedError

__all__ = ["memory"]


def test_turns_come_back_word_for_word_in_order(memory: Memory) -> None:
    memory.add([say("first"), say("second"), say("  third \n\t")], user_id="u1")
    assert contents(memory.get_all(user_id="u1")) == ["first", "second", "  third \n\t"]


def test_add_returns_the_turns_as_they_are_stored(memory: Memory) -> None:
    (item,) = memory.add(say("a\x00b"), user_id="u1", run_id="r1", metadata={"source": "test"})
    assert item == memory.get(item.id)
    assert (item.content, item.created_at, item.run_id, item.metadata) == ("a\ufffdb", NOON, "r1", {"source": "test"})


def test_a_messages_own_metadata_goes_over_the_calls(memory: Memory) -> None:
    (item,) = memory.add(say("x", metadata={"a": 2}), user_id="u1", metadata={"a": 1, "b": 1})
    assert item.metadata == {"a": 2, "b": 1}


def test_nothing_is_stored_when_one_message_is_bad(memory: Memory) -> None:
    with pytest.raises(ValueError, match="role"):
        memory.add([say("good"), {"role": "NO WAY", "content": "bad"}], user_id="u1")
    assert memory.get_all(user_id="u1") == []


def test_a_message_with_an_id_is_stored_once(memory: Memory) -> None:
    first = memory.add(say("hello", id="m1"), user_id="u1")
    again = memory.add([say("hello", id="m1"), say("hello", id="m1")], user_id="u1")
    assert again == first * 2
    assert len(memory.get_all(user_id="u1")) == 1


def test_the_stored_id_can_be_told_beforehand(memory: Memory) -> None:
    (item,) = memory.add(say("hello", id="m1"), user_id="u1", run_id="r1")
    assert item.id == memory.item_id("m1", user_id="u1", run_id="r1") != memory.item_id("m1", user_id="u1")


def test_two_users_can_use_the_same_message_id(memory: Memory) -> None:
    memory.add(say("mine", id="m1"), user_id="u1")
    memory.add(say("yours", id="m1"), user_id="u2")
    assert contents(memory.get_all(user_id="u1")) == ["mine"]
    assert contents(memory.get_all(user_id="u2")) == ["yours"]


def test_other_content_under_the_same_id_is_an_error_and_stores_nothing(memory: Memory) -> None:
    memory.add(say("hello", id="m1"), user_id="u1")
    with pytest.raises(DuplicateIdError, match="on_conflict"):
        memory.add([say("new"), say("other", id="m1")], user_id="u1")
    assert contents(memory.get_all(user_id="u1")) == ["hello"]


def test_keep_leaves_what_is_stored_and_update_replaces_it(memory: Memory) -> None:
    memory.add(say("hello", id="m1"), user_id="u1")
    assert contents(memory.add(say("other", id="m1"), user_id="u1", on_conflict="keep")) == ["hello"]
    assert contents(memory.add(say("other", id="m1"), user_id="u1", on_conflict="update")) == ["other"]
    assert contents(memory.get_all(user_id="u1")) == ["other"]


def test_within_one_batch_the_rule_for_conflicts_holds_too(memory: Memory) -> None:
    batch = [say("one", id="m1"), say("two", id="m1")]
    assert contents(memory.add(batch, user_id="u1", on_conflict="keep")) == ["one", "one"]
    assert contents(memory.add(batch, user_id="u2", on_conflict="update")) == ["two", "two"]


def test_update_with_the_same_text_records_other_metadata(memory: Memory) -> None:
    memory.add(say("x", id="m1", metadata={"a": 1}), user_id="u1")
    (item,) = memory.add(say("x", id="m1", metadata={"a": 2}), user_id="u1", on_conflict="update")
    assert item.metadata == {"a": 2}


def test_update_changes_text_and_metadata_and_says_none_for_unknown_ids(memory: Memory) -> None:
    (item,) = memory.add(say("I live in Rome"), user_id="u1", metadata={"a": 1})
    changed = memory.update(item.id, "I live in Oslo")
    assert changed is not None
    assert (changed.content, changed.metadata) == ("I live in Oslo", {"a": 1})
    assert changed.updated_at is not None
    assert memory.update("unknown", "x") is None
    assert "Oslo" in memory.search("Where do I live?", user_id="u1").text


def test_edits_are_made_with_what_is_added(memory: Memory) -> None:
    first, second = memory.add([say("the heron is grey"), say("the pond is deep")], user_id="u1")
    edits = [Edit(first.id, metadata={"seen": True}), Edit(second.id, content="the pond is dry"), Edit("unknown", "x")]
    assert contents(memory.add([say("a fox")], user_id="u1", edits=edits)) == ["a fox"]
    assert memory.add([], user_id="u1", edits=[Edit(first.id, metadata={"seen": False})]) == []
    items = memory.get_all(user_id="u1")
    assert contents(items) == ["the heron is grey", "the pond is dry", "a fox"]
    assert items[0].metadata == {"seen": False}
    assert memory.search("dry", user_id="u1", k=1).turns[0].item.id == second.id


@pytest.mark.parametrize("edit", [Edit("", "x"), Edit("a", metadata={"x": {1}}), Edit("a", content=7)])  # type: ignore[arg-type,dict-item]
def test_an_edit_that_cannot_be_stored_changes_nothing(memory: Memory, edit: Edit) -> None:
    with pytest.raises((ValueError, TypeError)):
        memory.add([say("a fox")], user_id="u1", edits=[edit])
    assert memory.get_all(user_id="u1") == []


def test_update_with_nothing_is_an_error(memory: Memory) -> None:
    with pytest.raises(ValueError, match="nothing to update"):
        memory.update("some-id")


def test_deleted_turns_are_gone_from_search(memory: Memory) -> None:
    (item,) = memory.add(say("the code word is heron"), user_id="u1")
    assert "heron" in memory.search("code word", user_id="u1").text
    assert memory.delete(item.id)
    assert not memory.delete(item.id)
    assert "heron" not in memory.search("code word", user_id="u1").text


def test_delete_all_deletes_the_scope_and_nothing_else(memory: Memory) -> None:
    memory.add([say("a"), say("b")], user_id="u1")
    memory.add(say("c"), user_id="u10")
    assert memory.delete_all(user_id="u1") == 2
    assert contents(memory.get_all(user_id="u10")) == ["c"]


def test_prune_deletes_what_is_older(memory: Memory) -> None:
    memory.add(say("old"), user_id="u1", timestamp=NOON - timedelta(days=100))
    memory.add(say("new"), user_id="u1", timestamp=NOON - timedelta(days=1))
    assert memory.prune(older_than=timedelta(days=90), user_id="u1") == 1
    assert contents(memory.get_all(user_id="u1")) == ["new"]
    assert memory.prune(older_than=NOON, user_id="u1") == 1


def test_get_all_takes_a_half_open_window(memory: Memory) -> None:
    for day in (1, 2, 3):
        memory.add(say(f"day {day}"), user_id="u1", timestamp=f"2026-01-0{day}")
    assert contents(memory.get_all(user_id="u1", since="2026-01-02", until="2026-01-03")) == ["day 2"]


def test_restore_keeps_ids_times_and_what_is_there(memory: Memory) -> None:
    edited = MemoryItem("a", "user", "one", NOON, user_id="u1", updated_at=NOON + timedelta(days=1))
    other = MemoryItem("b", "user", "two", NOON, user_id="u2")
    assert memory.restore([edited, other]) == [edited, other]
    assert memory.restore([edited]) == []
    stored = memory.get("a")
    assert stored is not None
    assert (stored.content, stored.updated_at) == ("one", NOON + timedelta(days=1))


@pytest.mark.parametrize(
    ("arguments", "error", "says"),
    [
        ({}, ValueError, "scope is empty"),
        ({"user_id": ""}, ValueError, "blank"),
        ({"user_id": "  "}, ValueError, "blank"),
        ({"user_id": 7}, TypeError, "user_id must be a string"),
        ({"user_id": "u\x00"}, ValueError, "NUL"),
        ({"user_id": "u1", "budget": 0}, ValueError, "budget is 0"),
        ({"user_id": "u1", "budget": 1.5}, TypeError, "budget"),
        ({"user_id": "u1", "budget": True}, TypeError, "budget"),
        ({"user_id": "u1", "coverage": "some"}, ValueError, "'auto'"),
        ({"user_id": "u1", "preferences": 1}, TypeError, "preferences"),
        ({"user_id": "u1", "explain": None}, TypeError, "explain"),
        ({"user_id": "u1", "relevance": 3}, TypeError, "relevance"),
        ({"user_id": "u1", "since": "soon"}, ValueError, "since"),
        ({"user_id": "u1", "exclude": "abc"}, TypeError, "exclude"),
        ({"user_id": "u1", "exclude": [1]}, TypeError, "exclude"),
        ({"user_id": "u1", "now": []}, TypeError, "now"),
    ],
)
def test_a_wrong_argument_is_named(
    memory: Memory, arguments: dict[str, Any], error: type[Exception], says: str
) -> None:
    with pytest.raises(error, match=says):
        memory.search("x", **arguments)


def test_a_query_that_is_no_text_is_refused(memory: Memory) -> None:
    with pytest.raises(TypeError, match="query"):
        memory.search(None, user_id="u1")  # type: ignore[arg-type]


def test_what_a_bare_store_lacks_is_named() -> None:
    with pytest.raises(UnsupportedError, match=r"BareStore.*SupportsScan"):
        Memory(BareStore()).scopes()


def test_pages_and_scopes_list_everything() -> None:
    memory = Memory()
    memory.add([say("a"), say("b")], user_id="u1", run_id="r1")
    memory.add(say("c"), user_id="u2")
    page = memory.scan(limit=2)
    assert contents(page.items) == ["a", "b"]
    assert contents(memory.scan(after=page.next, limit=2).items) == ["c"]
    assert contents(memory.scan(user_id="u2").items) == ["c"]
    assert [(s.user_id, s.run_id, s.turns) for s in memory.scopes()] == [("u1", "r1", 2), ("u2", None, 1)]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"store": 7}, "int lacks"),
        ({"tz": "UTC"}, "tzinfo"),
        ({"stamp_format": 3}, "strftime"),
        ({"clock": NOON}, "clock"),
        ({"budget": "many"}, "budget"),
        ({"standing_requests": "yes"}, "standing_requests"),
    ],
)
def test_a_wrong_constructor_argument_is_named(arguments: dict[str, Any], says: str) -> None:
    with pytest.raises(TypeError, match=says):
        Memory(**arguments)


def test_a_stamp_of_two_lines_is_refused() -> None:
    with pytest.raises(ValueError, match="one line"):
        Memory(stamp_format="%Y%n%m")


def test_a_store_opened_here_is_closed_here_and_one_passed_in_is_not(tmp_path: Path) -> None:
    with Memory(tmp_path / "a.db") as memory:
        memory.add(say("x"), user_id="u1")
    with pytest.raises(StoreClosedError):
        memory.get_all(user_id="u1")
    store = InMemoryStore()
    with Memory(store) as memory:
        memory.add(say("x"), user_id="u1")
    assert len(store.list(Scope("u1"))) == 1


def test_a_deleted_message_comes_back_unless_told_not_to() -> None:
    memory = Memory()
    (item,) = memory.add(say("hello", id="m1"), user_id="u1")
    memory.delete(item.id)
    assert memory.add(say("hello", id="m1"), user_id="u1", revive=False) == []
    assert memory.get_all(user_id="u1") == []
    assert contents(memory.add(say("hello", id="m1"), user_id="u1")) == ["hello"]


@pytest.mark.parametrize("budget", [8, 2000])
def test_a_turn_without_text_is_never_shown(memory: Memory, budget: int) -> None:
    memory.add(say(""), user_id="u1")
    assert not memory.search("Where is the key?", user_id="u1", budget=budget).found
    memory.add([say("The key is under the mat."), say("")], user_id="u1")
    assert [turn.item.content for turn in memory.search("Where is the key?", user_id="u1").turns] == [
        "The key is under the mat."
    ]
    assert [hit.text for hit in memory.rank("Where is the key?", user_id="u1")] == ["The key is under the mat."]


def test_searches_go_on_while_others_delete_and_edit_what_they_would_show() -> None:
    memory = Memory()
    items = memory.add([say(f"the heron number {n} is grey") for n in range(300)], user_id="u1")
    done = threading.Event()

    def search() -> None:
        while not done.is_set():
            memory.search("grey heron", user_id="u1", budget=200)
            memory.rank("grey heron", user_id="u1")

    with ThreadPoolExecutor(3) as pool:
        searches = [pool.submit(search) for _ in range(3)]
        for n, item in enumerate(items):
            memory.delete(item.id) if n % 2 else memory.update(item.id, "shorter")
        done.set()
        assert [search.result() for search in searches] == [None] * 3


def test_turns_and_side_records_are_written_together_or_not_at_all() -> None:
    store = InMemoryStore()
    memory = Memory(store)
    turn = MemoryItem("a", "user", "the heron is grey", NOON, user_id="u1")
    record = Record("note", "k", {"n": 1}, item_id="a")
    assert memory.apply(Batch(add=[turn], claim=[record])).added == 1
    with pytest.raises(DuplicateIdError):
        memory.apply(Batch(add=[replace(turn, id="b")], claim=[record]))
    assert memory.get("b") is None
    assert memory.apply(Batch(edit=[Edit("a", "the stork is white"), Edit("unknown", "x")])).edited == 1
    assert [hit.text for hit in memory.rank("stork", user_id="u1")] == ["the stork is white"]
    assert store.records("note") == [record]


def test_a_store_without_records_says_what_it_lacks() -> None:
    with pytest.raises(UnsupportedError, match="SupportsRecords"):
        Memory(BareStore()).apply(Batch())


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy])
def test_a_copy_of_what_holds_a_memory_shares_it(memory: Memory, copied: Any) -> None:
    held = {"memory": memory, "async": AsyncMemory(memory)}
    assert copied(held)["memory"] is memory
    assert copied(held["async"]) is held["async"]


def test_a_memory_is_not_pickled_and_says_so(memory: Memory) -> None:
    for held in (memory, AsyncMemory(memory)):
        with pytest.raises(TypeError, match="open on its store and cannot be pickled"):
            pickle.dumps(held)


def test_many_turns_are_deleted_at_once_and_counted(memory: Memory) -> None:
    ids = [item.id for item in memory.add([say("one"), say("two"), say("three")], user_id="u1")]
    assert memory.delete_many([ids[0], ids[2], ids[2], "unknown"]) == 2
    assert contents(memory.get_all(user_id="u1")) == ["two"]
    assert memory.delete_many([]) == 0
