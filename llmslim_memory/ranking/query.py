"""A question as groups of terms: what to look for, and what else would do for each."""

from __future__ import annotations

from dataclasses import dataclass

from llmslim_memory.ranking.analysis import Analyser, fold
from llmslim_memory.ranking.stopwords import OTHERS, QUESTION
from llmslim_memory.ranking.synonyms import SYNONYMS

MAX_TERMS = 96
"""At most this many terms of a question are looked up, the first ones."""
SYNONYM_WEIGHT = 0.5


@dataclass(frozen=True, slots=True)
class QueryTerm:
    """One term of a question, what may stand for it, each with a weight, and how often it is asked for.

    ``at`` is the place of its word in the question; ``minor`` marks words that say how to answer, not about what.
    """

    options: tuple[tuple[int, float], ...]
    at: int
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Query:
    """An analysed question."""

    text: str
    terms: tuple[QueryTerm, ...]
    language: str


def parse_query(text: str, analyser: Analyser) -> Query:
    """Analyse a question: stop words go, question words go unless nothing else is left."""
    chunks = [chunk for _, chunk in analyser.chunks(text)]
    language = analyser.language(chunks)
    kept: dict[int, QueryTerm] = {}
    asides: dict[int, QueryTerm] = {}
    for at, chunk in enumerate(chunks):
        target = asides if fold(chunk) in QUESTION else kept
        stops = OTHERS.get(language, frozenset())
        if chunk.lower() in stops:
            continue
        for number in analyser.terms(chunk, language):
            if number not in target:
                target[number] = QueryTerm(((number, 1.0), *_synonyms(chunk, analyser)), at)
        if len(kept) >= MAX_TERMS:
            break
    return Query(text, tuple((kept or asides).values()), language)


def _synonyms(chunk: str, analyser: Analyser) -> list[tuple[int, float]]:
    words = SYNONYMS.get(fold(chunk), ())
    return [(number, SYNONYM_WEIGHT) for word in words for number in analyser.terms(word)[:1]]
