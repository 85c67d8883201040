"""Prints for people and for programs; text that was stored cannot steer the terminal."""

from __future__ import annotations

import json
import re
import sys
import unicodedata
from typing import Any, TextIO

from rich.console import Console
from rich.table import Table
from rich.text import Text

from llmslim_memory.types import MemoryItem

_HARMLESS = "\n\t"
_BIDI = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_LABEL = re.compile(r"(?m)^(?P<stamp>\[[^\]\n]{1,40}\] )?(?P<role>[a-z][a-z0-9_-]{0,31}:)(?= )")


def printable(text: str) -> str:
    """``text`` with every character that could move a cursor, change colours or turn text around spelt out."""
    text = text.replace("\r\n", "\n")
    return text if text.isascii() and text.isprintable() else "".join(map(_spelt_out, text))


def _spelt_out(char: str) -> str:
    if char in _HARMLESS or not (unicodedata.category(char) in ("Cc", "Cs") or char in _BIDI):
        return char
    return f"\\x{ord(char):02x}" if ord(char) < 256 else f"\\u{ord(char):04x}"


def console(stream: TextIO | None = None) -> Console:
    """A console that prints stored text as it is: no markup, no emoji names, no wrapping."""
    return Console(file=stream or sys.stdout, markup=False, emoji=False, highlight=False, soft_wrap=True)


def show(text: str | Text) -> None:
    """Print to stdout; on a terminal, spelt out where it is not harmless."""
    out = console()
    if isinstance(text, str):
        text = Text(printable(text) if out.is_terminal else text)
    out.print(text)


def table_width() -> int:
    """How wide a table may be: as the terminal, or wide enough for a file."""
    out = console()
    return out.width if out.is_terminal else 160


def show_table(table: Table) -> None:
    """Print a table, as wide as there is room."""
    out = Console(file=sys.stdout, markup=False, emoji=False, highlight=False, width=table_width())
    out.print(table)


def note(text: str) -> None:
    """Say something beside the output, on stderr."""
    console(sys.stderr).print(Text(printable(text), style="dim"))


def show_json(value: Any) -> None:
    """Print a value as JSON, readable where the terminal can show it, and escaped where it cannot or must not."""
    ascii_only = "utf" not in (getattr(sys.stdout, "encoding", None) or "").lower()
    text = json.dumps(value, ensure_ascii=ascii_only, indent=2)
    unsafe = {ord(char): f"\\u{ord(char):04x}" for char in _BIDI | {chr(code) for code in range(0x7F, 0xA0)}}
    print(text.translate(unsafe))  # noqa: T201 - JSON goes out as it is, without rich's wrapping


def turn_line(item: MemoryItem, *, width: int = 100) -> Text:
    """A turn on one line: id, time, role and how it begins."""
    opening = " ".join(item.content[: 4 * width].split())
    opening = opening if len(opening) <= width else opening[: width - 1] + "…"
    return Text.assemble(
        (printable(item.id), "dim"),
        f"  {item.created_at:%Y-%m-%d %H:%M}  ",
        (f"{item.role}: ", "bold"),
        printable(opening),
    )


def recalled_text(text: str) -> Text:
    """What a search shows, its dates and roles coloured."""
    coloured = Text(printable(text) if console().is_terminal else text)
    for label in _LABEL.finditer(coloured.plain):
        coloured.stylize("cyan", *label.span("role"))
        if label["stamp"]:
            coloured.stylize("green", *label.span("stamp"))
    return coloured


def amount(number: int, thing: str) -> str:
    """A number and what it counts: ``1 turn``, ``2,000 turns``."""
    return f"{number:,} {thing}{'' if number == 1 else 's'}"
