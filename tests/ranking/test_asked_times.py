"""A question that only asks after a time finds what was said then, in every language that times are read in."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from llmslim_memory import Memory

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)  # a Monday


def said_at(question: str, *turns: tuple[str, datetime]) -> list[str]:
    with Memory() as memory:
        for at, (text, time) in enumerate(turns):
            memory.add({"role": "user", "content": text}, user_id="ann", run_id=f"r{at}", timestamp=time)
        return [hit.text for hit in memory.rank(question, user_id="ann", now=NOW)]


@pytest.mark.parametrize(
    ("question", "yesterday", "other"),
    [
        ("What did I do yesterday?", "We rowed across the lake", "The dentist was kind"),
        ("Was habe ich gestern gemacht?", "Brötchen geholt", "Der Zahnarzt war nett"),
        ("Qu'est-ce que j'ai fait hier ?", "Une promenade en barque", "Le dentiste est gentil"),
        ("¿Qué hice ayer?", "Compré pan", "El dentista es amable"),
        ("Cosa ho fatto ieri?", "Un giro in barca", "Il dentista era gentile"),
        ("O que eu fiz ontem?", "Comprei pão", "O dentista foi gentil"),
        ("Wat heb ik gisteren gedaan?", "Brood gehaald", "De tandarts was aardig"),
        ("我昨天做了什么？", "去湖边划船", "牙医很和气"),
        ("昨日何をしましたか？", "湖でボートに乗った", "歯医者は親切だった"),
        ("어제 뭐 했어?", "호수에서 배를 탔다", "치과 의사는 친절했다"),
    ],
)
def test_what_was_done_yesterday_is_found_though_it_shares_no_word(question: str, yesterday: str, other: str) -> None:
    turns = (other, datetime(2026, 9, 3, 9, tzinfo=UTC)), (yesterday, datetime(2026, 11, 29, 9, tzinfo=UTC))
    assert said_at(question, *turns)[0] == yesterday


def test_what_was_said_within_a_range_comes_before_what_was_said_outside() -> None:
    turns = [(f"We walked the dog, day {day}", datetime(2023, 8, day, 9, tzinfo=UTC)) for day in (2, 9, 13, 29)]
    found = said_at("Where did we walk the dog between August 11 and August 15 2023?", *turns)
    assert found[0] == "We walked the dog, day 13"


@pytest.mark.parametrize(
    ("question", "months"),
    [
        ("Which dog did we walk before June 2023?", {2, 4}),
        ("Which dog did we walk since June 2023?", {7, 9}),
        ("2023年6月之前 dog walk", {2, 4}),
    ],
)
def test_an_open_end_favours_all_that_lies_on_its_side(question: str, months: set[int]) -> None:
    turns = [(f"We walked the dog, month {month}", datetime(2023, month, 5, tzinfo=UTC)) for month in (2, 4, 7, 9)]
    assert {int(text[-1]) for text in said_at(question, *turns)[:2]} == months


def test_a_time_at_which_nothing_was_said_changes_nothing() -> None:
    turns = ("We walked the dog", datetime(2023, 2, 5, tzinfo=UTC)), ("It rained", datetime(2023, 2, 6, tzinfo=UTC))
    assert said_at("Did we walk the dog last week?", *turns)[0] == "We walked the dog"
    assert said_at("Was I swimming last week?", *turns) == []
