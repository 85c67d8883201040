"""What memory says about a question, wrapped as untrusted data and within a token budget."""

from __future__ import annotations

from collections.abc import Collection

from langchain_llmslim.scope import Ids
from llmslim_memory import ContextEnvelope, InvalidValueError, Memory, MemoryContext, TokenCounter

PLACEHOLDER = "{memory}"
"""Where a template takes the envelope."""
SOURCE = "llmslim_memory"
"""Marks what came out of memory, so that it is never stored again as if it had been said."""


def check_template(template: object) -> str:
    """Return what is to stand around the envelope: a text that says once where.

    Raises:
        ValueError: It does not hold ``{memory}``, or holds it more than once.
    """
    if not isinstance(template, str) or template.count(PLACEHOLDER) != 1:
        raise InvalidValueError(f"template is {template!r}; pass a text that holds {PLACEHOLDER} once")
    return template


def recall_text(
    memory: Memory,
    query: str,
    ids: Ids,
    *,
    token_budget: int,
    k: int | None = None,
    template: str = PLACEHOLDER,
    exclude: Collection[str] = (),
    exclude_runs: Collection[str] = (),
) -> str:
    """What answers ``query``, in an envelope inside ``template``, of at most ``token_budget`` tokens together.

    It is empty where nothing does, without the template too. At most ``k`` turns are in it.
    """
    around = 0 if template == PLACEHOLDER else memory.counter(template)
    if token_budget <= around or not query.strip():
        return ""
    room = ContextEnvelope.room(token_budget - around, count=memory.counter, user_id=ids["user_id"])
    context = memory.search(query, **ids, budget=room, k=k, exclude=exclude, exclude_runs=exclude_runs)
    return _framed(context, template, token_budget, around, memory.counter)


def _framed(context: MemoryContext, template: str, budget: int, around: int, count: TokenCounter) -> str:
    """The envelope inside the template, which is cut until both fit: tokens may join where they touch."""
    before, _, after = template.partition(PLACEHOLDER)
    while (left := budget - around) > 0:
        envelope = ContextEnvelope(context, budget=left, count=count).to_text()
        text = f"{before}{envelope}{after}"
        if not envelope or (over := count(text) - budget) <= 0:
            return text if envelope else ""
        around += over
    return ""
