"""What of a question in a script without spaces counts: the words between those that only ask, and their kinds."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from llmslim_memory.ranking.analysis import ALPHABETIC, UNSPACED_RUN, grams, normal, term
from llmslim_memory.ranking.stopwords import ASKING
from llmslim_memory.ranking.synonyms import chinese_words, standing_for_chinese

SHORT = 2
"""A character of a word up to this long may be meant alone."""
# Particles behind a Japanese word, and how its sentences end.
_ENDINGS = (
    "(?<=[\u30a1-\u30ff\u4e00-\u9fff])[はがをにでとのもへや]|(?:でしょ|まし|でし|だっ|ませ|ありま|しま)?(?:うか|たか|すか|んか|た|す|ん)$"
    "|(?:して|った|って|から|まで|より|した|する|いる|ある)"
)
_BETWEEN = re.compile("|".join(sorted(ASKING, key=lambda word: (-len(word), word))) + f"|{_ENDINGS}")


@dataclass(slots=True)
class Unspaced:
    """What the terms of a chunk are in a question.

    ``light`` ones say little beside the others, ``words`` are single characters that may be meant alone,
    ``passed_over`` ones mean nothing, and what may stand for a term is in ``standing``.
    """

    light: set[int] = field(default_factory=set)
    words: set[int] = field(default_factory=set)
    passed_over: set[int] = field(default_factory=set)
    standing: dict[int, dict[int, float]] = field(default_factory=dict)


def read_unspaced(chunk: str) -> Unspaced:
    """Read the runs of a chunk that are written without spaces."""
    found = Unspaced()
    for run in UNSPACED_RUN.findall(normal(chunk)):
        if ALPHABETIC.match(run):
            found.light |= _terms(grams(run, (min(2, len(run) - 1),)))
        else:
            _read_characters(run, found)
    return found


def _read_characters(run: str, found: Unspaced) -> None:
    """Read a run of Chinese or Japanese."""
    pieces = {piece for piece in _BETWEEN.split(run) if piece}
    if len(run) > 1:
        found.light |= _terms(run)
    found.words |= _terms(char for piece in pieces if len(piece) <= SHORT for char in piece)
    known = [word for word in chinese_words(run) if len(word) > 1 or word in pieces]
    inside = {pair for piece in (*pieces, *known) for pair in grams(piece, (2,))}
    found.passed_over |= _terms(pair for pair in grams(run, (2,)) if pair not in inside)
    for word in known:
        first, *rest = grams(word, (min(2, len(word)),))
        standing = found.standing.setdefault(term(first), {})
        standing.update(dict.fromkeys(_terms(rest), 1.0))
        found.passed_over |= _terms(rest)
        for other, weight in standing_for_chinese(word).items():
            standing.setdefault(term(other if other.startswith("@") else other[-2:]), weight)


def _terms(grams: Iterator[str] | list[str] | str) -> set[int]:
    return set(map(term, grams))
