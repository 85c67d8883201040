"""The contract that a search gives the same text on every store, warm, followed and freshly opened."""

from __future__ import annotations

import random
from datetime import timedelta

from llmslim_memory.memory import Memory
from llmslim_memory.stores import InMemoryStore
from llmslim_memory.testing.turns import NOON
from llmslim_memory.types import MemoryItem, MemoryStore

THINGS = ("kettle", "bicycle", "passport", "piano", "greenhouse", "telescope", "sofa", "canoe")
PLACES = ("Pune", "Oslo", "Lima", "Kyoto", "Tartu", "Accra")
COLOURS = ("red", "green", "silver", "yellow", "blue")
QUESTIONS = (
    "Where is the kettle now?",
    "Which colour did I paint the canoe?",
    "What do I prefer for breakfast?",
    "Summarise what we said about Lima.",
    "When did the piano arrive in Tartu?",
    "Who lives on the moon?",
)
NOW = NOON + timedelta(days=400)


def history(count: int = 160) -> list[MemoryItem]:
    """A made-up history of two users with things that move and are painted, and preferences that change."""
    rng = random.Random(11)  # noqa: S311
    return [_turn(n, rng) for n in range(count)]


def _turn(n: int, rng: random.Random) -> MemoryItem:
    thing, place, colour = rng.choice(THINGS), rng.choice(PLACES), rng.choice(COLOURS)
    said = (
        f"The {thing} is in {place} now. I painted it {colour}.",
        f"Noted: your {thing} is in {place}. " * rng.randint(1, 6) + f"It is {colour}, and the road there is long.",
        f"I prefer {thing}s that are {colour}. Always answer in one sentence about {place}.",
        f"When we were in {place} the {thing} broke; repairing it cost {rng.randint(20, 900)} euros.",
    )
    return MemoryItem(
        f"turn-{n}",
        "assistant" if n % 4 == 1 else "user",
        said[n % 4],
        NOON + timedelta(hours=7 * n),
        user_id="boris" if n % 9 == 0 else "asha",
        run_id=f"run-{n // 12}",
    )


class SearchContract:
    """Same history, same question, same text, whatever the store."""

    def test_a_search_gives_the_text_that_the_store_in_this_process_gives(self, store: MemoryStore) -> None:
        with InMemoryStore() as plain:
            expected, found = Memory(plain), Memory(store)
            for memory in (expected, found):
                memory.restore(history()[:100])
            assert _texts(found) == _texts(expected)
            for memory in (expected, found):
                memory.restore(history()[100:])
                memory.update("turn-0", content="The kettle is in Accra. I painted it silver.")
                memory.update("turn-8", content="The kettle went back to Kyoto.")
                memory.delete("turn-13")
                memory.delete_all(run_id="run-3")
            followed = _texts(found)
            assert followed == _texts(expected)
            assert _texts(Memory(store)) == followed

    def test_a_search_hands_over_turns_as_they_are_now(self, store: MemoryStore) -> None:
        memory = Memory(store)
        memory.restore(history()[:30])
        question, scope = "Where is the kettle now?", {"user_id": "asha"}
        first = memory.rank(question, **scope, k=1)[0].item
        store.update(first.id, metadata={"checked": True})
        item = memory.rank(question, **scope, k=1)[0].item
        assert (item.metadata, item) == ({"checked": True}, memory.get(first.id))
        store.update(first.id, content=f"{first.content} Yes.")
        assert memory.rank(question, **scope, k=1)[0].item == memory.get(first.id)

    def test_a_search_reads_turns_that_were_added_without_an_analysis(self, store: MemoryStore) -> None:
        with InMemoryStore() as plain:
            plain.add(history())
            store.add(history())
            assert _texts(Memory(store)) == _texts(Memory(plain))


def _texts(memory: Memory) -> list[str]:
    return [
        memory.search(question, user_id=user_id, budget=budget, now=NOW).text
        for question in QUESTIONS
        for user_id in ("asha", "boris")
        for budget in (150, 600)
    ]
