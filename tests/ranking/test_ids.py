"""Ids take little memory, and the row of each is found whatever was added and removed before."""

from __future__ import annotations

from uuid import UUID, uuid4

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from llmslim_memory.ranking import ids as ids_module
from llmslim_memory.ranking.columns import Coded, Column
from llmslim_memory.ranking.ids import Ids

ANY = st.one_of(st.uuids().map(lambda uuid: uuid.hex), st.text(min_size=1, max_size=40), st.integers(0, 30).map(str))
STEPS = st.lists(st.tuples(st.sampled_from(["add", "remove"]), st.lists(ANY, max_size=8, unique=True)), max_size=12)


@settings(max_examples=60)
@given(STEPS, st.sampled_from([0, 3, 1_000]))
def test_they_are_found_as_in_a_dictionary(steps: list[tuple[str, list[str]]], late: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ids_module, "LATE", late)
        kept, rows, texts = Ids(), dict[str, int](), list[str]()
        for what, some in steps:
            assert kept.remove(some) == [rows.pop(item_id) for item_id in some if item_id in rows]
            if what == "add":
                kept.extend(some)
                rows |= {item_id: row for row, item_id in enumerate(some, len(texts))}
                texts += some
            asked = list(dict.fromkeys([*texts, *some, "nobody", uuid4().hex]))
            assert kept.rows(asked) == [rows.get(item_id) for item_id in asked]
            assert [kept.row(item_id) for item_id in asked] == [rows.get(item_id) for item_id in asked]
        assert list(kept.view()) == texts
        alive = np.array(sorted(rows.values()), dtype=np.int64)
        shown = kept.view(alive)
        assert list(shown) == [texts[row] for row in alive] == [shown[place] for place in range(len(shown))]
        assert list(kept.only(alive).view()) == list(shown)
        assert kept.only(alive).rows(list(shown)) == list(range(len(alive)))


def test_ids_whose_first_halves_are_equal_are_told_apart() -> None:
    same = [f"{1:016x}{n:016x}" for n in range(5)]
    kept = Ids()
    kept.extend(same)
    kept._sort()
    assert kept.rows([*same, f"{1:016x}{9:016x}"]) == [0, 1, 2, 3, 4, None]
    kept.remove(same[:2])
    kept.extend(same[:1])
    kept._sort()
    assert [kept.row(item_id) for item_id in same] == [5, None, 2, 3, 4]


def test_what_was_taken_before_keeps_showing_what_it_showed() -> None:
    kept = Ids()
    kept.extend(["a", "b"])
    before = kept.view()
    kept.remove(["a"])
    kept.extend([uuid4().hex for _ in range(3_000)])
    assert list(before) == ["a", "b"]
    assert before[-1] == "b"
    assert before[:1] == ["a"]
    with pytest.raises(IndexError):
        before[2]


def test_a_hundred_thousand_ids_take_less_than_thirty_bytes_each() -> None:
    kept = Ids()
    kept.extend([UUID(int=n * 7919).hex for n in range(100_000)])
    assert kept.nbytes < 30 * 100_000


def test_a_column_becomes_wider_for_a_value_that_asks_for_it_and_keeps_the_others() -> None:
    column = Column(np.uint32)
    for values in ([1, 2], [2**32 - 1], [2**40], []):
        column.widen(values)
        column.extend(values)
    assert column.view.tolist() == [1, 2, 2**32 - 1, 2**40]


def test_texts_of_which_there_are_few_are_kept_by_number() -> None:
    roles = Coded(np.array([0, 1, 0], np.uint8), ["user", "tool"])
    assert list(roles) == ["user", "tool", "user"]
    assert (roles[1], list(roles[1:]), len(roles)) == ("tool", ["tool", "user"], 3)
