"""A section above the turns: statements of the user under a header, capped so that they leave room for turns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import tzinfo
from math import fsum
from typing import NamedTuple

from llmslim_memory.selection.contents import Contents
from llmslim_memory.selection.duplicates import Seen
from llmslim_memory.selection.marks import HEADERS, mark
from llmslim_memory.selection.stamps import format_time
from llmslim_memory.tokens import TokenCounter
from llmslim_memory.views import Mark


class Weighed(NamedTuple):
    """A statement that a section weighed, and what became of it."""

    mark: Mark
    text: str
    score: float = 0.0
    side: str | None = None
    status: str = "dropped"
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Section:
    """A section as it stands in the text, or the reason why there is none."""

    name: str
    reason: str | None = None
    cap: int = 0
    text: str = ""
    weighed: tuple[Weighed, ...] = ()

    @property
    def kept(self) -> tuple[Weighed, ...]:
        """The statements shown, best first."""
        return tuple(one for one in self.weighed if one.status == "kept")


@dataclass(frozen=True, slots=True)
class Shelf:
    """Fills one section: how many statements it may show, and how much of the budget they may take."""

    name: str
    most: int
    share: float
    contents: Contents
    count: TokenCounter
    budget: int
    tz: tzinfo
    date_format: str

    def fill(self, weighed: Sequence[Weighed], *, none: str = "no_statement") -> Section:
        """The section with the best of these statements; the first may take more than its share of a small budget."""
        cap, kept, seen = int(self.budget * self.share), 0, Seen()
        left = cap
        judged: list[Weighed] = []
        for one in weighed:
            if one.reason is not None:
                judged.append(one)
                continue
            if kept == self.most:
                judged.append(one._replace(reason="enough"))
                continue
            cost = self.count(f"- {self._date(one)}: {one.text}\n")
            if cost > left and not (left == cap and cost <= self.budget // 3):
                judged.append(one._replace(reason="section_cap"))
            elif not seen.add(one.text):
                judged.append(one._replace(reason="duplicate"))
            else:
                left, kept = left - cost, kept + 1
                judged.append(one._replace(status="kept"))
        section = Section(self.name, None, cap, "", tuple(judged))
        if not section.kept:
            return replace(section, reason="no_room" if any(one.reason == "section_cap" for one in judged) else none)
        return replace(section, text=self._text(section.kept))

    def _date(self, one: Weighed) -> str:
        return format_time(int(self.contents.history.times[one.mark.turn]), self.tz, self.date_format)

    def _text(self, kept: Sequence[Weighed]) -> str:
        ordered = sorted(kept, key=lambda one: (one.mark.turn, one.mark.statement.start))
        lines = (f"- {self._date(one)}: {mark(one.text)}\n" for one in ordered)
        return f"{HEADERS[self.name]}\n{''.join(lines)}\n"


def weigh(contents: Contents, marks: Sequence[Mark]) -> Iterator[Weighed]:
    """The marked statements with their text, not yet scored."""
    contents.load(one.turn for one in marks)
    for one in marks:
        content = contents.item(one.turn).content
        statement = one.statement
        text = content[statement.start : statement.end]
        yield Weighed(one, text)


def fits(query: frozenset[str], statements: Sequence[frozenset[str]]) -> list[float]:
    """How well each statement's terms fit the question, a term that few statements share weighing more; in [0, 1]."""
    df: dict[str, int] = {}
    for statement in statements:
        for term in statement & query:
            df[term] = df.get(term, 0) + 1
    weights = {term: 1 / (1 + df.get(term, 0)) ** 0.5 for term in query}
    # Exact sums: the order of a set changes with the process.
    total = fsum(weights.values())
    return [fsum(weights[term] for term in query & statement) / total if total else 0.0 for statement in statements]
