"""An explanation adds up, survives JSON, and never repeats what was said."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from llmslim_memory.explain import SearchExplanation
from llmslim_memory.tokens import make_counter

PIECES = st.sampled_from(
    ["tea", "Always use tea when I ask about rooibos.", "I prefer tea.", "I have never had tea.", "I had tea in May.",
     "user: tea", "[2026-03-02 (Mon) 09:00] assistant: tea", "```\ncode = 1\n```", "\n", "\n\n", "  ", "é", "茶を飲む",
     "tea!",
     "12345", "\t", "\r\n", "/", "\u2028", "x" * 30]
)  # fmt: skip
CONTENTS = (
    st.lists(PIECES, max_size=40).map(" ".join) | st.lists(PIECES, max_size=40).map("".join) | st.text(max_size=80)
)
QUERIES = [
    "tea",
    "Suggest a tea",
    "Summarize what we discussed about tea",
    "Have I ever had tea?",
    "In what order did I bring up tea?",
    "zzz",
]
EXACT = {name: make_counter(name) for name in ("o200k_base", "cl100k_base")}


@given(
    contents=st.lists(st.tuples(CONTENTS, st.sampled_from(["user", "assistant", "tool"]), st.booleans()), max_size=14),
    query=st.sampled_from(QUERIES),
    budget=st.sampled_from([1, 5, 20, 60, 150, 400, 10**6]),
    encoding=st.sampled_from(sorted(EXACT)),
    coverage=st.sampled_from(["auto", "always", "never"]),
)
@settings(max_examples=250, deadline=None)
def test_the_tokens_of_turns_and_sections_add_up_to_those_of_the_text(
    fake: SimpleNamespace, contents: list[tuple[str, str, bool]], query: str, budget: int, encoding: str, coverage: str
) -> None:
    turns = [
        fake.Turn(text, role, day=i / 3, session=str(i // 4), is_eligible=eligible)
        for i, (text, role, eligible) in enumerate(contents)
    ]
    context = fake.search(turns, query, budget=budget, count=EXACT[encoding], coverage=coverage, explain=True)
    explanation = context.explanation
    assert explanation.unattributed_tokens == 0
    assert sum(part.tokens for part in (*explanation.turns, *explanation.sections)) == context.tokens
    assert [turn.id for turn in explanation.turns] == [f"t{i}" for i in range(len(turns))]
    assert SearchExplanation.from_dict(json.loads(json.dumps(explanation.to_dict()))) == explanation
    shown = {turn.item.id for turn in context.turns}
    assert shown == {turn.id for turn in explanation.turns if turn.status != "dropped"}
    for turn in explanation.turns:
        assert (turn.reason is None) == (turn.status == "kept")
        assert (turn.share > 0) == (turn.status != "dropped")
        assert all((one.reason is None) == (one.status == "kept") for one in turn.candidates)


def test_an_explanation_repeats_nothing_that_was_said(fake: SimpleNamespace) -> None:
    turns = [fake.Turn(f"Canary{i} tea, I prefer canary{i}. " * 6, day=i) for i in range(30)]
    context = fake.search(turns, "Suggest a tea with canary3", budget=200, explain=True)
    assert "anary" in context.text
    assert "anary" not in json.dumps(context.explanation.to_dict())
    assert "anary" not in context.explanation.to_html()
    assert context.explanation.to_html() == context.explanation._repr_html_()


@pytest.mark.parametrize(
    ("query", "mode", "route"),
    [
        ("What tea did I have?", "turns", "lookup"),
        ("Suggest a tea.", "turns", "advice"),
        ("Summarize what we discussed.", "digest", "overview"),
        ("Tea", "turns", "other"),
    ],
)
def test_an_explanation_names_the_mode_and_the_kind_of_question(
    fake: SimpleNamespace, query: str, mode: str, route: str
) -> None:
    turns = [fake.Turn(f"I had tea number {i} in the garden with my aunt.", day=i) for i in range(60)]
    explanation = fake.search(turns, query, budget=200, explain=True).explanation
    assert (explanation.mode, explanation.route) == (mode, route)


def test_a_whole_history_has_no_route_and_keeps_every_turn(fake: SimpleNamespace) -> None:
    turns = [fake.Turn("I like tea."), fake.Turn("Later.", day=1, is_eligible=False)]
    explanation = fake.search(turns, "tea", budget=100, explain=True).explanation
    assert (explanation.mode, explanation.route, explanation.room) == ("whole_history", None, 100)
    assert [(turn.status, turn.reason, turn.session) for turn in explanation.turns] == [
        ("kept", None, 0),
        ("dropped", "outside", None),
    ]
    assert [section.reason for section in explanation.sections] == ["whole_history"] * 3


def test_without_being_asked_a_search_explains_nothing(fake: SimpleNamespace) -> None:
    assert fake.search([fake.Turn("tea")], "tea", budget=50).explanation is None


@given(
    contents=st.lists(CONTENTS, min_size=1, max_size=14), query=st.sampled_from(QUERIES), budget=st.integers(20, 400)
)
@settings(max_examples=100, deadline=None)
def test_tokens_add_up_by_an_estimate_that_rounds_each_text_up(
    fake: SimpleNamespace, contents: list[str], query: str, budget: int
) -> None:
    turns = [fake.Turn(text, "user", day=i / 3, session=str(i // 4)) for i, text in enumerate(contents)]
    explanation = fake.search(
        turns, query, budget=budget, count=make_counter(four_characters), explain=True
    ).explanation
    assert explanation.unattributed_tokens == 0
    assert all(part.tokens >= 0 for part in (*explanation.turns, *explanation.sections))


def four_characters(text: str) -> int:
    return -(-len(text) // 4)
