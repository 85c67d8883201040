"""Keeps the promise of the budget: whatever was picked, the text never counts more tokens than there are."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from llmslim_memory.selection.contents import Contents
from llmslim_memory.selection.marks import ELLIPSIS
from llmslim_memory.selection.packing import Packer
from llmslim_memory.selection.render import Labels, Shown, body, join_spans, join_text, reading_order
from llmslim_memory.selection.shelf import Section
from llmslim_memory.tokens import TokenCounter
from llmslim_memory.views import Candidate

_UNSPACED = "\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_WORD = re.compile(rf"[{_UNSPACED}]|[^\s{_UNSPACED}]+")
_CHARS_PER_TOKEN = 16
"""More than a token of ordinary text has; what lies beyond cannot fit."""


@dataclass(frozen=True, slots=True)
class Fitted:
    """The text of a context and what stands in it. ``clipped``: cut to whole words as a last resort."""

    text: str
    tokens: int
    sections: tuple[Section, ...]
    shown: tuple[Shown, ...]
    blocks: tuple[str, ...]
    clipped: bool = False


def show(contents: Contents, packer: Packer) -> list[Shown]:
    """The turns that a packer keeps, in reading order."""
    shown = []
    contents.load(packer.kept)
    for turn in reading_order(contents.history, packer.kept):
        item = contents.item(turn)
        spans = join_spans(item.content, ((part.start, part.end) for part in packer.kept[turn]))
        shown.append(Shown(turn, item, spans))
    return shown


def fit(contents: Contents, packer: Packer, sections: Sequence[Section], *, budget: int, count: TokenCounter) -> Fitted:
    """Render what is kept, giving up the least of it until the text fits; at worst cut the best passage to words."""
    fitted = _render(contents, packer, sections, count)
    while fitted.tokens > budget and len(packer.order) > 1:
        excess = fitted.tokens - budget
        while excess > 0 and len(packer.order) > 1:
            excess -= packer.drop_last().tokens
        fitted = _render(contents, packer, sections, count)
    if fitted.tokens > budget and sections:
        return fit(contents, packer, sections[:-1], budget=budget, count=count)
    if fitted.tokens <= budget:
        return fitted
    return cut(contents, packer, packer.order[0], budget=budget, count=count)


def _render(contents: Contents, packer: Packer, sections: Sequence[Section], count: TokenCounter) -> Fitted:
    shown = show(contents, packer)
    text, tokens, blocks = join_text([section.text for section in sections], packer.labels.blocks(shown), count)
    return Fitted(text, tokens, tuple(sections), tuple(shown), blocks)


def cut(contents: Contents, packer: Packer, best: Candidate, *, budget: int, count: TokenCounter) -> Fitted:
    """As many whole words of a passage as fit, under its label or, if that leaves no room, under the role alone."""
    packer.kept, packer.order = {best.turn: [best]}, [best]
    item = contents.item(best.turn)
    for label in _short_labels(packer.labels, best.turn):
        for end in _word_ends(item.content, best, budget, count, label):
            shown = Shown(best.turn, item, join_spans(item.content, [(best.start, end)]))
            text = label + body(item.content, shown.spans, {item.role})
            tokens = count(text)
            if tokens <= budget:
                return Fitted(text, tokens, (), (shown,), (text,), clipped=True)
    packer.kept, packer.order = {}, []
    return Fitted("", 0, (), (), (), clipped=True)


def _short_labels(labels: Labels, turn: int) -> list[str]:
    return [labels.label(turn, None), f"{labels.history.roles[turn]}: "]


def _word_ends(content: str, best: Candidate, budget: int, count: TokenCounter, label: str) -> list[int]:
    """Where the passage may end, longest first, from where it is likely to fit."""
    reach = content[best.start : min(best.end, best.start + budget * _CHARS_PER_TOKEN + 1)]
    ends = [match.end() for match in _WORD.finditer(reach)]
    if best.start + len(reach) < best.end:
        ends = ends[:-1]  # the last word may go on
    low, high = 0, len(ends)
    while low < high:
        middle = (low + high + 1) // 2
        fits = count(f"{label}{reach[: ends[middle - 1]]} {ELLIPSIS}") <= budget
        low, high = (middle, high) if fits else (low, middle - 1)
    return [best.start + end for end in reversed(ends[max(0, low - 20) : low + 1])]
