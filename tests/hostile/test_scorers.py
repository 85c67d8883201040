"""Relevance scorers with finite scores of any size."""

from __future__ import annotations

import math

from llmslim_memory import Memory


def test_scores_at_both_ends_of_the_number_line_rank_like_any_others() -> None:
    memory = Memory()
    memory.add([{"role": "user", "content": f"Figs from tree number {n}"} for n in range(40)], user_id="ann")

    def scorer(_query: str, texts: list[str]) -> list[float]:
        return [1.7e308 if "number 7" in text else -1.7e308 for text in texts]

    hits = memory.rank("figs", user_id="ann", relevance=scorer, k=40)
    assert hits[0].text == "Figs from tree number 7"
    assert all(math.isfinite(hit.score) and 0 <= hit.score <= 1 for hit in hits)
    assert "number 7" in memory.search("figs", user_id="ann", budget=40, relevance=scorer).text
