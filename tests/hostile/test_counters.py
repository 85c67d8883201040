"""Token counters that return what no text takes, or do not add up."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from llmslim_memory import Memory
from llmslim_memory.errors import InvalidValueError

SAID = [
    {"role": ("user", "assistant")[n % 2], "content": f"Turn {n} about figs, plums and the garden. " * (1 + n % 5)}
    for n in range(40)
]
UNEVEN: dict[str, Callable[[str], int]] = {
    "the square of the length": lambda text: len(text) ** 2,
    "the root of the length": lambda text: int(len(text) ** 0.5),
    "less for longer text": lambda text: max(0, 3000 - len(text)),
    "the same for all": lambda _: 7,
    "nothing": lambda _: 0,
    "lines": lambda text: text.count("\n"),
    "the most there is": lambda _: 2**31 - 1,
}


@pytest.mark.parametrize("tokens", [2**31, 10**12, 10**30])
def test_a_count_that_no_text_takes_is_refused_before_anything_is_stored(tokens: int) -> None:
    memory = Memory(encoding=lambda _: tokens)
    with pytest.raises(InvalidValueError, match="token counter returned more than"):
        memory.add({"role": "user", "content": "hello"}, user_id="ann")
    assert memory.get_all(user_id="ann") == []


@pytest.mark.parametrize("name", UNEVEN)
def test_the_budget_holds_by_a_counter_that_does_not_add_up(name: str) -> None:
    count = UNEVEN[name]
    memory = Memory(encoding=count)
    memory.add(SAID, user_id="ann")
    for query in ("Which figs do I like?", "Summarize everything", "zzzz"):
        for budget in (1, 5, 20, 100, 400, 5000):
            context = memory.search(query, user_id="ann", budget=budget, explain=True)
            assert context.tokens <= budget
            assert not context.text or context.tokens == count(context.text)
