"""The contract that a search gives the same text on every store, warm, followed and freshly opened."""

from __future__ import annotations

import random
from datetime import timedelta
from functools import partial
from uuid import uuid4

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test

from llmslim_memory.memory import Memory
from llmslim_memory.stores import InMemoryStore
from llmslim_memory.testing.machines import machine_settings
from llmslim_memory.testing.turns import NOON
from llmslim_memory.types import MemoryItem, MemoryStore, Scope

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


class SearchMachine(RuleBasedStateMachine):
    """An index that followed the store, one read from it anew and one built from the bare turns give the same text.

    All examples share a store, so each has a user of its own.
    """

    def __init__(self, store: MemoryStore) -> None:
        super().__init__()
        self.store = store
        self.memory = Memory(store)
        self.user_id = uuid4().hex
        self.ids: list[str] = []

    @rule(picked=st.lists(st.integers(0, 159), min_size=1, max_size=30), analysed=st.booleans())
    def add(self, picked: list[int], analysed: bool) -> None:
        """Turns are added, with their analyses or without."""
        drawn = [(uuid4().hex, _HISTORY[number]) for number in picked]
        items = [MemoryItem(i, t.role, t.content, t.created_at, 0, self.user_id, None, t.run_id) for i, t in drawn]
        self.ids += [item.id for item in items]
        if analysed:
            self.memory.restore(items)
        else:
            self.store.add(items)

    @rule(at=st.integers(0, 999), number=st.integers(0, 159))
    def update(self, at: int, number: int) -> None:
        """A turn says something else from now on."""
        if self.ids:
            self.memory.update(self.ids[at % len(self.ids)], content=_HISTORY[number].content)

    @rule(at=st.integers(0, 999))
    def delete(self, at: int) -> None:
        """A turn is deleted."""
        if self.ids:
            self.memory.delete(self.ids.pop(at % len(self.ids)))

    @rule(question=st.sampled_from(QUESTIONS), budget=st.sampled_from([60, 150, 600]))
    def search(self, question: str, budget: int) -> None:
        """All three find the same."""
        with InMemoryStore() as plain:
            plain.add(self.store.list(Scope(self.user_id)))
            memories = (self.memory, Memory(self.store), Memory(plain))
            found = [memory.search(question, user_id=self.user_id, budget=budget, now=NOW) for memory in memories]
        assert found[0].text == found[1].text == found[2].text


class SearchContract:
    """Same history, same question, same text, whatever the store."""

    def test_after_any_writes_a_search_gives_the_text_of_an_index_built_anew(self, store: MemoryStore) -> None:
        rarely = settings(machine_settings, max_examples=8, stateful_step_count=20)
        run_state_machine_as_test(partial(SearchMachine, store), settings=rarely)  # type: ignore[arg-type]

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


_HISTORY = history()


def _texts(memory: Memory) -> list[str]:
    return [
        memory.search(question, user_id=user_id, budget=budget, now=NOW).text
        for question in QUESTIONS
        for user_id in ("asha", "boris")
        for budget in (150, 600)
    ]
