"""Finds, when a turn is written, the stretches that a section may show later: requests, preferences, denials ..."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from llmslim_memory.selection.marks import is_echo
from llmslim_memory.selection.patterns import ASKS, CANCELLED, NOT_FIRST_HAND, NOT_MEANT, PATTERNS, Pattern
from llmslim_memory.views import Statement

VERSION = 4
"""Grows whenever the same turn would give other statements, so that turns are analysed again."""
MOST_CHARS = 20_000
"""How much of a turn is read for statements; what people say about themselves stands early."""
LONGEST = 600
MOST_STATEMENTS = 24

_CODE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_SENTENCE = re.compile(r"[^\n.!?。！？]+(?:[.!?](?!\s|$)[^\n.!?。！？]*)*(?:[.!?。！？]+[\"'”’)]*)?")
_CLAUSE = re.compile(r"[,;:]\s+|\s+[-\u2013\u2014]+\s+")
_OPENS_QUOTE = tuple("\"'“‘«»>|`„")
_PATTERNS = [(pattern, pattern.hints) for pattern in PATTERNS]
_FIRST_PERSON = frozenset({"preference", "inclination", "denial"})


def find_statements(role: str, content: str) -> tuple[Statement, ...]:
    """The statements of a turn, in order of where they start.

    Only what users say counts. Another role's turn that is recalled text stored back is one ``"echo"``.
    """
    if role != "user":
        return (Statement("echo", 0, len(content)),) if is_echo(content) else ()
    text = content[:MOST_CHARS].replace("\u2019", "'")
    return tuple(dict.fromkeys(_find(text)))[:MOST_STATEMENTS]


def sentences(text: str) -> Iterator[tuple[int, int]]:
    """Where the sentences of ``text`` start and end, code blocks left out."""
    prose = _CODE.sub(lambda block: " " * len(block[0]), text)
    for match in _SENTENCE.finditer(prose):
        start, end = match.span()
        start += len(prose[start:end]) - len(prose[start:end].lstrip())
        end -= len(prose[start:end]) - len(prose[start:end].rstrip())
        if start < end:
            yield start, end


def _find(text: str) -> Iterator[Statement]:
    patterns = _hinted(_PATTERNS, text)
    for start, end in sentences(text):
        sentence = text[start : min(end, start + LONGEST)]
        if sentence.startswith(_OPENS_QUOTE):
            continue
        kinds = list(_kinds(sentence, patterns))
        for kind in kinds:
            yield Statement(kind, start, min(end, start + LONGEST))
        if "withdrawal" in kinds and "request" not in kinds:
            yield from _replacement(sentence, start, patterns)


def _replacement(sentence: str, start: int, patterns: Sequence[_Hinted]) -> Iterator[Statement]:
    """The request in a later clause of a sentence that ends an earlier one: "Stop using A, from now on use B"."""
    requests = [hinted for hinted in patterns if hinted[0].kind == "request"]
    for clause in _CLAUSE.finditer(sentence):
        if "request" in _kinds(sentence[clause.end() :], requests):
            yield Statement("request", start + clause.end(), start + len(sentence))
            return


_Hinted = tuple[Pattern, Sequence[str]]
"""A pattern, and those of its hints that stand in a text."""


def _hinted(patterns: Iterable[_Hinted], text: str) -> list[_Hinted]:
    """The patterns that may be found in a text, and by which hints."""
    small = text.lower()
    return [(pattern, held) for pattern, hints in patterns if (held := [hint for hint in hints if hint in small])]


def _kinds(sentence: str, patterns: Iterable[_Hinted]) -> Iterator[str]:
    found: set[str] = set()
    for pattern, _ in _hinted(patterns, sentence):
        if pattern.kind not in found and _holds(pattern, sentence):
            found.add(pattern.kind)
            yield pattern.kind


def _holds(pattern: Pattern, sentence: str) -> bool:
    """Whether the pattern is found and the words are the user's own: not asked, quoted, reported or over."""
    for match in pattern.expression.finditer(sentence):
        before = sentence[max(0, match.start() - 40) : match.start()]
        if sentence.count('"', 0, match.start()) % 2:
            continue
        if pattern.kind in _FIRST_PERSON and (NOT_FIRST_HAND.search(before) or _asks(sentence, match.start())):
            continue
        if pattern.kind == "withdrawal" and NOT_MEANT.search(before):
            continue
        if pattern.kind in ("change", "withdrawal") or not CANCELLED.search(before + match[0] + " "):
            return True
    return False


def _asks(sentence: str, at: int) -> bool:
    """Whether the clause that holds ``at`` is the question itself, not the reason given before one."""
    clause = sentence[: at + 1].rpartition(",")[2]
    return sentence.rstrip("\"'").endswith("?") and ASKS.match(clause) is not None and "," not in sentence[at:]
