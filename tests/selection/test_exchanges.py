"""A question after how something was planned or advised is answered by whole exchanges."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from llmslim_memory import Memory, MemoryContext
from llmslim_memory.selection.exchanges import best_exchanges
from llmslim_memory.tokens import make_counter

STEPS = (
    "Start with a list of every room and what goes first. Book the van four weeks ahead, since Saturdays fill up. "
    "Tell the bank, the tax office and the school your new address. Pack what you rarely use before anything else. "
    "Label each box on two sides with its room. Keep papers, chargers and keys in one bag that travels with you. "
    "Read the meters on the last evening and photograph them. Clean the kitchen last, you will cook until then. "
    "Ask a neighbour to hold the parking space. Hand over the keys only against a signed protocol."
)
MOVE = "I need to organise the move to the new flat in Lyon, where do I begin?"
OTHERS = [f"Department {n} asked me to organise a flat on floor {n} for week {n}." for n in range(40)]


def ask(question: str, *, budget: int = 340) -> MemoryContext:
    memory = Memory()
    memory.add([{"role": "user", "content": MOVE}, {"role": "assistant", "content": STEPS}], user_id="u", run_id="a")
    for n, text in enumerate(OTHERS):
        said = [{"role": "user", "content": text}, {"role": "assistant", "content": f"Noted: week {n}."}]
        memory.add(said, user_id="u", run_id=f"s{n}")
    return memory.search(question, user_id="u", budget=budget, explain=True)


@pytest.mark.parametrize(
    "question", ["How did I organise the flat in Lyon?", "What steps did you suggest to organise the flat in Lyon?"]
)
def test_the_reply_to_the_best_turn_is_shown_whole(question: str) -> None:
    assert STEPS in ask(question).text


def test_a_reply_that_does_not_fit_is_shown_in_parts() -> None:
    context = ask("How did I organise the flat in Lyon?", budget=150)
    assert STEPS not in context.text
    assert MOVE in context.text


def test_an_exchange_is_a_user_turn_and_the_shown_reply_after_it_in_its_session(fake: SimpleNamespace) -> None:
    count = make_counter("o200k_base")
    turns = [
        fake.Turn("Tea or rooibos?", day=0, session="a"),
        fake.Turn("Rooibos.", "assistant", day=1, session="a"),
        fake.Turn("Which tea and which rooibos and which cup?", day=2, session="a"),
        fake.Turn("Elsewhere: tea.", "assistant", day=3, session="b"),
        fake.Turn("Tea, again.", day=4, session="b"),
        fake.Turn("Tea and tea.", day=5, session="b"),
        fake.Turn("Rooibos tea in a cup.", "assistant", day=6, session="b"),
        fake.Turn("Rooibos, then.", day=7, session="b"),
        fake.Turn("Hidden tea.", "assistant", day=8, session="b", is_eligible=False),
    ]
    history = fake.History(turns, count)
    ranking = fake.rank(history, "tea rooibos cup", count)
    assert {(asked.turn, reply) for asked, reply in best_exchanges(history, ranking)} == {(5, 6), (0, 1)}


def test_an_explanation_names_the_parts_of_a_whole_reply() -> None:
    explanation = ask("How did I organise the flat in Lyon?").explanation
    assert explanation is not None
    reply = explanation.turns[1]
    assert reply.status == "kept"
    assert all(one.status == "kept" for one in reply.candidates)
    assert explanation.unattributed_tokens == 0
