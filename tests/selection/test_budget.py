"""The budget is a promise, whatever is stored, asked or counted."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from llmslim_memory.tokens import make_counter

WORDS = st.sampled_from(
    ["tea", "rooibos", "Always", "user:", "[2026-03-02 (Mon) 09:00] user: ", "\n", "```", "é", "茶", "不", "👩‍👩‍👧",
    "x" * 9,
     "I prefer", "when I ask about", "never", "  ", ".", "?", "1234567", "\u200b"]
)  # fmt: skip
CONTENT = st.one_of(st.lists(WORDS, max_size=60).map(" ".join), st.text(max_size=120))
COUNTERS = {
    "o200k_base": make_counter("o200k_base"),
    "cl100k_base": make_counter("cl100k_base"),
    "characters": make_counter(len),
    "quarter": make_counter(lambda text: len(text) // 4),
    "odd": make_counter(lambda text: len(text) % 7 + len(text.split())),
}
QUERIES = [
    "tea",
    "Should I drink tea?",
    "Summarize what we discussed about tea",
    "Have I ever had rooibos?",
    "How did you recommend making tea?",
    "茶",
    "zzz",
]


@given(
    contents=st.lists(st.tuples(CONTENT, st.sampled_from(["user", "assistant", "tool"])), max_size=14),
    query=st.sampled_from(QUERIES),
    budget=st.sampled_from([1, 2, 5, 20, 60, 150, 500, 10**6]),
    counter=st.sampled_from(sorted(COUNTERS)),
)
@settings(max_examples=250, deadline=None)
def test_the_text_never_counts_more_tokens_than_the_budget(
    fake: SimpleNamespace, contents: list[tuple[str, str]], query: str, budget: int, counter: str
) -> None:
    count = COUNTERS[counter]
    turns = [fake.Turn(text, role, day=i / 3, session=str(i // 4)) for i, (text, role) in enumerate(contents)]
    context = fake.search(turns, query, budget=budget, count=count)
    assert context.tokens <= budget
    assert context.tokens == (count(context.text) if context.text else 0)


@pytest.mark.parametrize("budget", [1, 5, 20])
def test_a_tiny_budget_shows_whole_words_under_the_role(fake: SimpleNamespace, budget: int) -> None:
    turns = [fake.Turn("My favourite tea is rooibos, because of my grandmother in Clanwilliam. " * 30)]
    context = fake.search(turns, "favourite tea", budget=budget)
    assert context.tokens <= budget
    assert context.text == "" or "user: My" in context.text


def test_a_history_that_fits_is_shown_whole(fake: SimpleNamespace) -> None:
    turns = [fake.Turn("I like tea."), fake.Turn("Noted.", "assistant", day=1)]
    context = fake.search(turns, "anything", budget=200)
    assert context.text == "[2026-03-02 (Mon) 09:00] user: I like tea.\n[2026-03-03 (Tue) 09:00] assistant: Noted."
    assert not context.compressed
    assert context.found
