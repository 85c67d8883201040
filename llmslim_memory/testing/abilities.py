"""Further contracts, one for each further ability: inherit those that the store has, beside `StoreContract`."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest

from llmslim_memory.errors import DuplicateIdError
from llmslim_memory.testing.turns import (
    ASHA,
    BORIS,
    NOON,
    AnalysingStore,
    FollowedStore,
    RecordingStore,
    ScanningStore,
    add_all,
    contents,
    turn,
)
from llmslim_memory.types import (
    Analysis,
    Applied,
    Batch,
    Edit,
    MemoryItem,
    Record,
    Scope,
    ScopeSummary,
    SupportsAnalysis,
    SupportsChanges,
    SupportsRecords,
    SupportsScan,
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


class ChangesContract:
    """:class:`~llmslim_memory.types.SupportsChanges`."""

    def test_the_store_says_that_it_can_be_followed(self, store: FollowedStore) -> None:
        assert isinstance(store, SupportsChanges)

    def test_at_first_every_turn_of_the_scope_is_named_and_none_deleted(self, store: FollowedStore) -> None:
        ids = add_all(store, turn("a"), turn("b", run_id="r"), turn("c"))
        store.add([turn("d", user_id="boris")])
        store.delete(ids[2])
        changes = store.changes(ASHA)
        assert {head.id for head in changes.heads} == set(ids[:2])
        assert list(changes.deleted) == []

    def test_a_head_is_the_turn_without_its_text(self, store: FollowedStore) -> None:
        [item_id] = add_all(store, turn("a", role="tool", agent_id="bot", run_id="r"))
        item = store.get(item_id)
        [head] = store.changes(Scope(run_id="r")).heads
        assert item is not None
        assert (head.id, head.role, head.created_at, head.seq) == (item.id, "tool", item.created_at, item.seq)
        assert (head.user_id, head.agent_id, head.run_id) == ("asha", "bot", "r")
        assert (head.analysis, head.tokens) == (None, None)

    def test_nothing_new_is_nothing(self, store: FollowedStore) -> None:
        store.add([turn(), turn(user_id="boris")])
        first = store.changes(ASHA)
        again = store.changes(ASHA, after=first.cursor)
        assert [head.id for head in again.heads if head not in first.heads] == []
        assert list(again.deleted) == []

    @pytest.mark.parametrize(
        "scope",
        [
            ASHA,
            Scope(agent_id="bot"),
            Scope(run_id="r"),
            Scope(user_id="asha", run_id="r"),
            Scope("asha", "bot", "r"),
            Scope(user_id="asha", agent_id="bot"),
        ],
        ids=str,
    )
    def test_what_was_added_edited_and_deleted_is_named(self, store: FollowedStore, scope: Scope) -> None:
        ids = add_all(store, *(turn(str(n), agent_id="bot", run_id="r") for n in range(4)))
        store.add([turn("other", id="other", user_id="boris", run_id="q")])
        before = {head.id: head.revision for head in store.changes(scope).heads}
        cursor = store.changes(scope).cursor
        store.update(ids[1], content="edited")
        store.update(ids[2], metadata={"k": 1})
        store.update("other", content="edited")
        store.delete(ids[3])
        [new] = add_all(store, turn("new", at=-50, agent_id="bot", run_id="r"))
        changes = store.changes(scope, after=cursor)
        changed = {head.id for head in changes.heads if head.revision > before.get(head.id, 0)}
        assert changed == {ids[1], ids[2], new}
        assert "other" not in {head.id for head in changes.heads}
        assert ids[3] in changes.deleted
        assert not set(changes.deleted) & {head.id for head in changes.heads}

    def test_a_revision_grows_with_every_change(self, store: FollowedStore) -> None:
        [item_id] = add_all(store, turn("a"))
        revisions = []
        for n in range(3):
            revisions += [head.revision for head in store.changes(ASHA).heads]
            store.update(item_id, content=str(n))
        assert revisions == sorted(set(revisions))
        assert len(revisions) == 3

    def test_a_turn_that_changes_again_is_named_again(self, store: FollowedStore) -> None:
        store.add([turn(id="a"), turn(id="b")])
        for item_id in ("a", "b"):
            store.update(item_id, content="edited")
        cursor = store.changes(ASHA).cursor
        store.update("a", content="edited again")
        changes = store.changes(ASHA, after=cursor)
        assert "a" in {head.id for head in changes.heads}
        store.delete("b")
        store.add([turn(id="b")])
        store.delete("a")
        cursor = store.changes(ASHA, after=changes.cursor).cursor
        store.delete("b")
        assert "b" in store.changes(ASHA, after=cursor).deleted

    def test_a_turn_that_left_a_scope_and_came_back_is_named_once(self, store: FollowedStore) -> None:
        store.add([turn("old", id="t")])
        cursor = store.changes(ASHA).cursor
        store.delete("t")
        store.add([turn("new", id="t")])
        changes = store.changes(ASHA, after=cursor)
        assert [head.id for head in changes.heads] == ["t"]
        assert "t" not in changes.deleted

    def test_an_id_that_moved_to_another_scope_is_deleted_here(self, store: FollowedStore) -> None:
        store.add([turn("old", id="t")])
        cursor = store.changes(ASHA).cursor
        store.delete("t")
        store.add([turn("new", id="t", user_id="boris")])
        store.update("t", content="newer")
        changes = store.changes(ASHA, after=cursor)
        assert list(changes.heads) == []
        assert list(changes.deleted) == ["t"]

    def test_a_deleted_scope_is_deleted_turn_by_turn(self, store: FollowedStore) -> None:
        ids = add_all(store, turn("a"), turn("b"))
        cursor = store.changes(ASHA).cursor
        store.delete_scope(ASHA)
        changes = store.changes(ASHA, after=cursor)
        assert list(changes.heads) == []
        assert set(ids) <= set(changes.deleted)

    @pytest.mark.parametrize("after", ["", "x", "-1", "1.5.2", "' OR 1 --", "9" * 100, "None"])
    def test_what_is_no_cursor_is_refused_here_too(self, store: FollowedStore, after: str) -> None:
        with pytest.raises(ValueError, match="cursor"):
            store.changes(ASHA, after=after)

    def test_a_follower_beside_many_writers_misses_nothing(self, store: FollowedStore) -> None:
        def write(number: int) -> None:
            for n in range(10):
                items = [turn(f"{number}-{n}-{k}", run_id=str(number)) for k in range(3)]
                store.add(items)
                store.update(items[0].id, content="edited")
                store.delete(items[1].id)

        followed: dict[str, int] = {}
        cursor = None
        with ThreadPoolExecutor(4) as pool:
            writers = [pool.submit(write, number) for number in range(4)]
            finished = False
            while not finished:
                finished = all(writer.done() for writer in writers)
                changes = store.changes(ASHA, after=cursor)
                cursor = changes.cursor
                for item_id in changes.deleted:
                    followed.pop(item_id, None)
                followed |= {head.id: head.revision for head in changes.heads}
            for writer in writers:
                writer.result()
        assert followed == {head.id: head.revision for head in store.changes(ASHA).heads}
        assert len(followed) == 4 * 10 * 2

    def test_many_turns_are_read_at_once_by_id(self, store: FollowedStore) -> None:
        ids = add_all(store, *(turn(str(n), metadata={"n": n}) for n in range(1200)))
        found = store.get_many([*ids, "unknown", ids[0]])
        assert set(found) == set(ids)
        assert found[ids[7]] == store.get(ids[7])
        assert store.get_many([]) == {}


BLOB = bytes(range(256)) * 4
FIRST = Analysis(version=1, data=BLOB, encoding="o200k_base", tokens=7)


class AnalysisContract:
    """:class:`~llmslim_memory.types.SupportsAnalysis`, beside records and changes."""

    def test_the_store_says_that_it_keeps_analyses(self, store: AnalysingStore) -> None:
        assert isinstance(store, SupportsAnalysis)

    def test_an_analysis_written_with_its_turn_comes_back(self, store: AnalysingStore) -> None:
        store.apply(Batch(add=[turn(id="t"), turn(id="bare")], analyses={"t": FIRST, "unknown": FIRST}))
        kept = _analyses(store, version=1, encoding="o200k_base")
        assert kept == {"t": (BLOB, 7), "bare": (None, None)}

    def test_only_the_version_and_encoding_asked_for_are_handed_over(self, store: AnalysingStore) -> None:
        store.apply(Batch(add=[turn(id="t")], analyses={"t": FIRST}))
        assert _analyses(store) == {"t": (None, None)}
        assert _analyses(store, version=2, encoding="o200k_base") == {"t": (None, 7)}
        assert _analyses(store, version=1, encoding="cl100k_base") == {"t": (BLOB, None)}
        assert _analyses(store, version=1) == {"t": (BLOB, None)}

    def test_an_analysis_can_be_saved_later_and_replaced(self, store: AnalysingStore) -> None:
        store.add([turn(id="t")])
        [head] = store.changes(ASHA).heads
        assert store.save_analyses([("t", head.revision, FIRST)]) == 1
        assert _analyses(store, version=1, encoding="o200k_base") == {"t": (BLOB, 7)}
        assert store.save_analyses([("t", head.revision, Analysis(2, b"", "cl100k_base", 0))]) == 1
        assert _analyses(store, version=2, encoding="cl100k_base") == {"t": (b"", 0)}
        assert _analyses(store, version=1, encoding="o200k_base") == {"t": (None, None)}

    def test_saving_an_analysis_is_no_change_to_the_turn(self, store: AnalysingStore) -> None:
        store.add([turn(id="t")])
        before = store.changes(ASHA)
        store.save_analyses([("t", before.heads[0].revision, FIRST)])
        assert [head.revision for head in store.changes(ASHA).heads] == [before.heads[0].revision]
        item = store.get("t")
        assert item is not None
        assert item.updated_at is None

    def test_an_analysis_of_an_older_revision_is_not_kept(self, store: AnalysingStore) -> None:
        store.add([turn(id="t"), turn(id="gone"), turn(id="same")])
        heads = {head.id: head.revision for head in store.changes(ASHA).heads}
        store.update("t", content="edited")
        store.delete("gone")
        saved = store.save_analyses([(item_id, revision, FIRST) for item_id, revision in heads.items()])
        assert saved == 1
        assert _analyses(store, version=1) == {"t": (None, None), "same": (BLOB, None)}

    def test_saving_nothing_keeps_nothing(self, store: AnalysingStore) -> None:
        assert store.save_analyses([]) == 0

    def test_new_content_removes_the_analysis_and_new_metadata_does_not(self, store: AnalysingStore) -> None:
        store.apply(Batch(add=[turn(id="t"), turn(id="u")], analyses={"t": FIRST, "u": FIRST}))
        store.update("t", content="edited")
        store.update("u", metadata={"k": 1})
        assert _analyses(store, version=1) == {"t": (None, None), "u": (BLOB, None)}

    def test_an_edit_can_bring_its_analysis(self, store: AnalysingStore) -> None:
        store.apply(Batch(add=[turn(id="t")], analyses={"t": FIRST}))
        store.apply(Batch(edit=[Edit("t", content="edited")], analyses={"t": Analysis(1, b"new", "o200k_base", 2)}))
        assert _analyses(store, version=1, encoding="o200k_base") == {"t": (b"new", 2)}

    def test_a_deleted_turn_takes_its_analysis_with_it(self, store: AnalysingStore) -> None:
        store.apply(Batch(add=[turn(id="t")], analyses={"t": FIRST}))
        store.delete("t")
        store.add([turn("again", id="t")])
        assert _analyses(store, version=1, encoding="o200k_base") == {"t": (None, None)}

    def test_a_large_analysis_comes_back_as_it_was(self, store: AnalysingStore) -> None:
        large = Analysis(1, BLOB * 1024, "o200k_base", 2**31 - 1)
        store.apply(Batch(add=[turn(id="t")], analyses={"t": large}))
        assert _analyses(store, version=1, encoding="o200k_base") == {"t": (large.data, large.tokens)}


def _analyses(store: SupportsChanges, **asked: Any) -> dict[str, tuple[bytes | None, int | None]]:
    return {head.id: (head.analysis, head.tokens) for head in store.changes(ASHA, **asked).heads}
