"""A question as terms to look for, what else would do for each, and the times it asks about."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from itertools import pairwise

from llmslim_memory.ranking.analysis import Analyser, fold, term
from llmslim_memory.ranking.asked import asked_time
from llmslim_memory.ranking.dates import named_dates
from llmslim_memory.ranking.stopwords import OTHERS, QUESTION, QUESTION_ABROAD, UNSPACED
from llmslim_memory.ranking.synonyms import FORM, standing_for
from llmslim_memory.ranking.unspaced import read_unspaced

_SAY = "say|suggest|recommend|mention|tell|give|explain|advise|propose|list|write|show|describe"
_SAID = (
    "said|suggested|recommended|mentioned|told|gave|given|explained|advised|proposed|listed|wrote|written|showed|shown"
)
_SAYING = "suggestions?|recommendations?|advice|answer|reply|response|explanation|list"
# "What did you recommend?" asks for what a reply said, not the user.
_ASKS_REPLY = re.compile(
    rf"\b(?:(?:did|have|had) you (?:{_SAY}|{_SAID})|you (?:{_SAID})|your (?:{_SAYING}))\b"
    r"|你(?:之前|上次|刚才)?(?:说|建议|推荐|提到|告诉)",
    re.IGNORECASE,
)
_ASKING = QUESTION | QUESTION_ABROAD
_UNSPACED_STOPS = frozenset(map(term, UNSPACED))
MAX_CHARS = 10_000
"""So much of a question is read."""
LIGHT = 0.3
"""What a light term counts for."""
SHORTEST_PART = 3
"""Words of fewer letters make no compound with their neighbours."""
MAX_TERMS = 64
"""At most this many terms of a question are looked up, the first ones."""


@dataclass(frozen=True, slots=True)
class QueryTerm:
    """One term of a question, and what may stand for it with the weight of each; the term itself comes first.

    A ``light`` term adds to a score, but a turn that holds no other does not bear on the question; unless the term
    ``is_word`` of its own and nothing holds any other.
    """

    options: tuple[tuple[int, float], ...]
    light: bool = False
    is_word: bool = False


@dataclass(frozen=True, slots=True)
class Query:
    """An analysed question: its terms, and the stretches of time it asks about in UTC microseconds."""

    terms: tuple[QueryTerm, ...]
    spans: tuple[tuple[int, int], ...] = ()
    numbers: frozenset[int] = field(default=frozenset())
    """The terms themselves, without what may stand for them."""
    asks_reply: bool = False
    """Whether it asks for what a reply said."""
    is_unspaced: bool = False
    """Whether it is written in Chinese or another script without spaces."""


def parse_query(text: str, analyser: Analyser, *, now: datetime, tz: tzinfo) -> Query:
    """Analyse a question: stop words go, and so do question words unless nothing else is left."""
    text = text[:MAX_CHARS]
    asked = asked_time(text, now, tz)
    words = analyser.chunks(asked.rest)
    chunks = [chunk for _, chunk in words]
    language = analyser.language(chunks)
    stops = OTHERS.get(language, frozenset())
    told = [chunk for chunk in chunks if chunk.lower() not in stops]
    topical = [chunk for chunk in told if fold(chunk) not in _ASKING]
    found = _terms(topical, language, analyser)
    if not found and not asked.spans:
        found = _terms(told, language, analyser)
    for named in named_dates(asked.rest, words):
        found |= {number: QueryTerm(((number, 1.0),)) for number in map(term, named.terms())}
    kept = tuple(found.values())[:MAX_TERMS]
    numbers = frozenset(query_term.options[0][0] for query_term in kept)
    is_unspaced = any(query_term.light for query_term in kept)
    return Query(kept, asked.spans, numbers, bool(_ASKS_REPLY.search(text)), is_unspaced)


def _terms(chunks: list[str], language: str, analyser: Analyser) -> dict[int, QueryTerm]:
    found: dict[int, QueryTerm] = {}
    compounds = _compounds(chunks)
    for chunk in chunks:
        unspaced = read_unspaced(chunk)
        for number in analyser.terms(chunk, language):
            if number in unspaced.passed_over or number in found:
                continue
            if number in unspaced.standing:
                found[number] = QueryTerm(((number, 1.0), *unspaced.standing[number].items()))
            elif number in unspaced.light:
                found[number] = QueryTerm(((number, LIGHT),), light=True, is_word=number in unspaced.words)
            else:
                standing = _standing_for(chunk, compounds.get(chunk, ()), analyser)
                others = [option for option in standing if option[0] != number]
                found[number] = QueryTerm(((number, 1.0), *others))
        if len(found) >= MAX_TERMS:
            break
    for stop in _UNSPACED_STOPS & found.keys():
        if len(found) > 1:
            del found[stop]
    return found


def _compounds(chunks: list[str]) -> dict[str, list[str]]:
    """For each word the compounds that it makes with the one before or behind it: "smart watch" may be a smartwatch."""
    found: dict[str, list[str]] = {}
    for first, second in pairwise(chunks):
        if first.isalpha() and second.isalpha() and min(len(first), len(second)) >= SHORTEST_PART:
            for part in (first, second):
                found.setdefault(part, []).append(first + second)
    return found


def _standing_for(chunk: str, compounds: Sequence[str], analyser: Analyser) -> list[tuple[int, float]]:
    """Terms that may stand for a word of a question, and what each counts for."""
    weights: dict[int, float] = {}
    for other, weight in (standing_for(fold(chunk)) | dict.fromkeys(compounds, FORM)).items():
        for number in analyser.terms(other)[-1:]:  # of a word with a hyphen, the whole
            weights[number] = max(weights.get(number, 0.0), weight)
    return list(weights.items())
