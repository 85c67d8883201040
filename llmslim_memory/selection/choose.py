"""Selection itself: what of a history is shown for a question, within a token budget."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

import numpy as np

from llmslim_memory.selection.contents import Contents
from llmslim_memory.selection.fitting import Fitted, fit, join
from llmslim_memory.selection.options import SelectionOptions
from llmslim_memory.selection.packing import Packer
from llmslim_memory.selection.render import Labels, whole_turns
from llmslim_memory.selection.turns import TurnPicker
from llmslim_memory.tokens import TokenCounter
from llmslim_memory.types import MemoryContext, RecalledTurn
from llmslim_memory.views import History, Ranking

Rank = Callable[[str], Ranking]


def select(
    query: str,
    history: History,
    rank: Rank,
    *,
    now: datetime,  # noqa: ARG001  ranking reads the times in a question; a digest may too
    options: SelectionOptions,
    budget: int,
    count: TokenCounter,
) -> MemoryContext:
    """The part of ``history`` that answers ``query``: all of it where it fits ``budget`` tokens, else the best of it.

    Args:
        query: The question.
        history: The turns of a scope.
        rank: Ranks the history for a text: the question, or what a standing request asks for.
        now: What relative times refer to.
        options: See :class:`SelectionOptions`.
        budget: The most tokens that the text may count.
        count: What counts tokens.

    Returns:
        A context whose text counts at most ``budget``, with ``elapsed_ms`` left to the caller.
    """
    whole = _whole(history, options, budget, count)
    if whole is not None:
        return _context(query, history, rank(query), whole, mode="whole_history", budget=budget, count=count)
    ranking = rank(query)
    contents = Contents(history)
    packer = Packer(Labels(history, options, whole=False), count, budget)
    picker = TurnPicker(contents, packer)
    if ranking.matched:
        picker.pick(ranking)
    fitted = fit(contents, packer, (), budget=budget, count=count) if packer.order else Fitted("", 0, (), (), ())
    return _context(query, history, ranking, fitted, mode="turns", budget=budget, count=count)


def _whole(history: History, options: SelectionOptions, budget: int, count: TokenCounter) -> Fitted | None:
    """Every turn in full, if that fits."""
    if int(history.tokens[history.eligible].sum()) > budget:
        return None
    shown = whole_turns(history)
    blocks = Labels(history, options, whole=True).blocks(shown)
    text = join((), blocks)
    tokens = count(text) if text else 0
    return Fitted(text, tokens, (), tuple(shown), tuple(blocks)) if tokens <= budget else None


def _context(
    query: str, history: History, ranking: Ranking, fitted: Fitted, *, mode: str, budget: int, count: TokenCounter
) -> MemoryContext:
    eligible = history.eligible
    return MemoryContext(
        query=query,
        text=fitted.text,
        turns=_recalled(fitted, ranking),
        tokens=fitted.tokens,
        budget=budget,
        history_tokens=int(history.tokens[eligible].sum()),
        sessions_total=len(np.unique(history.sessions[eligible])),
        sessions_kept=len({int(history.sessions[one.turn]) for one in fitted.shown}),
        found=bool(fitted.shown) if mode == "whole_history" else ranking.matched,
        mode=mode,
        counter=count.name,
    )


def _recalled(fitted: Fitted, ranking: Ranking) -> tuple[RecalledTurn, ...]:
    def score(turn: int) -> float:
        return min(1.0, max(0.0, float(ranking.turn_scores[turn])))

    return tuple(RecalledTurn(one.item, score(one.turn), one.is_partial) for one in fitted.shown)
