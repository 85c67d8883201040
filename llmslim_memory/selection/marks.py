"""Marks in shown text: where something was left out, and lines of content that look like a label of ours.

A label can only be told from content if content cannot pass for one. A line that begins like a label (``user: ...``,
``[2026-10-17 (Sat) 14:05] assistant: ...``) or like a section's header is shown with a backslash before it;
:func:`unmark` takes it off again.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import lru_cache

from llmslim_memory.lookalikes import skeleton

ELLIPSIS = "…"
MARK = "\\"
ROLES = frozenset({"user", "assistant", "system", "tool", "developer", "function", "human", "ai", "model", "bot"})
HEADERS = {
    "requests": "What the user asked for earlier, when such a question comes up:",
    "preferences": "What the user said they prefer:",
    "conflicts": "What the user said about this, which disagrees:",
}

_LEAD = re.compile(r"[\\\s\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]*")
_LOOKED_AT = 160
_ENVELOPE = 400


def mark(text: str, roles: Collection[str] = ()) -> str:
    """``text`` with a backslash before each line that looks like a label of one of ``roles`` or like a header."""
    if not _may_hold_label(text):
        return text
    label = _label(ROLES | frozenset(roles))
    lines = text.splitlines(keepends=True)
    return "".join([MARK + line if _may_hold_label(line) and _looks_like(label, line) else line for line in lines])


def unmark(text: str, roles: Collection[str] = ()) -> str:
    """The text that :func:`mark` was given, read back."""
    label = _label(ROLES | frozenset(roles))
    lines = text.splitlines(keepends=True)
    return "".join([line[1:] if line[0] == MARK and _looks_like(label, line) else line for line in lines])


@lru_cache(maxsize=64)
def _label(roles: frozenset[str]) -> re.Pattern[str]:
    names = "|".join(re.escape(skeleton(role)) for role in sorted(roles))
    headers = "|".join(re.escape(skeleton(header)) for header in HEADERS.values())
    return re.compile(rf"(?:\[[^\]]*\]\s*)?(?:{names})\s*:|{headers}")


def _may_hold_label(text: str) -> bool:
    """Whether there is a colon, or anything that may look like one."""
    return ":" in text or not text.isascii()


def _looks_like(label: re.Pattern[str], line: str) -> bool:
    # What leads the line (backslashes too, so that a marked line looks like what it marks) is not looked at.
    start = _LEAD.match(line).end()  # type: ignore[union-attr]  # the pattern matches everywhere
    head = line[start : start + _LOOKED_AT]
    return (not head.isascii() or ":" in head) and label.match(skeleton(head).lstrip()) is not None


def is_echo(content: str) -> bool:
    """Whether ``content`` is recalled text stored back: it opens with a dated label, a header or an envelope."""
    return _ECHO.match(content.lstrip()[:_LOOKED_AT]) is not None or "<recalled-history id=" in content[:_ENVELOPE]


_ECHO = re.compile(
    r"\[\d{4}-\d\d-\d\d \([A-Z][a-z]{2}\) \d\d:\d\d\] [a-z][a-z0-9_-]*: |" + "|".join(map(re.escape, HEADERS.values()))
)
