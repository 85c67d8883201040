"""The turns that answer an overview best lend their words to find the others of the same topic."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from llmslim_memory.selection.kinship import AKIN, NAMED, kinship


def test_a_text_that_shares_the_words_of_the_likeliest_belongs_though_it_lacks_those_of_the_topic() -> None:
    texts = ["The garden needs leeks and compost.", "Compost for the leeks came today.", "The train leaves at nine."]
    found = kinship("garden", texts, np.array([1.0, 0.1, 0.1]))
    assert found[0] > found[1] > found[2] == 0


def test_no_texts_and_texts_without_words_belong_nowhere() -> None:
    assert kinship("garden", [], np.zeros(0)).tolist() == []
    assert kinship("garden", ["...", ""], np.ones(2)).tolist() == [0.0, 0.0]


@settings(max_examples=40, deadline=None)
@given(st.lists(st.text("ab c花园草", max_size=30), max_size=20), st.text("ab 花园", max_size=10), st.randoms())
def test_kinship_is_bounded_and_follows_its_texts_wherever_they_stand(
    texts: list[str], topic: str, chance: object
) -> None:
    likely = np.ones(len(texts))
    found = kinship(topic, texts, likely)
    assert ((found >= 0) & (found <= NAMED + AKIN)).all()
    if len(texts) <= 12:
        assert np.allclose(kinship(topic, texts[::-1], likely), found[::-1])


def test_a_reply_belongs_to_the_topic_of_what_it_replies_to(fake: SimpleNamespace) -> None:
    turns = []
    for day in range(40):
        about = "Leeks and compost for the allotment" if day % 4 == 0 else f"The tram number {day} was late once more"
        turns.append(fake.Turn(f"{about}, what now? ({day})", day=day, session=str(day // 10)))
        reply = f"Let us take it step by step: first look, then act ({day})."
        turns.append(fake.Turn(reply, "assistant", day=day + 0.01, session=str(day // 10)))
    context = fake.search(turns, "Summarize my allotment", budget=450)
    replies = [turn.item.seq // 2 for turn in context.turns if turn.item.role == "assistant"]
    assert replies
    assert sum(day % 4 == 0 for day in replies) > len(replies) / 2
