"""Puts what a search decided into values that name turns by id; built only when asked for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise

import numpy as np

from llmslim_memory.explain import ExplainedCandidate, ExplainedSection, ExplainedTurn, SearchExplanation
from llmslim_memory.selection.outcome import Outcome
from llmslim_memory.selection.packing import Verdict
from llmslim_memory.selection.sections import NAMES
from llmslim_memory.selection.shelf import Section
from llmslim_memory.selection.stamps import moment
from llmslim_memory.selection.turns import TurnPicker
from llmslim_memory.tokens import TokenCounter
from llmslim_memory.views import Candidate, History

_NEXT = "x"
"""What stands for the start of the next part, which is never blank: a line break counts otherwise at a text's end."""


def explain(history: History, outcome: Outcome, *, budget: int, count: TokenCounter) -> SearchExplanation:
    """What became of every turn, passage and section, and what each takes of the budget."""
    return _Explainer(history, outcome, budget, count).explain()


@dataclass(frozen=True, slots=True)
class _Explainer:
    history: History
    outcome: Outcome
    budget: int
    count: TokenCounter

    def explain(self) -> SearchExplanation:
        outcome, fitted = self.outcome, self.outcome.fitted
        costs = self._costs()
        stands = [section.name for section in fitted.sections]
        sections = tuple(self._section(one, dict(zip(stands, costs, strict=False))) for one in self._all_sections())
        blocks = dict(zip((one.turn for one in fitted.shown), costs[len(stands) :], strict=True))
        turns = tuple(self._turns(blocks))
        picker = outcome.picker if isinstance(outcome.picker, TurnPicker) else None
        return SearchExplanation(
            mode=outcome.mode,
            route=outcome.route,
            budget=self.budget,
            tokens=fitted.tokens,
            history_tokens=int(self.history.tokens[self.history.eligible].sum()),
            room=outcome.room,
            user_room=picker.user_room if picker else None,
            user_turn_cap=picker.user_turn_cap if picker else None,
            clipped=fitted.clipped,
            unattributed_tokens=fitted.tokens - sum(costs),
            turns=turns,
            sections=sections,
        )

    def _costs(self) -> list[int]:
        """What each section and block takes in the text, in order."""
        fitted = self.outcome.fitted
        parts = [*(section.text for section in fitted.sections), *fitted.blocks]
        if not parts:
            return []
        last = fitted.text[sum(map(len, parts[:-1])) :]
        following = self.count(_NEXT)
        costs = [*(self.count(part + _NEXT) - following for part in parts[:-1]), self.count(last)]
        return costs if sum(costs) == fitted.tokens else self._added(parts)

    def _added(self, parts: list[str]) -> list[int]:
        """What each part adds to those before it: by counters that round, parts cost more alone than together."""
        ends = accumulate(map(len, parts[:-1]))
        counts = [0, *(self.count(self.outcome.fitted.text[:end]) for end in ends), self.outcome.fitted.tokens]
        return [max(0, after - before) for before, after in pairwise(counts)]

    def _all_sections(self) -> list[Section]:
        return list(self.outcome.sections) or [Section(name, "whole_history") for name in NAMES]

    def _section(self, section: Section, costs: dict[str, int]) -> ExplainedSection:
        shown, tokens = section.name in costs, costs.get(section.name, 0)
        reason = None if shown else section.reason or "budget"
        candidates = tuple(self._statements(section, shown=shown))
        return ExplainedSection(
            section.name, shown, reason, section.cap, tokens, tokens / self.budget, candidates=candidates
        )

    def _statements(self, section: Section, *, shown: bool) -> Iterator[ExplainedCandidate]:
        starts: dict[int, list[int]] = {}
        for one in section.weighed:
            starts.setdefault(one.mark.turn, []).append(one.mark.statement.start)
        for rank, one in enumerate(section.weighed, start=1):
            kept = one.status == "kept" and shown
            yield ExplainedCandidate(
                turn_id=self.history.ids[one.mark.turn],
                pool=section.name,
                kind="statement",
                part=sorted(starts[one.mark.turn]).index(one.mark.statement.start),
                rank=rank,
                score=one.score,
                tokens=self.count(one.text),
                status="kept" if kept else "dropped",
                reason=None if kept else one.reason or "budget",
                side=one.side,
            )

    def _turns(self, blocks: dict[int, int]) -> Iterator[ExplainedTurn]:
        partial = {one.turn for one in self.outcome.fitted.shown if one.is_partial}
        found = self._candidates(blocks)
        sessions = np.unique(self.history.sessions[self.history.eligible])
        is_picked_from = self.outcome.mode != "whole_history"
        for turn, (turn_id, role) in enumerate(zip(self.history.ids, self.history.roles, strict=True)):
            eligible = bool(self.history.eligible[turn])
            tokens = blocks.get(turn, 0)
            status = "dropped" if turn not in blocks else "clipped" if turn in partial else "kept"
            candidates = found.get(turn, ())
            yield ExplainedTurn(
                id=turn_id,
                role=role,
                created_at=moment(int(self.history.times[turn])),
                session=int(np.searchsorted(sessions, self.history.sessions[turn])) if eligible else None,
                pool=_pool(role) if eligible and is_picked_from else None,
                status=status,
                reason=self._reason(turn, status, candidates),
                tokens=tokens,
                share=tokens / self.budget,
                candidates=tuple(candidates),
            )

    def _reason(self, turn: int, status: str, candidates: tuple[ExplainedCandidate, ...]) -> str | None:
        if status == "kept":
            return None
        if status == "clipped":
            return self._clipped(candidates)
        if not self.history.eligible[turn]:
            return "outside"
        if turn in self.outcome.left_out:
            return self.outcome.left_out[turn]
        return next((one.reason for one in candidates), self._unseen(turn))

    def _unseen(self, turn: int) -> str:
        """Why a turn that could be shown was not even a candidate."""
        picker = self.outcome.picker
        if picker is None:
            return "blank"
        if isinstance(picker, TurnPicker):
            return "no_match"
        return "users_only" if picker.users_only and self.history.roles[turn] != "user" else self._no_room

    @property
    def _no_room(self) -> str:
        """What leaves no room for another turn: that as many are shown as were asked for, or the budget."""
        return "k" if self.outcome.picker is not None and self.outcome.picker.packer.is_full else "budget"

    def _clipped(self, candidates: tuple[ExplainedCandidate, ...]) -> str:
        if self.outcome.fitted.clipped:
            return "cut"
        if self.outcome.mode == "digest":
            return "opening"
        return next((one.reason for one in candidates if one.status == "clipped" and one.reason), "best_parts")

    def _candidates(self, blocks: dict[int, int]) -> dict[int, tuple[ExplainedCandidate, ...]]:
        """The candidates of each turn, best first, as they stand after the text was fitted."""
        picker = self.outcome.picker
        if picker is None:
            return {}
        found: dict[int, list[ExplainedCandidate]] = {}
        for verdict in (*picker.verdicts.values(), *self._untried()):
            found.setdefault(verdict.candidate.turn, []).append(self._candidate(verdict, blocks))
        return {turn: tuple(sorted(ones, key=lambda one: one.rank or 0)) for turn, ones in found.items()}

    def _candidate(self, verdict: Verdict, blocks: dict[int, int]) -> ExplainedCandidate:
        one = verdict.candidate
        if verdict.status != "dropped" and not self._stands(one, blocks):
            verdict = replace(verdict, status="dropped", reason="budget")
        if verdict.reason == "budget" and one.turn not in blocks:
            verdict = replace(verdict, reason=self._no_room)
        elif verdict.status == "kept" and self.outcome.fitted.clipped:
            verdict = replace(verdict, status="clipped", reason="cut")
        is_ranked = self.outcome.ranking.matched
        return ExplainedCandidate(
            turn_id=self.history.ids[one.turn],
            pool=verdict.pool,
            kind=one.kind,
            part=0 if one.kind == "turn" else one.part,
            rank=verdict.rank if is_ranked else None,
            score=one.score if is_ranked else None,
            tokens=one.tokens,
            status=verdict.status,
            reason=verdict.reason,
        )

    def _stands(self, one: Candidate, blocks: dict[int, int]) -> bool:
        """Whether a candidate that was kept is still in the text: as it was, or (a long turn) in parts."""
        picker = self.outcome.picker
        kept = picker.packer.kept.get(one.turn, []) if picker else []
        return one.turn in blocks and (one in kept or one.kind == "turn")

    def _untried(self) -> Iterator[Verdict]:
        """Candidates that no room was left for."""
        picker, ranking = self.outcome.picker, self.outcome.ranking
        if not isinstance(picker, TurnPicker):
            return
        for pool, candidates in (("user", ranking.user), ("reply", ranking.reply)):
            for rank, one in enumerate(candidates, start=1):
                if (pool, one.turn, one.part) not in picker.verdicts:
                    yield Verdict(one, pool, rank, "dropped", "budget")


def _pool(role: str) -> str:
    return "user" if role == "user" else "reply"
