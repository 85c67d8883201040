"""From a question to the text that a model sees: recalled history in its envelope, within a budget."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import NamedTuple

from llama_index.memory.llmslim.quoting import neutral

from llmslim_memory import ContextEnvelope, Memory, MemoryItem


class Recalled(NamedTuple):
    """A text for a model, empty if there is nothing to say, and the turns that it quotes."""

    text: str
    turns: Sequence[MemoryItem]


NOTHING = Recalled("", ())


def recall(
    memory: Memory,
    query: str,
    *,
    user_id: str | None,
    agent_id: str | None,
    budget: int,
    exclude: Collection[str] = (),
    exclude_runs: Collection[str] = (),
    tag: str = "llmslim_memory",
) -> Recalled:
    """What the history says about ``query``, enclosed as untrusted data.

    Args:
        memory: The memory; this blocks.
        query: The question.
        user_id: Whose history.
        agent_id: Whose history, by agent.
        budget: Tokens that the text may take with its envelope, by the memory's counter.
        exclude: Ids of turns that the model sees already.
        exclude_runs: Sessions that the model sees already.
        tag: The name of the element that the text will stand in, which it must not close.
    """
    room = ContextEnvelope.room(max(budget, 1), count=memory.counter, user_id=user_id)
    if room <= 1 or not query.strip():
        return NOTHING
    context = memory.search(
        query, user_id=user_id, agent_id=agent_id, budget=room, exclude=exclude, exclude_runs=exclude_runs
    )
    text = neutral(context.text, tag)
    shown = context if text == context.text else replace(context, text=text, tokens=memory.counter(text))
    enclosed = ContextEnvelope(shown, budget=budget, count=memory.counter, user_id=user_id).to_text()
    quoted = (*context.turns, *context.requests, *context.preferences, *context.conflicts)
    return Recalled(enclosed, [turn.item for turn in quoted])
