"""An index that follows its store ranks as one that is built anew, bit for bit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, timedelta
from pathlib import Path
from threading import Thread
from time import sleep
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from llmslim_memory import InMemoryStore, SQLiteStore
from llmslim_memory.errors import StoreUnavailableError
from llmslim_memory.indexing import ScopeIndexes, StaleHistoryError, following
from llmslim_memory.tokens import make_counter
from llmslim_memory.types import Analysis, Batch, Changes, MemoryItem, Scope
from tests.ranking.conftest import SCOPE, START, BareStore, turn, words

CONTENTS = ("green tea", "Ann: black tea with milk", "the train at nine", "", "the", "tea " * 400, "walk to the train")
QUESTIONS = ("green tea", "train of Ann", "milk yesterday", "the")
NOW = START + timedelta(days=2)


def indexes_of(store: object) -> ScopeIndexes:
    return ScopeIndexes(store, make_counter(words), cache_bytes=1 << 20)  # type: ignore[arg-type]


def ranked(indexes: ScopeIndexes, question: str, scope: Scope = SCOPE) -> list[object]:
    history = indexes.open(scope)
    ranking = indexes.rank(history, question, now=NOW, tz=UTC, relevance="lexical")
    scores = [ranking.turn_scores.tobytes(), *ranking.user, *ranking.reply, ranking.matched]
    columns = [list(history.ids), list(history.roles), history.times.tolist(), history.sessions.tolist()]
    return [*scores, *columns, history.tokens.tolist(), history.marks(["request", "preference", "denial"])]


class Following(RuleBasedStateMachine):
    """Adds, edits and deletes in any order; after each, an old index and a new one rank alike."""

    def __init__(self) -> None:
        super().__init__()
        self.stores = [InMemoryStore(), SQLiteStore(":memory:"), BareStore()]
        self.indexes = [indexes_of(store) for store in self.stores]
        self.ids: list[str] = []
        self.count = 0

    @initialize()
    def begin(self) -> None:
        self.add(["green tea"], "user", "r1", 0)

    @rule(
        contents=st.lists(st.sampled_from(CONTENTS), min_size=1, max_size=4),
        role=st.sampled_from(["user", "assistant", "tool"]),
        run=st.sampled_from(["r1", "r2", None]),
        minutes=st.integers(0, 50),
    )
    def add(self, contents: Sequence[str], role: str, run: str | None, minutes: int) -> None:
        items = []
        for content in contents:
            self.count += 1
            items.append(turn(self.count, content, role=role, run=run, minutes=minutes))
        self.ids += [item.id for item in items]
        for store, indexes in zip(self.stores, self.indexes, strict=True):
            if isinstance(store, BareStore) or self.count % 2:
                store.add(items)  # type: ignore[attr-defined]
            else:
                store.apply(Batch(add=items, analyses={i.id: indexes.analyse(i.role, i.content) for i in items}))

    @rule(at=st.integers(0, 99), content=st.sampled_from(CONTENTS))
    def edit(self, at: int, content: str) -> None:
        if self.ids:
            for store in self.stores:
                store.update(self.ids[at % len(self.ids)], content=content)  # type: ignore[attr-defined]

    @rule(at=st.integers(0, 99))
    def delete(self, at: int) -> None:
        if self.ids:
            gone = self.ids.pop(at % len(self.ids))
            for store in self.stores:
                store.delete(gone)  # type: ignore[attr-defined]

    @rule(question=st.sampled_from(QUESTIONS))
    def search(self, question: str) -> None:
        found = [ranked(indexes, question) for indexes in self.indexes]
        fresh = [ranked(indexes_of(store), question) for store in self.stores]
        assert found[0] == found[1] == found[2] == fresh[0] == fresh[1] == fresh[2]

    def teardown(self) -> None:
        for question in QUESTIONS:
            self.search(question)
        self.stores[1].close()  # type: ignore[attr-defined]


TestFollowing = Following.TestCase
TestFollowing.settings = settings(max_examples=20, stateful_step_count=20, deadline=None)


@pytest.fixture(params=["memory", "sqlite", "bare"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[object]:
    if request.param == "sqlite":
        with_file = SQLiteStore(tmp_path / "memory.db")
        yield with_file
        with_file.close()
    else:
        yield InMemoryStore() if request.param == "memory" else BareStore()


def test_writes_are_seen_by_the_next_search(store: InMemoryStore) -> None:
    indexes = indexes_of(store)
    assert list(indexes.open(SCOPE).ids) == []
    store.add([turn(2, "second"), turn(1, "first")])
    assert list(indexes.open(SCOPE).ids) == ["t1", "t2"]
    store.update("t1", content="green tea")
    assert indexes.rank(indexes.open(SCOPE), "tea", now=NOW, tz=UTC, relevance="lexical").matched
    store.delete("t1")
    assert not indexes.rank(indexes.open(SCOPE), "tea", now=NOW, tz=UTC, relevance="lexical").matched


def test_a_history_stays_as_it_was_opened(store: InMemoryStore) -> None:
    indexes = indexes_of(store)
    store.add([turn(1, "first")])
    history = indexes.open(SCOPE)
    store.add([turn(n, "more tea") for n in range(2, 90)])
    assert len(indexes.open(SCOPE).ids) == 89
    assert (list(history.ids), len(history.times)) == (["t1"], 1)


def test_content_that_is_gone_when_it_is_read_is_not_made_up(store: InMemoryStore) -> None:
    indexes = indexes_of(store)
    store.add([turn(1, "first"), turn(2, "second")])
    history = indexes.open(SCOPE)
    store.delete("t1")
    assert [item.content for item in history.items([1])] == ["second"]
    with pytest.raises(StaleHistoryError):
        history.items([0, 1])


def test_content_that_was_edited_when_it_is_read_is_not_cut_up_as_what_it_was(store: InMemoryStore) -> None:
    indexes = indexes_of(store)
    store.add([turn(1, "first"), turn(2, "second")])
    history = indexes.open(SCOPE)
    store.update("t1", content="fir$t")
    with pytest.raises(StaleHistoryError):
        history.items([0])
    assert [item.content for item in indexes.open(SCOPE).items([0, 1])] == ["fir$t", "second"]


def test_what_may_not_be_shown_counts_in_the_statistics_but_is_not_named(store: InMemoryStore) -> None:
    store.add([turn(n, "green tea", run=f"r{n}", minutes=60 * n) for n in range(4)])
    indexes = indexes_of(store)
    window = {"since": START + timedelta(hours=1), "until": START + timedelta(hours=3)}
    history = indexes.open(SCOPE, **window)
    assert history.eligible.tolist() == [False, True, True, False]
    history = indexes.open(SCOPE, exclude=["t1"], exclude_runs=["r2", "r9"])
    ranking = indexes.rank(history, "tea", now=NOW, tz=UTC, relevance="lexical")
    assert [candidate.turn for candidate in ranking.user] == [0, 3]


def test_another_users_turns_change_no_score(store: InMemoryStore) -> None:
    store.add([turn(n, text) for n, text in enumerate(CONTENTS)])
    before = ranked(indexes_of(store), "green tea")
    store.add([replace(turn(n, "green tea " * n), id=f"o{n}", user_id="bob") for n in range(1, 60)])
    assert ranked(indexes_of(store), "green tea") == before


class CountingStore(InMemoryStore):
    """Counts the turns whose content was read."""

    read = 0

    def get_many(self, item_ids: Sequence[str]) -> dict[str, MemoryItem]:
        self.read += len(item_ids)
        return super().get_many(item_ids)


def test_a_turn_is_analysed_once_and_content_is_not_read_again() -> None:
    store = CountingStore()
    store.add([turn(n, "green tea") for n in range(50)])
    for _ in range(3):
        indexes = ScopeIndexes(store, make_counter(), cache_bytes=1)
        indexes.open(SCOPE)
        indexes.open(SCOPE)
        assert store.read == 50


def test_token_counts_of_a_callers_function_are_never_taken_for_anothers() -> None:
    store = InMemoryStore()
    store.add([turn(1, "green tea")])
    one = ScopeIndexes(store, make_counter(words), cache_bytes=1)
    other = ScopeIndexes(store, make_counter(len), cache_bytes=1)
    store.apply(Batch(add=[turn(2, "green tea")], analyses={"t2": one.analyse("user", "green tea")}))
    assert one.open(SCOPE).tokens.tolist() == [2, 2]
    assert other.open(SCOPE).tokens.tolist() == [9, 9]


@pytest.mark.parametrize("damage", [b"", b"LA\x01\x00 nonsense", b"\x00" * 300])
def test_a_damaged_analysis_is_made_again(damage: bytes) -> None:
    store = InMemoryStore()
    indexes = ScopeIndexes(store, make_counter(), cache_bytes=1)
    fine = indexes.analyse("user", "green tea")
    broken = Analysis(fine.version, damage, fine.encoding, fine.tokens)
    store.apply(Batch(add=[turn(1, "green tea")], analyses={"t1": broken}))
    assert indexes.rank(indexes.open(SCOPE), "tea", now=NOW, tz=UTC, relevance="lexical").matched
    heads = store.changes(SCOPE, version=fine.version, encoding=fine.encoding).heads
    assert heads[0].analysis == fine.data


def test_a_turn_of_an_older_analyser_is_analysed_anew_when_it_is_searched_and_kept() -> None:
    store = InMemoryStore()
    indexes = ScopeIndexes(store, make_counter(), cache_bytes=1)
    fine = indexes.analyse("user", "green tea")
    older = replace(fine, version=fine.version - 1, data=indexes.analyse("user", "coal").data)
    store.apply(Batch(add=[turn(1, "green tea")], analyses={"t1": older}))
    assert indexes.rank(indexes.open(SCOPE), "tea", now=NOW, tz=UTC, relevance="lexical").matched
    assert store.changes(SCOPE, version=fine.version, encoding=fine.encoding).heads[0].analysis == fine.data


class SlowStore(InMemoryStore):
    """Counts the times that a whole scope is read, each of which takes a while."""

    def __init__(self) -> None:
        super().__init__()
        self.builds = 0

    def changes(self, scope: Scope, *, after: str | None = None, **asked: Any) -> Changes:
        if after is None:
            self.builds += 1
            sleep(0.05)
        return super().changes(scope, after=after, **asked)


def test_threads_that_ask_for_the_same_scope_at_once_share_one_build() -> None:
    store = SlowStore()
    store.add([turn(n, "green tea") for n in range(5)])
    indexes = indexes_of(store)
    with ThreadPoolExecutor(8) as pool:
        opened = list(pool.map(lambda _: len(indexes.open(SCOPE).ids), range(8)))
    assert (opened, store.builds) == ([5] * 8, 1)


def test_indexes_used_longest_ago_are_let_go() -> None:
    store = InMemoryStore()
    store.add([replace(turn(n, "tea " * 50), id=f"u{n}", user_id=f"user{n}") for n in range(20)])
    indexes = ScopeIndexes(store, make_counter(words), cache_bytes=30_000)
    for n in range(20):
        indexes.open(Scope(user_id=f"user{n}"))
    assert 0 < len(indexes._entries) < 20
    assert Scope(user_id="user19") in indexes._entries
    assert set(indexes._entries) == set(indexes._sizes)


def test_many_threads_search_and_write_one_scope() -> None:
    store = InMemoryStore()
    indexes = indexes_of(store)
    errors: list[Exception] = []

    def work(base: int) -> None:
        try:
            for n in range(30):
                store.add([turn(base + n, "green tea")])
                ranking = indexes.rank(indexes.open(SCOPE), "tea", now=NOW, tz=UTC, relevance="lexical")
                assert len(ranking.user) > n
        except Exception as error:  # noqa: BLE001
            errors.append(error)

    threads = [Thread(target=work, args=(1000 * n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert len(indexes.open(SCOPE).ids) == 240


def test_equal_times_keep_the_order_of_adding(store: InMemoryStore) -> None:
    indexes = indexes_of(store)
    for n in (3, 1, 2):
        store.add([turn(n, "tea", minutes=5)])
        indexes.open(SCOPE)
    assert list(indexes.open(SCOPE).ids) == ["t3", "t1", "t2"]
    assert list(indexes_of(store).open(SCOPE).ids) == ["t3", "t1", "t2"]


def test_an_index_built_in_batches_ranks_as_one_built_at_once(
    store: InMemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.add([turn(n, CONTENTS[n % 7], role=("user", "assistant")[n % 2], minutes=(n * 5) % 9) for n in range(20)])
    at_once = [ranked(indexes_of(store), question) for question in QUESTIONS]
    monkeypatch.setattr(following, "BUILD_SIZE", 3)
    assert [ranked(indexes_of(store), question) for question in QUESTIONS] == at_once


class FailingOnce(InMemoryStore):
    """Cannot be reached at the second reading."""

    def __init__(self) -> None:
        super().__init__()
        self.readings = 0

    def get_many(self, item_ids: Sequence[str]) -> dict[str, MemoryItem]:
        self.readings += 1
        if self.readings == 2:
            raise StoreUnavailableError("away")
        return super().get_many(item_ids)


def test_an_index_that_was_interrupted_in_the_midst_of_being_built_is_whole_after_the_next_search(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(following, "BUILD_SIZE", 2)
    store = FailingOnce()
    store.add([turn(n, CONTENTS[n % 7]) for n in range(9)])
    indexes = indexes_of(store)
    with pytest.raises(StoreUnavailableError):
        indexes.open(SCOPE)
    assert [ranked(indexes, question) for question in QUESTIONS] == [
        ranked(indexes_of(store), question) for question in QUESTIONS
    ]
