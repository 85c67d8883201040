"""What may stand for a word of a question."""

from __future__ import annotations

import pytest

from llmslim_memory import Memory
from llmslim_memory.ranking.synonyms import FORM, KIND, SYNONYM, standing_for


def test_words_of_a_group_stand_for_each_other() -> None:
    assert standing_for("buy")["purchased"] == SYNONYM
    assert standing_for("purchased")["buy"] == SYNONYM


def test_another_form_of_a_word_counts_nearly_as_the_word() -> None:
    assert standing_for("bought")["buy"] == FORM
    assert standing_for("women")["woman"] == FORM


def test_a_kind_stands_for_the_thing_and_not_the_other_way() -> None:
    assert standing_for("instrument")["violin"] == KIND
    assert "instrument" not in standing_for("violin")


@pytest.mark.parametrize(
    ("plural", "kind"), [("instruments", "cello"), ("countries", "spain"), ("dishes", "pasta"), ("hobbies", "knitting")]
)
def test_a_plural_is_looked_up_as_its_singular(plural: str, kind: str) -> None:
    assert kind in standing_for(plural)


def test_a_plus_takes_over_what_stands_behind_another_word() -> None:
    assert standing_for("country").keys() - {"location"} <= standing_for("location").keys()
    assert not [word for word in standing_for("location") if word.startswith("+")]


def test_nothing_stands_for_an_unknown_word_and_no_word_for_itself() -> None:
    assert standing_for("zxqv") == {}
    assert "food" not in standing_for("food")


@pytest.mark.parametrize(
    ("said", "question"),
    [
        ("I'm off to practise some taekwondo.", "Which martial arts does the user do?"),
        ("We baked a peach cobbler on Sunday.", "What desserts has the user made?"),
        ("Last year I took a picture in Spain.", "Which European countries did I visit?"),
        ("My cello lesson went well.", "What instruments do I play?"),
        ("We fed the geese at the pond.", "Did I ever feed a goose?"),
        ("The roadtrip was long.", "How was the road trip?"),
    ],
)
def test_a_question_after_a_kind_of_thing_finds_the_turn_that_names_one(said: str, question: str) -> None:
    with Memory() as memory:
        for text in ("The meeting was moved again.", said, "Traffic was slow this morning.", "It may snow later."):
            memory.add({"role": "user", "content": text}, user_id="ann")
        assert memory.rank(question, user_id="ann", k=1)[0].text == said
