"""A digest opens turns over the whole period, without code, in the order in which they were said."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from llmslim_memory.selection.digest import topic
from llmslim_memory.selection.openings import REPLY, USER, opening


def sessions(fake: SimpleNamespace, *, code: bool = False) -> list[Any]:
    snippet = "\n```\nx = 1\n```\n" * 5 if code else ""
    return [
        fake.Turn(f"Session {s} turn {t}: the garden needs work on bed {s}.{snippet} Then we rest a while.", role,
                  day=s * 7 + t / 100, session=str(s))
        for s in range(8)
        for t, role in enumerate(["user", "assistant"] * 4)
    ]  # fmt: skip


def test_every_session_gets_its_say(fake: SimpleNamespace) -> None:
    context = fake.search(sessions(fake), "Summarize what we discussed about the garden", budget=600)
    assert context.mode == "digest"
    assert context.sessions_kept == context.sessions_total == 8
    assert {turn.item.role for turn in context.turns} == {"user", "assistant"}


def test_an_overview_of_what_the_user_brought_up_shows_user_turns_in_order(fake: SimpleNamespace) -> None:
    context = fake.search(sessions(fake), "In what order did I bring up the beds?", budget=400, explain=True)
    assert {turn.item.role for turn in context.turns} == {"user"}
    assert [turn.item.seq for turn in context.turns] == sorted(turn.item.seq for turn in context.turns)
    assert {turn.reason for turn in context.explanation.turns if turn.role == "assistant"} == {"users_only"}


def test_an_overview_of_everything_needs_no_match(fake: SimpleNamespace) -> None:
    context = fake.search(sessions(fake), "What have we talked about so far?", budget=300, explain=True)
    assert context.found
    assert context.sessions_kept > 4
    ranks = {candidate.rank for turn in context.explanation.turns for candidate in turn.candidates}
    assert ranks == {None}


def test_a_digest_shows_no_code(fake: SimpleNamespace) -> None:
    assert "x = 1" not in fake.search(sessions(fake, code=True), "Give me a recap", budget=600).text


@pytest.mark.parametrize(("coverage", "mode"), [("always", "digest"), ("auto", "turns"), ("never", "turns")])
def test_coverage_decides(fake: SimpleNamespace, coverage: str, mode: str) -> None:
    assert fake.search(sessions(fake), "bed 3", budget=300, coverage=coverage).mode == mode


def test_never_answers_an_overview_with_turns(fake: SimpleNamespace) -> None:
    assert fake.search(sessions(fake), "Summarize the garden", budget=300, coverage="never").mode == "turns"


def test_a_large_budget_shows_the_best_user_turns_whole(fake: SimpleNamespace) -> None:
    long = (
        "I dug the first garden bed today and found roots of the old walnut tree all over it, so it took me until the "
    )
    long += "evening, and then I planted leeks, carrots and beetroot in three rows beside the path to the pond."
    turns = [fake.Turn(f"{long} ({i})", day=i) for i in range(120)]
    context = fake.search(turns, "Summarize the garden bed", budget=3000)
    partial = [turn.partial for turn in context.turns]
    assert True in partial
    assert False in partial


def test_very_many_turns_are_sampled(fake: SimpleNamespace) -> None:
    turns = [fake.Turn(f"Note {i} on the bakery.", day=i / 50, session=str(i // 100)) for i in range(1500)]
    context = fake.search(turns, "What have we talked about so far?", budget=600)
    assert context.sessions_kept >= 10


def test_an_opening_is_the_first_sentences_without_code() -> None:
    assert opening("```\nonly code\n```") is None
    assert opening("") is None
    assert opening("Short. And sweet.") == (0, 17)
    text = "word " * 100
    start, end = opening(text) or (0, 0)
    assert len(text[start:end].split()) == REPLY.most
    start, end = opening(text, USER) or (0, 0)
    assert len(text[start:end].split()) == USER.most
    coded = "Here it is.\n```\nx\n```\nAnd more."
    assert coded[slice(*(opening(coded) or (0, 0)))] == "Here it is."


def test_the_topic_is_the_question_without_the_asking() -> None:
    assert "garden" in topic("Can you give me a comprehensive summary of how my garden evolved?")
    assert "summary" not in topic("Can you give me a comprehensive summary of how my garden evolved?")
