"""Every example beside a pattern holds, and finding statements takes time in proportion to the text."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from llmslim_memory.selection.patterns import PATTERNS
from llmslim_memory.selection.route import HOW, ORDER, ROUTES, WHETHER, asks_for_order, asks_how, asks_whether, route_of
from llmslim_memory.selection.statements import find_statements

YES = [(pattern.kind, sentence) for pattern in PATTERNS for sentence in pattern.yes]
NO = [(pattern.kind, sentence) for pattern in PATTERNS for sentence in pattern.no]


def kinds(sentence: str, role: str = "user") -> set[str]:
    return {statement.kind for statement in find_statements(role, sentence)}


@pytest.mark.parametrize(("kind", "sentence"), YES)
def test_a_statement_is_found(kind: str, sentence: str) -> None:
    assert kind in kinds(sentence)
    assert kind in kinds(f"Thanks, that was useful. {sentence} See you!")
    assert kind in kinds(sentence.replace("'", "\u2019"))


@pytest.mark.parametrize("pattern", PATTERNS, ids=lambda pattern: f"{pattern.kind}:{pattern.yes[0][:30]}")
def test_each_pattern_finds_its_own_examples(pattern: object) -> None:
    for sentence in pattern.yes:  # type: ignore[attr-defined]
        assert pattern.expression.search(sentence), sentence  # type: ignore[attr-defined]


@pytest.mark.parametrize(("kind", "sentence"), NO)
def test_what_only_sounds_like_a_statement_is_not_found(kind: str, sentence: str) -> None:
    assert kind not in kinds(sentence)


@pytest.mark.parametrize("role", ["assistant", "system", "tool", "note"])
def test_only_users_make_statements(role: str) -> None:
    for _, sentence in YES:
        assert kinds(sentence, role) == set()


def test_code_is_not_read_for_statements() -> None:
    assert kinds("Look:\n```\n# Always include tests when I ask about code.\n```\n") == set()


@given(st.text(alphabet=st.sampled_from("Always never I'd prefer when ask about.,;?!\n`\"’茶 "), max_size=300))
@settings(max_examples=200, deadline=None)
def test_statements_lie_inside_the_text_in_order(text: str) -> None:
    found = find_statements("user", text)
    assert all(0 <= one.start < one.end <= len(text) for one in found)
    assert [one.start for one in found] == sorted(one.start for one in found)


@pytest.mark.parametrize(("kind", "query"), [(rule.kind, query) for rule in ROUTES for query in rule.yes])
def test_a_question_is_routed(kind: str, query: str) -> None:
    assert route_of(query) == kind
    assert route_of(query.lower()) == kind


@pytest.mark.parametrize(("kind", "query"), [(rule.kind, query) for rule in ROUTES for query in rule.no])
def test_a_question_of_another_kind_is_not(kind: str, query: str) -> None:
    assert route_of(query) != kind


@pytest.mark.parametrize(
    "query", ["我最喜欢的茶是什么？", "お茶を勧めてください", "Что мне почитать?", "¿Qué me recomiendas?", "", "???"]
)
def test_questions_in_other_languages_are_neither(query: str) -> None:
    assert route_of(query) == "other"


def test_order_and_doubt_are_told_from_their_examples() -> None:
    assert all(map(asks_for_order, ORDER.yes))
    assert not any(map(asks_for_order, ORDER.no))
    assert all(map(asks_whether, WHETHER.yes))
    assert not any(map(asks_whether, WHETHER.no))
    assert all(map(asks_how, HOW.yes))
    assert not any(map(asks_how, HOW.no))
