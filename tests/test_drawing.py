"""An explanation drawn for a terminal can be read, however narrow that is."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from llmslim_memory import Memory
from llmslim_memory.drawing import draw_table, words
from llmslim_memory.explain import SearchExplanation


@pytest.fixture(scope="module")
def explanation() -> SearchExplanation:
    with Memory() as memory:
        for day in range(1, 10):
            said = {"role": "user", "content": f"On day {day} I paid {day} euros.", "timestamp": f"2026-03-0{day}"}
            memory.add(said, user_id="ann")
        explanation = memory.search("What did I pay on day 4?", user_id="ann", budget=60, explain=True).explanation
    assert explanation is not None
    return explanation


def drawn(explanation: SearchExplanation, width: int) -> list[str]:
    out = io.StringIO()
    Console(file=out, width=width).print(draw_table(explanation, width=width))
    return out.getvalue().splitlines()


def test_a_narrow_table_gives_each_turn_a_line_with_its_reason(explanation: SearchExplanation) -> None:
    lines = drawn(explanation, 80)
    assert max(map(len, lines)) <= 80
    for turn in explanation.turns:
        [line] = [line for line in lines if turn.id[:8] in line]
        assert f"{turn.created_at:%Y-%m-%d}" in line
        assert line.rstrip().endswith(words(turn.reason) or "…")


def test_a_narrow_table_tells_above_it_what_became_of_the_sections(explanation: SearchExplanation) -> None:
    said = "\n".join(line.rstrip() for line in drawn(explanation, 80))
    assert "\nrequests, preferences, conflicts: the question does not call for it\n" in said


def test_a_wide_table_shows_ids_and_times_in_full(explanation: SearchExplanation) -> None:
    said = "\n".join(drawn(explanation, 160))
    assert all(turn.id in said for turn in explanation.turns)
    assert "2026-03-04 00:00" in said
    assert "[requests]" in said
