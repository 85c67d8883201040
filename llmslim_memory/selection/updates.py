"""Finds a later turn that changes what the best-ranked turn says, even if it hardly shares a word with the question."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from functools import lru_cache

from llmslim_memory.selection.contents import Contents
from llmslim_memory.selection.terms import terms, word_terms
from llmslim_memory.views import Ranking

MOST_READ = 40
"""Of all turns that tell of a change, so many are read: the latest, and those ranked best."""
LONGEST = 18
"""Only one-liners are brought in: a longer turn has words enough to be found by the question."""
OPENING = 600
SHORTEST_STEM = 3
LONGEST_ENDING = 3
BESIDE = 3
"""How many of the best-ranked user turns may be brought up to date."""

_NAME = re.compile(r"\b[A-Z][\w.+-]*[A-Za-z0-9]")


def newer_turns(query: str, contents: Contents, ranking: Ranking, *, most: int) -> list[int]:
    """The user turns that tell of a change to what the question or the best-ranked turns are about, latest first."""
    best = [candidate.turn for candidate in ranking.user[:BESIDE]]
    changes = [turn for turn in _changes(contents, ranking) if best and turn > min(best) and turn not in best]
    if not changes:
        return []
    contents.load([*changes, *best])
    asked, subjects = terms(query), {turn: _subject(contents.item(turn).content) for turn in best}
    strength = {}
    for turn in changes:
        said = terms(contents.item(turn).content[:OPENING])
        earlier = [subject for one, subject in subjects.items() if one < turn]
        strength[turn] = 2 * _kin(said, asked) + max((_kin(said, subject) for subject in earlier), default=0)
    found = [turn for turn in changes if strength[turn] >= 2]
    return sorted(found, key=lambda turn: (-strength[turn], -float(ranking.turn_scores[turn]), -turn))[:most]


def _changes(contents: Contents, ranking: Ranking) -> list[int]:
    tokens = contents.history.tokens
    marks = contents.history.marks(("change",))
    turns = sorted({mark.turn for mark in marks if tokens[mark.turn] <= LONGEST})
    if len(turns) <= MOST_READ:
        return turns
    best = sorted(turns, key=lambda turn: -float(ranking.turn_scores[turn]))[: MOST_READ // 2]
    return sorted({*best, *turns[-MOST_READ // 2 :]})


def _subject(content: str) -> Counter[str]:
    """What a turn is about: the names in it, which weigh double, and the terms that it repeats."""
    head = content[:2000]
    counts = Counter(term for word in head.split() for term in word_terms(word))
    subject = Counter({term: 1 for term, times in counts.items() if times > 1})
    subject.update(dict.fromkeys(terms(" ".join(_NAME.findall(head[1:]))), 2))
    return subject


def _kin(said: frozenset[str], wanted: Mapping[str, int] | frozenset[str]) -> int:
    """How much of what is wanted is said: a term itself, or one that begins it ("ssh", "sshd"; "mongo", "mongodb")."""
    weights = wanted if isinstance(wanted, Mapping) else dict.fromkeys(wanted, 1)
    begun = _beginnings(said)
    return sum(weight for term, weight in weights.items() if term in begun or not said.isdisjoint(_beginnings_of(term)))


@lru_cache(maxsize=512)
def _beginnings(terms: frozenset[str]) -> frozenset[str]:
    """What the terms begin with, but for an ending of a few letters."""
    return frozenset(beginning for term in terms for beginning in _beginnings_of(term))


def _beginnings_of(term: str) -> list[str]:
    return [term[:end] for end in range(max(SHORTEST_STEM, len(term) - LONGEST_ENDING), len(term) + 1)]
