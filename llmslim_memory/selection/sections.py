"""Builds the three sections for a question: standing requests, preferences, contradictions."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from llmslim_memory.selection import requests
from llmslim_memory.selection.contents import Contents
from llmslim_memory.selection.options import SelectionOptions
from llmslim_memory.selection.route import asks_whether
from llmslim_memory.selection.shelf import Section, Shelf, Weighed, fits, weigh
from llmslim_memory.selection.statements import sentences
from llmslim_memory.selection.terms import terms
from llmslim_memory.tokens import TokenCounter
from llmslim_memory.views import Mark, Ranking, Statement

NAMES = ("requests", "preferences", "conflicts")
DATE_FORMAT = "%Y-%m-%d"
MOST_WEIGHED = 160
"""Of more statements than this, those in the best-ranked turns and the latest are weighed."""
PREFERENCE_BONUS = 0.1
BESIDE_THE_POINT = 0.25
"""A preference that fits the question less than this part of what the best one does is left out."""
BEARING = 0.3
"""How well a statement must fit the question, in [0, 1], to take a side on it."""
LOOKED_AT = 16


@dataclass(frozen=True, slots=True)
class SectionBuilder:
    """What the sections of one search are built from."""

    query: str
    route: str
    ranking: Ranking
    contents: Contents
    options: SelectionOptions
    budget: int
    count: TokenCounter

    def build(self) -> list[Section]:
        """The three sections, shown or not, in the order in which they stand in the text."""
        asked = self._requests()
        shown = {(one.mark.turn, one.mark.statement.start) for one in asked.kept}
        return [asked, self._preferences(shown), self._conflicts()]

    def _shelf(self, name: str, most: int, share: float) -> Shelf:
        date_format = self.options.date_format or DATE_FORMAT
        return Shelf(name, most, share, self.contents, self.count, self.budget, self.options.tz, date_format)

    def _requests(self) -> Section:
        if not self.options.standing_requests:
            return Section("requests", "off")
        if self.route == "lookup" or not (self.ranking.matched or self.route == "advice"):
            return Section("requests", "route")
        marks = self._some(self.contents.history.marks(requests.KINDS))
        weighed = list(weigh(self.contents, marks))
        asked = [one for one in weighed if one.mark.statement.kind == "request"]
        judged = requests.live(asked, [one for one in weighed if one.mark.statement.kind == "withdrawal"])
        ranked = requests.ranked(self.query, judged, self._turn_scores(judged))
        if self.route != "advice":
            wanted = requests.asked(self.query)
            ranked = [one if requests.fits_at_all(wanted, one) else _unfit(one) for one in ranked]
        return self._shelf("requests", 3, 0.12).fill(ranked)

    def _preferences(self, shown: Collection[tuple[int, int]]) -> Section:
        if not self.options.preferences:
            return Section("preferences", "off")
        if self.route != "advice":
            return Section("preferences", "route")
        marks = self._some(self.contents.history.marks(("preference", "inclination")))
        marks = [one for one in marks if (one.turn, one.statement.start) not in shown]
        weighed = _once(weigh(self.contents, marks))
        found = [terms(one.text) for one in weighed]
        named = requests.called(self.query)
        fit = [
            a + requests.CALLED * bool(named & b) for a, b in zip(fits(terms(self.query), found), found, strict=True)
        ]
        scored = [
            one._replace(score=score + turn + PREFERENCE_BONUS * (one.mark.statement.kind == "preference"))
            for one, score, turn in zip(weighed, fit, self._turn_scores(weighed), strict=True)
        ]
        least = BESIDE_THE_POINT * max((one.score for one in scored), default=0.0)
        scored = [one if one.score and one.score >= least else _unfit(one) for one in scored]
        ranked = sorted(scored, key=lambda one: (-one.score, -one.mark.turn))
        return self._shelf("preferences", 6, 0.2).fill(ranked)

    def _conflicts(self) -> Section:
        if not self.options.conflicts:
            return Section("conflicts", "off")
        if not (self.ranking.matched and asks_whether(self.query)):
            return Section("conflicts", "route")
        sides = sorted([*self._denials(), *self._others()], key=lambda one: -one.score)
        bearing = [one for one in sides if one.score >= BEARING * sides[0].score]
        if {one.side for one in bearing} != {"denies", "affirms"}:
            return Section("conflicts", "no_conflict", 0, "", tuple(one._replace(reason="one_side") for one in bearing))
        return self._shelf("conflicts", 4, 0.25).fill(_alternate(bearing))

    def _denials(self) -> list[Weighed]:
        marks = self._some(self.contents.history.marks(("denial",)))
        return self._sided(weigh(self.contents, marks), "denies")

    def _others(self) -> list[Weighed]:
        """The sentence that bears most on the question in each of the user's best-ranked turns, denials left out."""
        denied = {(one.turn, one.statement.start) for one in self.contents.history.marks(("denial",))}
        turns = [candidate.turn for candidate in self.ranking.user[:LOOKED_AT]]
        self.contents.load(turns)
        marks = [mark for turn in turns for mark in self._sentences(turn) if (turn, mark.statement.start) not in denied]
        best: dict[int, Weighed] = {}
        for one in self._sided(weigh(self.contents, marks), "affirms"):
            if one.mark.turn not in best or one.score > best[one.mark.turn].score:
                best[one.mark.turn] = one
        return list(best.values())

    def _sentences(self, turn: int) -> list[Mark]:
        content = self.contents.item(turn).content[:4000]
        return [Mark(turn, Statement("sentence", start, end)) for start, end in sentences(content)]

    def _sided(self, weighed: Iterable[Weighed], side: str) -> list[Weighed]:
        weighed = list(weighed)
        fit = fits(terms(self.query), [terms(one.text) for one in weighed])
        return [one._replace(score=score, side=side) for one, score in zip(weighed, fit, strict=True) if score > 0]

    def _turn_scores(self, weighed: Sequence[Weighed]) -> list[float]:
        return [float(self.ranking.turn_scores[one.mark.turn]) for one in weighed]

    def _some(self, marks: Sequence[Mark]) -> Sequence[Mark]:
        """The statements worth reading: all of them, or of many those in the best-ranked turns and the latest."""
        if len(marks) <= MOST_WEIGHED:
            return marks
        scores = self.ranking.turn_scores
        best = sorted(range(len(marks)), key=lambda i: (-scores[marks[i].turn], -i))[: MOST_WEIGHED // 2]
        return [marks[i] for i in sorted({*best, *range(len(marks) - MOST_WEIGHED // 2, len(marks))})]


def _once(weighed: Iterable[Weighed]) -> list[Weighed]:
    """A sentence that is marked twice, once."""
    once: dict[tuple[int, int], Weighed] = {}
    for one in weighed:
        once.setdefault((one.mark.turn, one.mark.statement.start), one)
    return list(once.values())


def _alternate(weighed: Sequence[Weighed]) -> list[Weighed]:
    """The statements of both sides in turn, the better side first, so that neither crowds out the other."""
    first = [one for one in weighed if one.side == weighed[0].side]
    second = [one for one in weighed if one.side != weighed[0].side]
    paired = [one for pair in zip(first, second, strict=False) for one in pair]
    return [*paired, *first[len(second) :], *second[len(first) :]]


def _unfit(one: Weighed) -> Weighed:
    return one if one.reason else one._replace(reason="no_fit")
