"""Replaces credentials in text by ``[REDACTED:<kind>]``: best-effort, in linear time, and the same on every run."""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Iterator

from llmslim_memory.importers.credentials import LONG_RUN, RULES, Rule

_KEY_BEGIN = re.compile(r"-----BEGIN (?:[A-Z0-9]{1,16} ){0,4}PRIVATE KEY(?: BLOCK)?-----")
_KEY_END = re.compile(r"-----END (?:[A-Z0-9]{1,16} ){0,4}PRIVATE KEY(?: BLOCK)?-----")
# The body of a key whose end was cut off: lines too long for words, with breaks as they are or escaped.
# The outer repeat is not possessive: Python before 3.11.4 would leave the blanks of a last, failed round in the match.
_KEY_BODY = re.compile(r"(?:\s*+(?:\\[nr]\s*+)*[A-Za-z0-9+/=]{16,}+)*(?:\s[A-Za-z0-9+/]{1,15}={1,2})?")
_KEY_MOST = 16 << 10
_KEY_LEAST = 16

_ASCII_LOWER = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}

_UNBROKEN = [(anchor, rule) for rule in RULES if rule.unbroken for anchor in rule.anchors]
_NAMED = [rule for rule in RULES if not rule.unbroken]

Span = tuple[int, int, str]


def redact(text: str) -> tuple[str, Counter[str]]:
    """Return ``text`` with credentials replaced, and how many of each kind there were."""
    found = _spans(text)
    if not found:
        return text, Counter()
    pieces: list[str] = []
    position = 0
    for start, end, kind in found:
        pieces += [text[position:start], f"[REDACTED:{kind}]"]
        position = end
    return "".join([*pieces, text[position:]]), Counter(kind for _, _, kind in found)


def _spans(text: str) -> list[Span]:
    """Stretches to replace, in order, none overlapping: of two that do, the longer one is taken."""
    lowered = text.lower()
    if len(lowered) != len(text):
        lowered = text.translate(_ASCII_LOWER)
    found = list(_private_keys(text)) if "private key" in lowered else []
    for anchor, rule in _candidates(lowered):
        found.extend(_matches(rule, anchor, text, lowered))
    if len(found) < 2:
        return found
    taken: list[Span] = []
    for span in sorted(found, key=lambda span: (span[0], span[0] - span[1])):
        if taken and span[0] < taken[-1][1]:
            if span[1] - span[0] > taken[-1][1] - taken[-1][0]:
                taken[-1] = (taken[-1][0], max(span[1], taken[-1][1]), span[2])
            else:
                taken[-1] = (taken[-1][0], max(span[1], taken[-1][1]), taken[-1][2])
        else:
            taken.append(span)
    return taken


def _candidates(lowered: str) -> Iterator[tuple[str, Rule]]:
    if runs := "\n".join(LONG_RUN.findall(lowered)):
        yield from [pair for pair in _UNBROKEN if pair[0] in runs]
    for rule in _NAMED:
        if not rule.hints or any(hint in lowered for hint in rule.hints):
            yield from [(anchor, rule) for anchor in rule.anchors if anchor in lowered]


def _matches(rule: Rule, anchor: str, text: str, lowered: str) -> Iterator[Span]:
    for match in rule.pattern.finditer(text) if rule.inside else _at(rule, anchor, text, lowered):
        if rule.check(match.group(1)):
            yield match.start(1), match.end(1), rule.kind


def _at(rule: Rule, anchor: str, text: str, lowered: str) -> Iterator[re.Match[str]]:
    """Matches that begin with the anchor: finding it is far faster than trying the pattern everywhere."""
    position = lowered.find(anchor)
    while position >= 0:
        match = rule.pattern.match(text, position)
        if match is not None:
            yield match
        position = lowered.find(anchor, position + 1 if match is None else match.end())


def _private_keys(text: str) -> Iterator[Span]:
    """Blocks from BEGIN to END; each stretch of the text is looked at once, however many BEGINs there are."""
    begins = [match.span() for match in _KEY_BEGIN.finditer(text)]
    ends = deque(match.span() for match in _KEY_END.finditer(text))
    for index, (start, body) in enumerate(begins):
        next_begin = begins[index + 1][0] if index + 1 < len(begins) else len(text)
        while ends and ends[0][0] < body:
            ends.popleft()
        if ends and ends[0][0] < min(next_begin, body + _KEY_MOST):
            inside, stop = ends[0]
        else:
            inside = stop = _KEY_BODY.match(text, body, min(next_begin, body + _KEY_MOST)).end()  # type: ignore[union-attr]
        if len(text[body:inside].strip()) >= _KEY_LEAST:
            yield start, stop, "private_key"
