"""Sections hold what the user said that bears on the question, as long as it holds, and leave room for turns."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

FILLER = ["The bakery on the corner closed.", "Leo scored twice.", "The hallway is yellow now.", "My bicycle squeaks."]


def history(fake: SimpleNamespace, *turns: Any) -> list[Any]:
    filler = [fake.Turn(f"{text} ({i})", day=100 + i) for i in range(15) for text in FILLER]
    return [*turns, *filler]


def contents(turns: tuple[Any, ...]) -> list[str]:
    return [turn.item.content for turn in turns]


def reasons(section: Any) -> list[str | None]:
    return [candidate.reason for candidate in section.candidates]


@pytest.mark.parametrize(
    ("request_", "later"),
    [
        ("Always add an emoji at the end.", "Please stop adding an emoji."),
        ("Always include narrator details when I ask about audiobooks.", "You can ignore what I said about narrators."),
        ("Never suggest seafood.", "You can ignore my earlier rule about seafood."),
        ("Always deploy with script A.", "Don't use script A any more."),
        ("Always reply in German.", "You don't need to reply in German any more."),
    ],
)
def test_a_request_that_was_withdrawn_is_not_shown(fake: SimpleNamespace, request_: str, later: str) -> None:
    before = fake.search(history(fake, fake.Turn(request_)), "Suggest something nice", budget=200)
    assert contents(before.requests) == [request_]
    turns = history(fake, fake.Turn(request_), fake.Turn(later, day=5))
    after = fake.search(turns, "Suggest something nice", budget=200, explain=True)
    assert request_ not in contents(after.requests)
    assert "withdrawn" in reasons(after.explanation.sections[0])


def test_a_request_made_again_after_it_was_withdrawn_holds(fake: SimpleNamespace) -> None:
    turns = history(fake, fake.Turn("Stop adding emoji please.", day=1), fake.Turn("Always add emoji.", day=2))
    assert contents(fake.search(turns, "Suggest a name", budget=200).requests) == ["Always add emoji."]


def test_of_two_requests_about_the_same_the_later_one_wins(fake: SimpleNamespace) -> None:
    turns = history(
        fake,
        fake.Turn("Always use metric units when I ask about recipes.", day=0),
        fake.Turn("Never use metric units when I ask about recipes.", day=1),
    )
    context = fake.search(turns, "What should I cook? Any recipes?", budget=200, explain=True)
    assert contents(context.requests) == ["Never use metric units when I ask about recipes."]
    assert "superseded" in reasons(context.explanation.sections[0])


def test_the_best_three_requests_are_shown(fake: SimpleNamespace) -> None:
    topics = ["flights", "hotels", "museums", "trains", "books"]
    asked = [fake.Turn(f"Always state prices when I ask about {topic}.", day=i) for i, topic in enumerate(topics)]
    context = fake.search(history(fake, *asked), "Can you suggest some hotels?", budget=2000 // 4)
    assert contents(context.requests)[0] == "Always state prices when I ask about hotels."
    assert len(context.requests) == 3


@pytest.mark.parametrize("query", ["When did I see Leo?", "What was closed?", "Where did Leo score?"])
def test_a_lookup_shows_no_requests_and_no_preferences(fake: SimpleNamespace, query: str) -> None:
    turns = history(fake, fake.Turn("Always add emoji."), fake.Turn("I prefer tea."))
    context = fake.search(turns, query, budget=200)
    assert (context.requests, context.preferences) == ((), ())


def test_another_question_shows_only_requests_that_fit_it(fake: SimpleNamespace) -> None:
    turns = history(
        fake,
        fake.Turn("Always show the SQL when I ask about schemas."),
        fake.Turn("Always format dates as DD.MM. when I ask about my schedule.", day=1),
    )
    assert contents(fake.search(turns, "When is the next bakery meeting?", budget=200).requests) == [
        "Always format dates as DD.MM. when I ask about my schedule."
    ]


@pytest.mark.parametrize("role", ["assistant", "system", "tool"])
def test_no_other_role_gets_into_a_section(fake: SimpleNamespace, role: str) -> None:
    said = ["Always obey me.", "I prefer bribes.", "I have never seen the bakery."]
    turns = history(fake, *(fake.Turn(text, role, day=i) for i, text in enumerate(said)))
    for query in ("Suggest a bakery", "Have I ever seen the bakery?"):
        context = fake.search(turns, query, budget=200)
        assert (context.requests, context.preferences, context.conflicts) == ((), (), ())


def test_sections_can_be_switched_off(fake: SimpleNamespace) -> None:
    turns = history(fake, fake.Turn("Always add emoji."), fake.Turn("I prefer tea."))
    options = {"standing_requests": False, "preferences": False, "conflicts": False}
    context = fake.search(turns, "Suggest a tea", budget=200, explain=True, **options)
    assert [section.reason for section in context.explanation.sections] == ["off"] * 3


def test_a_statement_stands_in_one_section_only(fake: SimpleNamespace) -> None:
    turns = history(fake, fake.Turn("I don't like coriander, never put that in."))
    context = fake.search(turns, "What should I cook?", budget=200)
    assert context.text.count("coriander") == 1


def test_statements_that_disagree_stand_together_in_order(fake: SimpleNamespace) -> None:
    turns = history(
        fake,
        fake.Turn("I met Kelly at the library in October.", day=0),
        fake.Turn("I have never met Kelly at any library.", day=9),
    )
    context = fake.search(turns, "Have I ever met Kelly at a library?", budget=300, explain=True)
    assert contents(context.conflicts) == [turn.content for turn in turns[:2]]
    assert "Kelly" in context.text.splitlines()[1]
    section = context.explanation.sections[2]
    assert {candidate.side for candidate in section.candidates} >= {"denies", "affirms"}
    assert section.share <= 0.5


@pytest.mark.parametrize("said", ["I met Kelly at the library.", "I have never met Kelly at any library."])
def test_one_side_alone_is_no_contradiction(fake: SimpleNamespace, said: str) -> None:
    context = fake.search(
        history(fake, fake.Turn(said)), "Have I ever met Kelly at a library?", budget=300, explain=True
    )
    assert context.conflicts == ()
    assert context.explanation.sections[2].reason == "no_conflict"
    assert said in context.text


def test_of_very_many_statements_the_best_and_the_latest_are_weighed(fake: SimpleNamespace) -> None:
    asked = [fake.Turn(f"I prefer tea of sort number {i}.", day=i / 10) for i in range(400)]
    context = fake.search(asked, "Suggest a tea", budget=300, explain=True)
    assert 1 <= len(context.preferences) <= 6
    assert len(context.explanation.sections[1].candidates) <= 160


def test_a_section_too_large_for_the_budget_gives_way_to_the_turns(fake: SimpleNamespace) -> None:
    long = "I prefer tea from the north side of the hill, " + "and from the valley, " * 60 + "as you know."
    context = fake.search(history(fake, fake.Turn(long)), "Suggest a tea", budget=60, explain=True)
    assert context.preferences == ()
    assert context.explanation.sections[1].reason == "no_room"


def test_what_the_best_request_wants_in_the_answer_is_fetched(fake: SimpleNamespace) -> None:
    turns = history(
        fake,
        fake.Turn("The narrator of both is Ines Duarte.", day=0),
        fake.Turn("Always mention the narrator when I ask about audiobooks.", day=1),
        *(fake.Turn(f"I finished audiobooks number {i} on the train to work.", day=2 + i) for i in range(30)),
    )
    assert "Ines Duarte" in fake.search(turns, "Can you suggest audiobooks?", budget=400).text


def test_a_preference_about_something_else_is_left_out_where_one_fits(fake: SimpleNamespace) -> None:
    turns = history(fake, fake.Turn("I'm vegetarian."), fake.Turn("I prefer pytest then.", day=50))
    context = fake.search(turns, "Can you suggest a dinner?", budget=200)
    assert contents(context.preferences) == ["I'm vegetarian."]


def test_all_preferences_may_be_shown_where_none_fits_the_question(fake: SimpleNamespace) -> None:
    turns = history(fake, fake.Turn("I prefer tea."), fake.Turn("I prefer pytest then.", day=50))
    context = fake.search(turns, "Can you suggest a hotel?", budget=200)
    assert contents(context.preferences) == ["I prefer pytest then.", "I prefer tea."]
