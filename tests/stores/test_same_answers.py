"""The same history gives the same search text, whatever store holds it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

import pytest

from llmslim_memory import InMemoryStore, Memory, SQLiteStore

NOW = datetime(2026, 6, 1, 12, 0, tzinfo=UTC)
SUBJECTS = (
    "the greenhouse", "my sister Noor", "the blue bicycle", "invoice INV-2291", "the flight to Lisbon", "our landlord",
    "the sourdough starter", "parse_config()", "the piano lessons", "the vet", "茶の湯の稽古", "la réunion de mardi",
)  # fmt: skip
SENTENCES = (
    "I moved {} to the {} of March, {} euros.",
    "Please always answer about {} in {} lines; that costs {} points.",
    "Actually, no: {} is on the {}th now, and it was {} before.",
    "I prefer {} over anything else since {}, by {} percent.",
    "We talked about {}. It took {} hours and {} minutes.\n\n```python\nrun({!r})\n```",
)
QUESTIONS = (
    "When is the flight to Lisbon?",
    "What did I say about INV-2291?",
    "How do I like my answers?",
    "茶の湯の稽古はいつですか",
    "What happened last week?",
    "Summarise everything about the greenhouse.",
    "parse_config",
    "xylophone",
    "",
)


def history(turns: int) -> list[dict[str, Any]]:
    """A made-up history, the same every time."""
    random = Random(17)
    made = []
    for number in range(turns):
        subject = random.choice(SUBJECTS)
        text = random.choice(SENTENCES).format(subject, random.randint(1, 28), random.randint(1, 900), subject)
        said = NOW - timedelta(days=90) + timedelta(hours=7 * number, microseconds=random.randint(0, 999_999))
        made.append({"id": f"m{number}", "role": ("user", "assistant")[number % 2], "content": text, "timestamp": said})
    return made


@pytest.fixture
def memories(
    tmp_path: Path,
    open_postgres: Callable[..., Any],
    open_mongo: Callable[..., Any],
    open_standalone_mongo: Callable[..., Any],
) -> Iterator[list[Memory]]:
    stores = [
        InMemoryStore(),
        SQLiteStore(tmp_path / "memory.db"),
        open_postgres(),
        open_mongo(),
        open_standalone_mongo(),
    ]
    opened = [Memory(store, encoding=len, clock=lambda: NOW) for store in stores]
    yield opened
    for store in stores:
        store.close()


def answers(memory: Memory, budget: int) -> list[tuple[str, list[str], bool, str]]:
    found = [memory.search(question, user_id="asha", budget=budget) for question in QUESTIONS if question]
    return [(context.text, [turn.item.id for turn in context.turns], context.found, context.mode) for context in found]


@pytest.mark.parametrize("budget", [400, 10**6])
def test_all_stores_answer_alike(memories: list[Memory], budget: int) -> None:
    turns = history(160)
    for memory in memories:
        for session in range(8):
            memory.add(turns[session * 20 : session * 20 + 20], user_id="asha", run_id=f"s{session}")
        memory.add({"role": "user", "content": "The flight to Lisbon is on the 9th."}, user_id="ravi")
    reference, *others = [answers(memory, budget) for memory in memories]
    assert any(text for text, *_ in reference)
    assert all(other == reference for other in others)


def test_all_stores_still_answer_alike_after_edits_deletions_and_a_fresh_start(memories: list[Memory]) -> None:
    turns = history(80)
    for memory in memories:
        memory.add(turns, user_id="asha", run_id="s")
        answers(memory, 600)
        ids = [memory.item_id(f"m{number}", user_id="asha", run_id="s") for number in range(80)]
        memory.update(ids[3], content="The flight to Lisbon was cancelled.")
        memory.update(ids[5], metadata={"pinned": True})
        for number in range(10, 30, 2):
            memory.delete(ids[number])
        memory.add(
            {"id": "new", "role": "user", "content": "The greenhouse has new glass.", "timestamp": NOW}, user_id="asha"
        )
    warm = [answers(memory, 600) for memory in memories]
    cold = [answers(Memory(memory.store, encoding=len, clock=lambda: NOW), 600) for memory in memories]
    assert all(found == warm[0] for found in warm + cold)
    assert "cancelled" in warm[0][0][0]
