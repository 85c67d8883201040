"""Selection itself: what of a history is shown for a question, within a token budget."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from llmslim_memory.selection import requests
from llmslim_memory.selection.contents import Contents
from llmslim_memory.selection.digest import Digest, topic
from llmslim_memory.selection.exchanges import best_exchanges
from llmslim_memory.selection.explained import explain
from llmslim_memory.selection.fitting import Fitted, fit
from llmslim_memory.selection.options import SelectionOptions
from llmslim_memory.selection.outcome import Outcome
from llmslim_memory.selection.packing import Packer
from llmslim_memory.selection.render import Labels, join_text, whole_turns
from llmslim_memory.selection.route import asks_for_order, asks_how, route_of
from llmslim_memory.selection.sections import SectionBuilder
from llmslim_memory.selection.shelf import Section
from llmslim_memory.selection.turns import TurnPicker
from llmslim_memory.selection.updates import newer_turns
from llmslim_memory.tokens import TokenCounter
from llmslim_memory.types import MemoryContext, RecalledTurn
from llmslim_memory.views import History, Ranking

ROOMY = 2000
"""From this budget on, two turns that tell of a change may stand beside what they change."""

Rank = Callable[[str], Ranking]


def select(
    query: str,
    history: History,
    rank: Rank,
    *,
    now: datetime,  # noqa: ARG001  ranking reads the times in a question
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
    left_out = {one.turn: "echo" for one in history.marks(("echo",))}
    outcome = _whole(query, history, rank, left_out, options, budget, count)
    if outcome is None:
        outcome = _Search(query, history, rank, left_out, options, budget, count).run()
    context = _context(query, history, outcome, budget=budget, count=count)
    if not options.explain:
        return context
    return replace(context, explanation=explain(history, outcome, budget=budget, count=count))


def _whole(
    query: str,
    history: History,
    rank: Rank,
    left_out: dict[int, str],
    options: SelectionOptions,
    budget: int,
    count: TokenCounter,
) -> Outcome | None:
    """Every turn in full, if that fits and no fewer are asked for."""
    if options.k is not None and int(np.count_nonzero(history.eligible)) > options.k:
        return None
    echoes = int(history.tokens[list(left_out)].sum()) if left_out else 0
    if int(history.tokens[history.eligible].sum()) - echoes > budget:
        return None
    shown = whole_turns(history, left_out)
    text, tokens, blocks = join_text((), Labels(history, options, whole=True).blocks(shown), count)
    if tokens > budget:
        return None
    fitted = Fitted(text, tokens, (), tuple(shown), blocks)
    return Outcome("whole_history", None, rank(query), fitted, budget, bool(shown), left_out)


@dataclass(slots=True)
class _Search:
    """One search of a history that does not fit."""

    query: str
    history: History
    rank: Rank
    left_out: dict[int, str]
    options: SelectionOptions
    budget: int
    count: TokenCounter
    contents: Contents = field(init=False)

    def __post_init__(self) -> None:
        self.contents = Contents(self.history)

    def run(self) -> Outcome:
        route = route_of(self.query)
        is_digest = self.options.coverage == "always" or (self.options.coverage == "auto" and route == "overview")
        ranking = self.rank(topic(self.query) if is_digest else self.query)
        sections = SectionBuilder(
            self.query, route, ranking, self.contents, self.options, self.budget, self.count
        ).build()
        shown = [section for section in sections if section.text]
        room = self._room(shown)
        packer = Packer(Labels(self.history, self.options, whole=False), self.count, room, self.options.k)
        left_out = self.left_out | dict.fromkeys(self._above(shown), "in_section")
        picker = (
            self._digest(packer, left_out, ranking) if is_digest else self._turns(packer, left_out, ranking, sections)
        )
        fitted = fit(self.contents, packer, shown, budget=self.budget, count=self.count)
        if picker.refill(ranking, self.budget - fitted.tokens):
            fitted = fit(self.contents, packer, shown, budget=self.budget, count=self.count)
        found = ranking.matched or bool(packer.order) or bool(shown)
        mode = "digest" if is_digest else "turns"
        return Outcome(mode, route, ranking, fitted, room, found, left_out, sections, picker)

    def _digest(self, packer: Packer, left_out: dict[int, str], ranking: Ranking) -> Digest:
        users_only = asks_for_order(self.query)
        digest = Digest(self.contents, packer, topic(self.query), users_only=users_only, left_out=left_out)
        digest.pick(ranking)
        return digest

    def _turns(
        self, packer: Packer, left_out: dict[int, str], ranking: Ranking, sections: Sequence[Section]
    ) -> TurnPicker:
        picker = TurnPicker(self.contents, packer, left_out)
        if ranking.matched:
            most = 2 if self.budget >= ROOMY else 1
            newer = newer_turns(self.query, self.contents, ranking, most=most)
            exchanges = best_exchanges(self.history, ranking) if asks_how(self.query) else ()
            picker.pick(ranking, newer, exchanges, asked=self._asked_for(sections))
        if not packer.order and packer.room == self.budget:
            picker.keep_best(ranking)
        return picker

    def _asked_for(self, sections: Sequence[Section]) -> Ranking | None:
        """The history ranked for what the best standing request wants in the answer."""
        best = next((section.kept[0] for section in sections if section.name == "requests" and section.text), None)
        if best is None or not requests.fits_at_all(requests.asked(self.query), best):
            return None
        return self.rank(requests.wanted(best.text))

    def _room(self, sections: Sequence[Section]) -> int:
        return self.budget - sum(self.count(section.text) for section in sections)

    def _above(self, sections: Sequence[Section]) -> frozenset[int]:
        """The turns that a section shows from end to end."""
        kept = (one for section in sections for one in section.kept)
        return frozenset(
            one.mark.turn for one in kept if len(one.text) >= 0.9 * len(self.contents.item(one.mark.turn).content)
        )


def _context(query: str, history: History, outcome: Outcome, *, budget: int, count: TokenCounter) -> MemoryContext:
    eligible, fitted, contents = history.eligible, outcome.fitted, Contents(history)
    scores = outcome.ranking.turn_scores
    sections = {section.name: _stated(section, contents, scores) for section in fitted.sections}
    return MemoryContext(
        query=query,
        text=fitted.text,
        turns=tuple(RecalledTurn(one.item.copy(), float(scores[one.turn]), one.is_partial) for one in fitted.shown),
        tokens=fitted.tokens,
        budget=budget,
        history_tokens=int(history.tokens[eligible].sum()),
        sessions_total=int(np.count_nonzero(np.bincount(history.sessions[eligible]))),
        sessions_kept=len({int(history.sessions[one.turn]) for one in fitted.shown}),
        found=outcome.found,
        mode=outcome.mode,
        counter=count.name,
        requests=sections.get("requests", ()),
        preferences=sections.get("preferences", ()),
        conflicts=sections.get("conflicts", ()),
    )


def _stated(section: Section, contents: Contents, scores: NDArray[np.float64]) -> tuple[RecalledTurn, ...]:
    """The turns that a section quotes, best first; contradictions in the order in which they were said."""
    kept = section.kept
    if section.name == "conflicts":
        kept = tuple(sorted(kept, key=lambda one: one.mark.turn))
    contents.load(one.mark.turn for one in kept)
    recalled: dict[int, RecalledTurn] = {}
    for one in kept:
        item = contents.item(one.mark.turn)
        is_partial = len(one.text) < len(item.content.strip())
        recalled.setdefault(one.mark.turn, RecalledTurn(item.copy(), float(scores[one.mark.turn]), is_partial))
    return tuple(recalled.values())
