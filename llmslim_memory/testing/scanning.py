"""The contracts of stores that can be walked over, and of those that look for turns themselves."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta, timezone
from typing import Any

import pytest

from llmslim_memory.testing.turns import (
    ASHA,
    BORIS,
    NOON,
    FindingStore,
    ScanningStore,
    add_all,
    contents,
    turn,
)
from llmslim_memory.types import (
    MemoryItem,
    Scope,
    ScopeSummary,
    SupportsFind,
    SupportsScan,
    Where,
)


def pages(store: SupportsScan, scope: Scope | None = None, *, limit: int = 3) -> list[Sequence[MemoryItem]]:
    """Every page of a scan."""
    found, after = [], None
    while True:
        page = store.scan(scope=scope, after=after, limit=limit)
        found.append(page.items)
        after = page.next
        if after is None:
            return found


class ScanContract:
    """:class:`~llmslim_memory.types.SupportsScan`."""

    def test_the_store_says_that_it_can_be_scanned(self, store: ScanningStore) -> None:
        assert isinstance(store, SupportsScan)

    def test_a_scan_gives_everything_in_the_order_of_adding(self, store: ScanningStore) -> None:
        store.add([turn(str(n), at=-n, user_id=f"user {n % 2}") for n in range(7)])
        found = pages(store)
        assert [len(page) for page in found] == [3, 3, 1]
        assert contents(item for page in found for item in page) == [str(n) for n in range(7)]

    def test_a_scan_of_a_scope_leaves_out_the_rest(self, store: ScanningStore) -> None:
        store.add([turn(str(n), user_id="asha" if n % 3 else "boris", run_id="r") for n in range(10)])
        assert contents(i for page in pages(store, BORIS, limit=2) for i in page) == ["0", "3", "6", "9"]
        both = Scope(user_id="boris", run_id="r")
        assert contents(i for page in pages(store, both, limit=1) for i in page) == ["0", "3", "6", "9"]

    def test_the_last_page_is_known_as_the_last(self, store: ScanningStore) -> None:
        store.add([turn(str(n)) for n in range(6)])
        assert [len(page) for page in pages(store)] == [3, 3]
        assert store.scan(limit=6).next is None

    def test_an_empty_store_has_one_empty_page(self, store: ScanningStore) -> None:
        assert [list(page) for page in pages(store)] == [[]]
        assert [list(page) for page in pages(store, ASHA)] == [[]]

    def test_turns_added_during_a_scan_are_met_and_none_is_met_twice(self, store: ScanningStore) -> None:
        store.add([turn(str(n)) for n in range(4)])
        first = store.scan(limit=3)
        store.add([turn("new", at=-100)])
        rest = store.scan(after=first.next, limit=10)
        assert contents([*first.items, *rest.items]) == ["0", "1", "2", "3", "new"]

    def test_a_scan_goes_on_after_its_last_turn_was_deleted(self, store: ScanningStore) -> None:
        ids = add_all(store, *(turn(str(n)) for n in range(5)))
        first = store.scan(limit=2)
        store.delete(ids[1])
        store.delete(ids[2])
        assert contents(store.scan(after=first.next, limit=10).items) == ["3", "4"]

    @pytest.mark.parametrize("after", ["", "x", "-1", "1.5", "' OR 1", "\u0663", "9" * 100, "17-", "None"])
    def test_what_is_no_cursor_is_refused(self, store: ScanningStore, after: str) -> None:
        with pytest.raises(ValueError, match="cursor"):
            store.scan(after=after)

    @pytest.mark.parametrize("limit", [0, -1, None, "10", 2.5])
    def test_a_page_has_room_for_one_turn_at_least(self, store: ScanningStore, limit: Any) -> None:
        with pytest.raises((ValueError, TypeError)):
            store.scan(limit=limit)

    def test_a_page_may_be_larger_than_the_store(self, store: ScanningStore) -> None:
        store.add([turn("a")])
        assert contents(store.scan(limit=10**9).items) == ["a"]

    def test_scopes_in_use_are_listed_with_counts_and_times(self, store: ScanningStore) -> None:
        store.add([turn("b", user_id="b", at=5), turn("a", user_id="a", run_id="r", at=2), turn(user_id="a")])
        store.add([turn(user_id="a", at=9), turn(user_id=None, agent_id="bot"), turn(user_id="a", run_id="q")])
        at = [NOON + timedelta(seconds=n) for n in range(10)]
        assert store.scopes() == [
            ScopeSummary(None, "bot", None, 1, at[0], at[0]),
            ScopeSummary("a", None, None, 2, at[0], at[9]),
            ScopeSummary("a", None, "q", 1, at[0], at[0]),
            ScopeSummary("a", None, "r", 1, at[2], at[2]),
            ScopeSummary("b", None, None, 1, at[5], at[5]),
        ]

    def test_a_scope_without_turns_is_not_listed(self, store: ScanningStore) -> None:
        assert store.scopes() == []
        store.add([turn(), turn(user_id="boris")])
        store.delete_scope(ASHA)
        assert [summary.user_id for summary in store.scopes()] == ["boris"]


class FindContract:
    """:class:`~llmslim_memory.types.SupportsFind`."""

    def test_the_store_says_that_it_looks_for_turns_itself(self, store: FindingStore) -> None:
        assert isinstance(store, SupportsFind)

    def test_where_nothing_is_asked_everything_is_found_oldest_first(self, store: FindingStore) -> None:
        store.add([turn("b", at=5), turn("a", user_id="boris"), turn("c", at=5, user_id=None, agent_id="bot")])
        assert contents(store.find(Where())) == ["a", "b", "c"]

    def test_turns_of_several_owners_are_found_at_once(self, store: FindingStore) -> None:
        store.add([turn(name, user_id=name, run_id="r") for name in ("asha", "boris", "cleo")])
        store.add([turn("bot", user_id=None, agent_id="asha")])
        assert contents(store.find(Where(user_ids=frozenset({"boris", "asha", "nobody"})))) == ["asha", "boris"]
        assert contents(store.find(Where(agent_ids=frozenset({"asha"})))) == ["bot"]
        both = Where(run_ids=frozenset({"r"}), user_ids=frozenset({"cleo"}))
        assert contents(store.find(both)) == ["cleo"]

    def test_an_empty_set_of_ids_finds_nothing(self, store: FindingStore) -> None:
        store.add([turn()])
        nobody: frozenset[str] = frozenset()
        for where in (Where(user_ids=nobody), Where(agent_ids=nobody), Where(run_ids=nobody), Where(roles=nobody)):
            assert store.find(where) == []

    @pytest.mark.parametrize("odd", ["' OR 1=1 --", "%", "$ne", '{"$gt": ""}', "ASHA", " asha", "\u00e4", "a" * 512])
    def test_ids_are_values_and_nothing_else(self, store: FindingStore, odd: str) -> None:
        store.add([turn("of asha"), turn("of the odd one", user_id=odd)])
        assert contents(store.find(Where(user_ids=frozenset({odd})))) == ["of the odd one"]

    def test_roles_are_told_apart(self, store: FindingStore) -> None:
        store.add([turn(role, role=role) for role in ("user", "assistant", "tool")])
        assert contents(store.find(Where(roles=frozenset({"tool", "user"})))) == ["user", "tool"]

    def test_a_window_includes_its_start_and_not_its_end_to_the_microsecond(self, store: FindingStore) -> None:
        step = timedelta(microseconds=1)
        store.add([turn(str(n), at=NOON + n * step) for n in range(-1, 3)])
        assert contents(store.find(Where(since=NOON, until=NOON + 2 * step))) == ["0", "1"]
        elsewhere = NOON.astimezone(timezone(timedelta(hours=-7)))
        assert contents(store.find(Where(since=elsewhere, until=elsewhere + step))) == ["0"]
        assert contents(store.find(Where(until=NOON))) == ["-1"]

    def test_texts_of_metadata_are_found_alone_or_in_a_list(self, store: FindingStore) -> None:
        store.add([turn("one", metadata={"cat": "work"}), turn("list", metadata={"cat": ["home", "work"]})])
        store.add([turn("other", metadata={"cat": "home"}), turn("none"), turn("number", metadata={"cat": 5})])
        assert contents(store.find(Where(metadata={"cat": frozenset({"work"})}))) == ["one", "list"]
        assert contents(store.find(Where(metadata={"cat": frozenset({"work", "home"})}))) == ["one", "list", "other"]
        assert store.find(Where(metadata={"cat": frozenset()})) == []

    def test_conditions_on_metadata_are_joined(self, store: FindingStore) -> None:
        store.add([turn("both", metadata={"a": "x", "b": "y"}), turn("one", metadata={"a": "x", "b": "z"})])
        assert contents(store.find(Where(metadata={"a": frozenset("x"), "b": frozenset("y")}))) == ["both"]
        assert store.find(Where(metadata={"a": frozenset("x"), "b": frozenset("y")}, roles=frozenset({"tool"}))) == []

    @pytest.mark.parametrize(
        "odd", ["", "a.b", "$k", 'q"', "stra\u00dfe", "\U0001f600", "x\x00", "\ud800", "%", "\\", "\\n"]
    )
    def test_whatever_metadata_holds_is_not_missed(self, store: FindingStore, odd: str) -> None:
        store.add([turn("text", metadata={"key": odd}), turn("key", metadata={odd: "text"})])
        store.add([turn("deep", metadata={odd: [0, odd], "key": [[[{"\x00": 1}]], odd]})])
        assert {"text", "deep"} <= {*contents(store.find(Where(metadata={"key": frozenset({odd, "else"})})))}
        assert "key" in contents(store.find(Where(metadata={odd: frozenset({"text"})})))
        assert "deep" in contents(store.find(Where(metadata={odd: frozenset({odd})})))

    def test_what_is_found_is_what_was_added(self, store: FindingStore) -> None:
        store.add([turn("said", role="tool", run_id="r", metadata={"a": [1, None]})])
        assert store.find(Where()) == store.list(ASHA)
