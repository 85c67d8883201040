"""The text of a context: sections on top, then one labelled block a turn, oldest session first."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, pairwise

import numpy as np

from llmslim_memory.selection.marks import ELLIPSIS, mark
from llmslim_memory.selection.options import SelectionOptions
from llmslim_memory.selection.stamps import format_time
from llmslim_memory.tokens import Piece, TokenCounter, count_pieces
from llmslim_memory.types import MemoryItem
from llmslim_memory.views import Counted, History

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
    return "".join(piece.text for piece in _pieces(content, spans, roles, ()))


def _pieces(
    content: str, spans: Sequence[Span], roles: Collection[str], counted: Collection[Counted]
) -> Iterator[Piece]:
    """What is shown of ``content``, the ``counted`` parts of it as pieces of their own."""
    if spans[0][0]:
        yield Piece(f"{ELLIPSIS} ")
        spans = [(_skip_blank(content, spans[0]), spans[0][1]), *spans[1:]]
    for span, gap in zip(spans, _gaps(content, spans), strict=True):
        text = content[slice(*span)]
        shown = mark(text, roles)
        if shown == text:
            yield from _cut_up(content, span, counted)
        else:
            yield Piece(shown)
        yield Piece(gap)


def _skip_blank(content: str, span: Span) -> int:
    text = content[slice(*span)]
    return span[0] + len(text) - len(text.lstrip())


def _cut_up(content: str, span: Span, counted: Collection[Counted]) -> Iterator[Piece]:
    """A stretch of ``content`` as the counted parts in it, in order and without overlap, and what lies between."""
    at, last = span
    for start, end, tokens in counted:
        if at <= start and end <= last:
            yield Piece(content[at:start])
            yield Piece(content[start:end], tokens)
            at = end
    yield Piece(content[at:last])


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

    def blocks(self, shown: Sequence[Shown]) -> list[list[Piece]]:
        """The turns' blocks in the order given, in pieces, the last of which ends the line."""
        roles = {self.history.roles[one.turn] for one in shown}
        above: dict[int, str] = {}
        blocks = []
        for one in shown:
            session = int(self.history.sessions[one.turn])
            label = self.label(one.turn, above.get(session))
            above[session] = self.stamp(one.turn)
            blocks.append([Piece(label), *_pieces(one.item.content, one.spans, roles, self._counted(one)), Piece("\n")])
        return blocks

    def _counted(self, one: Shown) -> Sequence[Counted]:
        """The parts of a turn whose tokens are known: all of it, or its passages."""
        if not one.is_partial:
            return (Counted(0, len(one.item.content), int(self.history.tokens[one.turn])),)
        passages = self.history.passages(one.turn)
        return passages if len(passages) > 1 else ()


def join_text(
    sections: Sequence[str], blocks: Sequence[Sequence[Piece]], count: TokenCounter
) -> tuple[str, int, tuple[str, ...]]:
    """Sections, each with a blank line after it, then blocks; what ends the last line falls away.

    Returns:
        The text, how many tokens it takes, and the blocks as text.
    """
    pieces = [*map(Piece, sections), *chain.from_iterable(blocks)]
    pieces = pieces[:-1] if blocks else [Piece("".join(sections)[:-2])]
    text = "".join([piece.text for piece in pieces])
    return text, count_pieces(count, pieces), tuple("".join([piece.text for piece in block]) for block in blocks)


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
