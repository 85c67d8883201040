"""A memory, and ways to talk to it, for the tests of what users of other memories complained about."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from llmslim_memory import Memory, MemoryContext

START = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)
SMALL_TALK = [
    "The gutters need cleaning before the rain comes.",
    "Leo scored twice at the match on Saturday.",
    "I watched a documentary about lighthouses.",
    "The bakery on the corner closed for good.",
    "My bicycle chain squeaks again.",
    "We repainted the hallway in a pale yellow.",
    "The neighbours adopted a greyhound.",
    "I finally sorted the box of old photographs.",
    "The tomatoes on the balcony are doing well.",
    "Our train was two hours late on Friday.",
]


@pytest.fixture
def memory() -> Iterator[Memory]:
    with Memory(clock=lambda: START + timedelta(days=500)) as opened:
        yield opened


def tell(memory: Memory, *contents: str, role: str = "user", day: float = 0, user: str = "u", run: str = "s") -> None:
    for i, content in enumerate(contents):
        said = START + timedelta(days=day, minutes=i)
        memory.add({"role": role, "content": content}, user_id=user, run_id=run, timestamp=said)


def chatter(memory: Memory, *, day: float = 0, times: int = 3, user: str = "u") -> None:
    """Enough small talk that the history no longer fits."""
    for i in range(times):
        tell(memory, *(f"{text} ({i})" for text in SMALL_TALK), day=day + i, run=f"chatter {day + i}", user=user)


def ask(memory: Memory, query: str, *, budget: int = 200, user: str = "u", **options: object) -> MemoryContext:
    context = memory.search(query, user_id=user, budget=budget, **options)  # type: ignore[arg-type]
    assert context.tokens <= budget
    return context


def in_order(text: str, *parts: str) -> bool:
    places = [text.find(part) for part in parts]
    return -1 not in places and places == sorted(places)
