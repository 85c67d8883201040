"""A small overlap of words, for what ranking is not asked about: which statement or part of a turn fits a question."""

from __future__ import annotations

import re
from functools import lru_cache

import Stemmer


def word_set(words: str) -> frozenset[str]:
    """The words of a list written as text."""
    return frozenset(words.split())


STOP_WORDS = word_set(
    """a about above after again all also always am an and any are as at be because been before being below between both
    but by can could d did do does doing don down during each ever few for from further had has have having he help her
    here hers him his how i if in into is it its itself just know let like ll m make me mention more most my myself need
    never no nor not now of off on once only or other our out over own please provide re s same she should show so some
    such suggest t tell than that the their theirs them then there these they thing things this those through to too
    under until up us use used using ve very want was way we were what when where which while who whom why will with
    would you your yours yourself ask asked give include included"""
)
_WORD = re.compile(r"[^\W_]+")
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_stem = Stemmer.Stemmer("english", 0).stemWord  # without its own cache, which threads may not share


@lru_cache(maxsize=4096)
def _terms_of_word(word: str) -> tuple[str, ...]:
    if _UNSPACED.search(word):
        return tuple(word[i : i + 2] for i in range(max(1, len(word) - 1)))
    return () if word in STOP_WORDS else (_stem(word),)


@lru_cache(maxsize=2048)
def terms(text: str) -> frozenset[str]:
    """The stems of the content words of ``text``; pairs of characters where a script has no spaces."""
    return _terms(text)


@lru_cache(maxsize=4096)
def word_terms(word: str) -> frozenset[str]:
    """The same for a single word, which many texts share."""
    return _terms(word)


def _terms(text: str) -> frozenset[str]:
    return frozenset(term for word in _WORD.findall(text.casefold()) for term in _terms_of_word(word))
