"""A memory moves between any two stores with nothing lost, and again with nothing doubled."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from stores.samples import ASHA, ids, turn
from typer.testing import CliRunner

from llmslim_memory import InMemoryStore, SQLiteStore, UnsupportedError
from llmslim_memory.cli.app import app
from llmslim_memory.copying import CopyableStore, CopyReport, copy
from llmslim_memory.types import Batch, Record

KINDS = ("in memory", "sqlite", "postgres", "mongodb")


@pytest.fixture
def stores(
    tmp_path: Path, open_postgres: Callable[..., Any], open_mongo: Callable[..., Any]
) -> Callable[[str], CopyableStore]:
    openers: dict[str, Callable[[], CopyableStore]] = {
        "in memory": InMemoryStore,
        "sqlite": lambda: SQLiteStore(tmp_path / "memory.db"),
        "postgres": open_postgres,
        "mongodb": open_mongo,
    }
    return lambda kind: openers[kind]()


def fill(store: CopyableStore) -> None:
    """Turns of several people and shapes, one edited, one deleted; records; a record of a deleted turn."""
    store.add([turn("b", 5, metadata={"a.b": {"$c": [1, None, 2.5]}}), turn("a", 5), turn("first", -60)])
    store.add([turn(f"n{n}", n, user_id="ravi", run_id=f"r{n % 3}", agent_id="bot") for n in range(40)])
    store.update("a", content="edited", metadata={"edited": True})
    store.apply(Batch(put=[Record("note", "2", {"x": [1]}, group="g", item_id="b", user_id="asha")]))
    store.apply(Batch(put=[Record("note", "1", {}), Record("key", "1", {"done": True}, run_id="r1")]))
    store.delete("n3")


def everything(store: CopyableStore) -> dict[str, Any]:
    """All that a store holds but its own numbers, the turns in the order of adding."""
    return {
        "turns": [{**item.to_dict(), "seq": None} for item in store.scan(limit=10_000).items],
        "records": {kind: store.records(kind) for kind in store.kinds()},
        "deleted": store.deleted_ids(limit=10_000),
    }


@pytest.mark.parametrize(("origin", "goal"), list(itertools.permutations(KINDS, 2)))
def test_a_copy_holds_all_that_the_original_holds(
    stores: Callable[[str], CopyableStore], origin: str, goal: str
) -> None:
    source, target = stores(origin), stores(goal)
    fill(source)
    assert copy(source, target) == CopyReport(added=42, records=3, deleted=1)
    assert everything(target) == everything(source)
    assert copy(source, target) == CopyReport(unchanged=42)


class TestCopying:
    @pytest.fixture
    def source(self) -> InMemoryStore:
        source = InMemoryStore()
        fill(source)
        return source

    @pytest.fixture
    def target(self) -> InMemoryStore:
        return InMemoryStore()

    def test_a_copy_that_broke_off_is_finished_by_the_next(self, source: InMemoryStore, target: InMemoryStore) -> None:
        source.add([turn(f"more{n}") for n in range(1200)])

        def stop(done: int, total: int) -> None:
            if done >= 1000:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            copy(source, target, progress=stop)
        assert 0 < len(target.scan(limit=10_000).items) < 1242
        copy(source, target)
        assert everything(target) == everything(source)

    def test_copying_again_brings_what_changed_meanwhile(self, source: InMemoryStore, target: InMemoryStore) -> None:
        copy(source, target)
        source.add([turn("new")])
        source.update("b", content="said otherwise")
        source.delete("n7")
        source.apply(Batch(put=[Record("note", "1", {"now": 2})]))
        assert copy(source, target) == CopyReport(added=1, edited=1, unchanged=40, records=1, deleted=1)
        assert [item.content for item in target.list(ASHA)] == [item.content for item in source.list(ASHA)]
        assert target.get("n7") is None
        assert target.records("note") == source.records("note")

    def test_what_the_target_changed_later_or_deleted_stays(self, source: InMemoryStore, target: InMemoryStore) -> None:
        copy(source, target)
        target.update("b", content="later")
        target.delete("first")
        target.add([turn("only here")])
        copy(source, target)
        assert [item.content for item in target.list(ASHA)] == ["This is only here.", "later", "edited"]

    def test_progress_ends_at_the_number_of_turns(self, source: InMemoryStore, target: InMemoryStore) -> None:
        seen: list[tuple[int, int]] = []
        copy(source, target, progress=lambda done, total: seen.append((done, total)))
        assert seen == [(0, 42), (42, 42)]

    def test_an_empty_store_copies_to_nothing(self, target: InMemoryStore) -> None:
        assert copy(InMemoryStore(), target) == CopyReport()

    def test_a_store_without_the_abilities_is_named_with_what_it_lacks(self, target: InMemoryStore) -> None:
        class Bare:
            add = list = get = update = delete = delete_scope = None

        with pytest.raises(UnsupportedError, match="source of the copy, Bare, lacks SupportsScan"):
            copy(Bare(), target)

    @settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(
        steps=st.lists(
            st.tuples(st.sampled_from(["add", "edit", "delete", "copy"]), st.integers(0, 7), st.text(max_size=5)),
            max_size=25,
        )
    )
    def test_whatever_happens_to_the_source_the_last_copy_holds_the_same_turns(
        self, steps: list[tuple[str, int, str]]
    ) -> None:
        source, target = InMemoryStore(), InMemoryStore()
        for place, (step, number, text) in enumerate(steps):
            item_id = str(number)
            if step == "add" and source.get(item_id) is None and item_id not in source.tombstones([item_id]):
                source.add([turn(item_id, number, content=text)])
            elif step == "edit":
                source.update(item_id, content=f"{text}{place}")
            elif step == "delete":
                source.delete(item_id)
            elif step == "copy":
                copy(source, target)
        copy(source, target)
        contents = [(item.id, item.content) for item in source.scan(limit=100).items]
        assert [(item.id, item.content) for item in target.scan(limit=100).items] == contents
        assert target.deleted_ids() == source.deleted_ids()


class TestCommand:
    def test_a_file_is_copied_to_a_file(self, tmp_path: Path) -> None:
        with SQLiteStore(tmp_path / "from.db") as source:
            fill(source)
        arguments = ["copy", str(tmp_path / "from.db"), str(tmp_path / "to.db")]
        first = CliRunner().invoke(app, arguments)
        assert first.stdout == "42 turns copied, 0 updated, 0 there already, 3 records and 1 deletion copied\n"
        again = CliRunner().invoke(app, [*arguments, "--json"])
        assert json.loads(again.stdout) == {"added": 0, "edited": 0, "unchanged": 42, "records": 0, "deleted": 0}

    def test_urls_can_come_from_the_environment(self, tmp_path: Path) -> None:
        with SQLiteStore(tmp_path / "from.db") as source:
            source.add([turn("a", created_at=datetime(2026, 1, 1, tzinfo=UTC))])
        places = {"LLMSLIM_COPY_FROM": str(tmp_path / "from.db"), "LLMSLIM_COPY_TO": f"sqlite:///{tmp_path}/to.db"}
        assert CliRunner().invoke(app, ["copy"], env=places).exit_code == 0
        with SQLiteStore(tmp_path / "to.db") as target:
            assert ids(target.list(ASHA)) == ["a"]

    @pytest.mark.parametrize(
        ("source", "target", "says"), [("none.db", "to.db", "no memory"), ("a.db", "a.db", "both")]
    )
    def test_what_cannot_be_copied_is_refused_and_nothing_created(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: str, target: str, says: str
    ) -> None:
        monkeypatch.chdir(tmp_path)
        SQLiteStore("a.db").close()
        result = CliRunner().invoke(app, ["copy", source, target])
        assert says in str(result.exception)
        assert not (tmp_path / "to.db").exists()
