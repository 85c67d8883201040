"""The contracts of stores that say what changed and keep what was worked out about a turn."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from llmslim_memory.testing.turns import (
    ASHA,
    AnalysingStore,
    FollowedStore,
    add_all,
    turn,
)
from llmslim_memory.types import (
    Analysis,
    Batch,
    Edit,
    Scope,
    SupportsAnalysis,
    SupportsChanges,
)


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
