"""The text of a context: sections on top, then one labelled block a turn, oldest session first."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from llmslim_memory.selection.marks import ELLIPSIS, mark
from llmslim_memory.selection.options import SelectionOptions
from llmslim_memory.selection.stamps import format_time
from llmslim_memory.types import MemoryItem
from llmslim_memory.views import History

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Shown:
    """A turn as it is shown: the stretches of its content, in order; one from end to end is the whole turn."""

    turn: int
    item: MemoryItem
    spans: tuple[Span, ...]

    @property
    def is_partial(self) -> bool:
        """Whether something of the turn is left out."""
        return self.spans != ((0, len(self.item.content)),)


def join_spans(content: str, spans: Iterable[Span]) -> tuple[Span, ...]:
    """The stretches in order, those that touch or overlap (but for white space) as one."""
    joined: list[Span] = []
    for start, end in sorted(spans):
        if joined and (start <= joined[-1][1] or not content[joined[-1][1] : start].strip()):
            joined[-1] = (joined[-1][0], max(joined[-1][1], end))
        else:
            joined.append((start, end))
    return tuple(_widen(content, span) for span in joined)


def _widen(content: str, span: Span) -> Span:
    """The stretch with the white space at either end of the content, so that nothing seems left out there."""
    start = 0 if not content[: span[0]].strip() else span[0]
    end = len(content) if not content[span[1] :].strip() else span[1]
    return start, end


def body(content: str, spans: Sequence[Span], roles: Collection[str] = ()) -> str:
    """What is shown of ``content``: an ellipsis stands wherever something was left out."""
    parts = [mark(content[start:end], roles) for start, end in spans]
    text = "".join(part + gap for part, gap in zip(parts, _gaps(content, spans), strict=True))
    return text if spans[0][0] == 0 else f"{ELLIPSIS} {text.lstrip()}"


def _gaps(content: str, spans: Sequence[Span]) -> list[str]:
    """What follows each stretch: an ellipsis, on a line of its own where the content breaks the line."""
    gaps = [_gap(content, end, start) for (_, end), (start, _) in pairwise(spans)]
    last = spans[-1][1]
    return [*gaps, "" if last >= len(content) else _gap(content, last, None)]


def _gap(content: str, end: int, start: int | None) -> str:
    before = "\n" if content[end : end + 1] == "\n" else " "
    if start is None:
        return before + ELLIPSIS
    return before + ELLIPSIS + ("\n" if content[start - 1] == "\n" else " ")


@dataclass(frozen=True, slots=True)
class Labels:
    """Writes the labels of turns.

    A turn shows its full stamp, unless ``date_format`` governs (a history that was selected from) and its session
    shows the same stamp right above it: then the shorter date, or none.
    """

    history: History
    options: SelectionOptions
    whole: bool
    _stamps: dict[int, str] = field(default_factory=dict)

    def stamp(self, turn: int) -> str:
        """The full stamp of a turn."""
        if turn not in self._stamps:
            said = int(self.history.times[turn])
            self._stamps[turn] = format_time(said, self.options.tz, self.options.stamp_format)
        return self._stamps[turn]

    def label(self, turn: int, above: str | None) -> str:
        """What stands before the text of a turn, when ``above`` is the stamp that its session showed last."""
        role, stamp = self.history.roles[turn], self.stamp(turn)
        if self.whole or stamp != above:
            return f"[{stamp}] {role}: "
        if self.options.date_format is None:
            return f"{role}: "
        return f"[{format_time(int(self.history.times[turn]), self.options.tz, self.options.date_format)}] {role}: "

    def blocks(self, shown: Sequence[Shown]) -> list[str]:
        """The turns' blocks in the order given, each ending its line."""
        roles = {self.history.roles[one.turn] for one in shown}
        above: dict[int, str] = {}
        blocks = []
        for one in shown:
            session = int(self.history.sessions[one.turn])
            label = self.label(one.turn, above.get(session))
            above[session] = self.stamp(one.turn)
            blocks.append(f"{label}{body(one.item.content, one.spans, roles)}\n")
        return blocks


def reading_order(history: History, turns: Iterable[int]) -> list[int]:
    """The turns by session, oldest session first, in the order they were said."""
    return sorted(turns, key=lambda turn: (int(history.sessions[turn]), turn))


def whole_turns(history: History, left_out: Collection[int]) -> list[Shown]:
    """Every eligible turn in full, in reading order; those without text, and those left out, aside."""
    turns = [turn for turn in map(int, np.flatnonzero(history.eligible)) if turn not in left_out]
    ordered = reading_order(history, turns)
    items = history.items(ordered)
    return [
        Shown(turn, item, ((0, len(item.content)),))
        for turn, item in zip(ordered, items, strict=True)
        if item.content.strip()
    ]
