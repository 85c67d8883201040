"""Everyday words that stand for each other in chats; data, with one group a line."""

from __future__ import annotations

_GROUPS = """
kid kids child children
mom mother mum
dad father
job work occupation career
car vehicle
movie film
doctor physician
"""


def _table() -> dict[str, tuple[str, ...]]:
    table: dict[str, list[str]] = {}
    for line in _GROUPS.split("\n"):
        words = line.split()
        for word in words:
            table.setdefault(word, []).extend(other for other in words if other != word)
    return {word: tuple(dict.fromkeys(others)) for word, others in table.items()}


SYNONYMS: dict[str, tuple[str, ...]] = _table()
