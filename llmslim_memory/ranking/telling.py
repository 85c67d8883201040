"""Words by which people tell of what happened lately ("last week", "yesterday"): a turn with one reports a fact."""

from __future__ import annotations

from llmslim_memory.ranking.analysis import chunk_terms, term

_WORDS = """
last yesterday recently lately
gestern vorgestern neulich kürzlich letzte letzten
dernier dernière récemment avant-hier
ayer anteayer pasado pasada recientemente
ieri scorso scorsa recentemente
ontem passado passada
вчера недавно прошлой
昨天 最近 上周 昨日 先週 어제 지난
"""

TELLING: tuple[int, ...] = tuple(sorted({term(chunk_terms(word)[-1]) for word in _WORDS.split()}))
"""The terms of these words."""
