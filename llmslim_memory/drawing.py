"""Draws why a search returned what it did, for people: as HTML, and as a table for a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from rich.table import Table

    from llmslim_memory.explain import ExplainedSection, ExplainedTurn, SearchExplanation

REASONS = {
    "best_parts": "only the parts that matter are shown",
    "blank": "has no text",
    "budget": "no room left",
    "cut": "cut to whole words: the budget is very small",
    "duplicate": "says only what another one shown says",
    "echo": "is recalled text that was stored back",
    "enough": "better ones fill the section",
    "in_section": "shown in a section above",
    "k": "as many turns are shown as were asked for",
    "no_conflict": "the statements found do not disagree",
    "no_fit": "has nothing to do with the question",
    "no_match": "nothing in it bears on the question",
    "no_room": "nothing found is short enough for the budget",
    "no_statement": "nothing of the kind was said",
    "off": "switched off",
    "one_side": "nothing says the opposite",
    "opening": "an overview shows how a turn opens",
    "outside": "outside the time window, or excluded",
    "route": "the question does not call for it",
    "section_cap": "the section may not take more",
    "superseded": "a later request says otherwise",
    "turn_cap": "longer than one turn may be; its best parts are shown",
    "users_only": "the question is what the user brought up",
    "whole_history": "the whole history fits",
    "withdrawn": "the user took it back later",
}
"""What the reasons of an explanation mean."""

_COLOURS = {"kept": "#2f9e6e", "clipped": "#e0a030", "dropped": "#c9ced6", "section": "#5b7fd0", "free": "#eef0f3"}
_SLOTS = 240
_WIDTH = 720
_ROWS = 60
_WIDE, _REASON = 140, 22
_CELL, _ID = 16, 8
_ORDER = ("dropped", "clipped", "kept")
_STYLES = {"kept": "green", "clipped": "yellow", "dropped": "dim"}


def words(reason: str | None) -> str:
    """A reason as a reader understands it."""
    return "" if reason is None else REASONS.get(reason, reason)


def draw_html(explanation: SearchExplanation) -> str:
    """The explanation as one self-contained piece of HTML."""
    kept = [turn for turn in explanation.turns if turn.status != "dropped"]
    sections = [section for section in explanation.sections if section.shown]
    return (
        '<div style="font:13px/1.5 system-ui,sans-serif;color:#22262d;background:#fff;max-width:940px;padding:10px">'
        f"{_headline(explanation, len(kept))}{_bar(explanation, sections, kept)}{_timeline(explanation.turns)}"
        f"{_legend()}{_sections(explanation.sections)}{_rows(kept)}</div>"
    )


def _headline(explanation: SearchExplanation, kept: int) -> str:
    route = f", {explanation.route} question" if explanation.route else ""
    return (
        f"<p style='margin:0 0 6px'><b>{explanation.tokens:,} of {explanation.budget:,} tokens</b> "
        f"({explanation.mode.replace('_', ' ')}{route}): {kept:,} of {len(explanation.turns):,} turns shown, "
        f"{explanation.history_tokens:,} tokens searched</p>"
    )


def _bar(explanation: SearchExplanation, sections: Sequence[ExplainedSection], kept: Sequence[ExplainedTurn]) -> str:
    parts = [("section", section.share, f"{section.name}: {section.tokens} tokens") for section in sections]
    parts += [(turn.status, turn.share, f"{turn.role} {turn.id}: {turn.tokens} tokens") for turn in kept]
    parts.append(("free", max(0.0, 1 - explanation.tokens / explanation.budget), "not used"))
    drawn, at = [], 0.0
    for status, share, title in parts:
        drawn.append(_rectangle(at * _WIDTH, 0, share * _WIDTH, 26, status, title))
        at += share
    return _svg(26, drawn, "The budget, and what takes it")


def _timeline(turns: Sequence[ExplainedTurn]) -> str:
    """The turns by time, side by side; of very many, each column stands for some."""
    if not turns:
        return ""
    per_slot = -(-len(turns) // _SLOTS)
    slots = [turns[at : at + per_slot] for at in range(0, len(turns), per_slot)]
    width = _WIDTH / len(slots)
    drawn = []
    for place, slot in enumerate(slots):
        status = max((turn.status for turn in slot), key=_ORDER.index)
        height = 12 + 26 * min(1.0, 4 * sum(turn.share for turn in slot))
        title = f"{slot[0].created_at:%Y-%m-%d %H:%M}: " + "; ".join(map(_about, slot[:4]))
        drawn.append(_rectangle(place * width, 38 - height, max(1.0, width - 1), height, status, title))
    ends = (
        f"<div style='display:flex;justify-content:space-between;color:#6b7280'>"
        f"<span>{turns[0].created_at:%Y-%m-%d}</span><span>{turns[-1].created_at:%Y-%m-%d}</span></div>"
    )
    return _svg(38, drawn, "Turns by time") + ends


def _about(turn: ExplainedTurn) -> str:
    why = f" ({words(turn.reason)})" if turn.reason else ""
    return f"{turn.role} {turn.id} {turn.status}{why}"


def _rectangle(x: float, y: float, width: float, height: float, status: str, title: str) -> str:
    return (
        f"<rect x='{x:.1f}' y='{y:.1f}' width='{width:.1f}' height='{height:.1f}' fill='{_COLOURS[status]}' "
        f"stroke='#fff' stroke-width='.5'><title>{escape(title)}</title></rect>"
    )


def _svg(height: int, drawn: Iterable[str], title: str) -> str:
    return (
        f"<svg viewBox='0 0 {_WIDTH} {height}' width='100%' role='img' aria-label='{title}' "
        f"style='display:block;margin:4px 0'>{''.join(drawn)}</svg>"
    )


def _legend() -> str:
    names = {"section": "section", "kept": "kept", "clipped": "clipped", "dropped": "dropped", "free": "not used"}
    return "<p style='margin:4px 0 8px'>" + " ".join(
        f"<span style='white-space:nowrap;margin-right:12px'><span style='display:inline-block;width:10px;height:10px;"
        f"background:{_COLOURS[status]};margin-right:4px'></span>{name}</span>"
        for status, name in names.items()
    ) + "</p>"  # fmt: skip


def _sections(sections: Sequence[ExplainedSection]) -> str:
    lines = (
        f"<li>{escape(section.name)}: "
        + (f"{section.tokens} tokens" if section.shown else f"not shown ({escape(words(section.reason))})")
        + "</li>"
        for section in sections
    )
    return f"<ul style='margin:0 0 8px;padding-left:18px'>{''.join(lines)}</ul>"


def _rows(turns: Sequence[ExplainedTurn]) -> str:
    head = "".join(f"<th style='text-align:left;padding-right:14px'>{name}</th>" for name in _COLUMNS)
    rows = "".join(f"<tr>{''.join(map(_cell, _row(turn)))}</tr>" for turn in turns[:_ROWS])
    more = f"<p>... and {len(turns) - _ROWS:,} more</p>" if len(turns) > _ROWS else ""
    return f"<table style='border-collapse:collapse'><tr>{head}</tr>{rows}</table>{more}"


def _cell(text: str) -> str:
    is_id = len(text) > _CELL and " " not in text
    short = f"{text[:_ID]}\u2026" if is_id else text
    return f"<td title='{escape(text)}' style='padding-right:14px;white-space:nowrap'>{escape(short)}</td>"


_COLUMNS = ("rank", "score", "tokens", "share", "status", "said", "role", "turn", "reason")


def _row(turn: ExplainedTurn) -> tuple[str, ...]:
    best = next((one for one in turn.candidates if one.rank is not None), None)
    return (
        "" if best is None else str(best.rank),
        "" if best is None or best.score is None else f"{best.score:.2f}",
        str(turn.tokens),
        f"{turn.share:.1%}",
        turn.status,
        f"{turn.created_at:%Y-%m-%d %H:%M}",
        turn.role,
        turn.id,
        words(turn.reason),
    )


def draw_table(explanation: SearchExplanation, *, dropped: int = 12, width: int = 160) -> Table:
    """The explanation as a table for a terminal: what is shown, by time, and the best of what is not.

    Args:
        explanation: What a search with ``explain=True`` gave.
        dropped: How many of the turns not shown to list.
        width: How many characters a line takes. Below 140, ids and times are shortened and shares left out, so that
            the reasons can be read, and sections stand above the table.
    """
    from rich.text import Text

    table = _wide(explanation) if width >= _WIDE else _narrow(explanation)
    places = [_COLUMNS.index(str(column.header)) for column in table.columns]
    for turn in [*_shown(explanation.turns), *_missed(explanation.turns)[:dropped]]:
        cells = _row(turn) if width >= _WIDE else _shortened(_row(turn))
        table.add_row(*(Text(cells[place]) for place in places), style=_STYLES[turn.status])
    return table


def _wide(explanation: SearchExplanation) -> Table:
    """A table that shows everything, its first rows the sections."""
    from rich.table import Table
    from rich.text import Text

    table = Table(title=_title(explanation), title_justify="left")
    for name in _COLUMNS:
        table.add_column(name, justify=_justify(name))
    for section in explanation.sections:
        said = ("shown", "") if section.shown else ("-", words(section.reason))
        cells = ("", "", str(section.tokens), f"{section.share:.1%}", said[0], "", "", f"[{section.name}]", said[1])
        table.add_row(*map(Text, cells), style="blue" if section.shown else "dim")
    return table


def _narrow(explanation: SearchExplanation) -> Table:
    """A table for 80 characters a line, the sections above it."""
    from rich.table import Table

    said: dict[str, list[str]] = {}
    for section in explanation.sections:
        what = f"shown, {section.tokens:,} tokens" if section.shown else words(section.reason)
        said.setdefault(what, []).append(section.name)
    title = "\n".join([_title(explanation), *(f"{', '.join(names)}: {what}" for what, names in said.items())])
    table = Table(title=title, title_justify="left", box=None, padding=(0, 1, 0, 0), pad_edge=False)
    for name in _COLUMNS:
        if name != "share":
            is_reason = name == "reason"
            table.add_column(
                name, justify=_justify(name), no_wrap=not is_reason, min_width=_REASON if is_reason else None
            )
    return table


def _justify(column: str) -> Literal["left", "right"]:
    return "right" if column in ("rank", "score", "tokens", "share") else "left"


def _shortened(cells: tuple[str, ...]) -> tuple[str, ...]:
    said, turn = _COLUMNS.index("said"), _COLUMNS.index("turn")
    short = list(cells)
    short[said] = cells[said][:10]
    short[turn] = f"{cells[turn][:_ID]}\u2026" if len(cells[turn]) > _CELL else cells[turn]
    return tuple(short)


def _title(explanation: SearchExplanation) -> str:
    route = f", {explanation.route}" if explanation.route else ""
    return f"{explanation.tokens:,} of {explanation.budget:,} tokens, {explanation.mode.replace('_', ' ')}{route}"


def _shown(turns: Sequence[ExplainedTurn]) -> list[ExplainedTurn]:
    return [turn for turn in turns if turn.status != "dropped"]


def _missed(turns: Sequence[ExplainedTurn]) -> list[ExplainedTurn]:
    """The turns not shown, those that ranked best first."""
    missed = [turn for turn in turns if turn.status == "dropped"]
    return sorted(missed, key=lambda turn: -max((one.score or 0.0 for one in turn.candidates), default=-1.0))
