"""What a search or a ranking may show: whose turns, which, and how many."""

from __future__ import annotations

from typing import Any

import pytest
from memories import contents, memory, say

from llmslim_memory import Memory

__all__ = ["memory"]


def test_a_search_leaves_out_turns_and_sessions_on_request(memory: Memory) -> None:
    (item,) = memory.add(say("the heron is grey"), user_id="u1", run_id="r1")
    memory.add(say("the heron is tall"), user_id="u1", run_id="r2")
    assert "grey" not in memory.search("heron", user_id="u1", exclude=[item.id]).text
    assert "tall" not in memory.search("heron", user_id="u1", exclude_runs=["r2"]).text
    assert [hit.item.run_id for hit in memory.rank("heron", user_id="u1", exclude_runs=["r2"])] == ["r1"]


@pytest.mark.parametrize("query", ["heron", "Summarize what we said about the heron", "Should I paint the heron?"])
@pytest.mark.parametrize("budget", [120, 5000])
def test_a_search_shows_no_more_turns_than_asked_for(memory: Memory, query: str, budget: int) -> None:
    words = ["grey", "tall", "patient", "rare", "quiet"]
    for word in words:
        memory.add(say(f"The heron is {word}."), user_id="u1", run_id=word)
        memory.add({"role": "assistant", "content": f"A {word} heron, noted."}, user_id="u1", run_id=word)
    for k in (1, 2, 3):
        found = memory.search(query, user_id="u1", budget=budget, k=k)
        assert len(found.turns) == k
        assert found.text.count("heron") >= k
    assert len(memory.search("heron", user_id="u1", k=10).turns) == 10


def test_an_explanation_says_that_as_many_turns_are_shown_as_were_asked_for(memory: Memory) -> None:
    memory.add([say(f"The heron stood on stone {n}.") for n in range(30)], user_id="u1", run_id="r1")
    for query in ("heron on a stone", "Summarize what we said about the heron"):
        explanation = memory.search(query, user_id="u1", budget=300, k=2, explain=True).explanation
        assert explanation is not None
        assert {turn.reason for turn in explanation.turns if turn.status == "dropped"} <= {"k", "duplicate"}


def test_the_turns_shown_where_few_are_asked_for_are_those_that_answer_best(memory: Memory) -> None:
    memory.add([say(f"The heron stood on stone {n}.") for n in range(9)], user_id="u1", run_id="r1")
    memory.add(say("The heron nests in the willow."), user_id="u1", run_id="r2")
    assert contents(turn.item for turn in memory.search("heron nests willow", user_id="u1", k=1).turns) == [
        "The heron nests in the willow."
    ]
    assert not memory.search("bicycle", user_id="u1", k=1).found


@pytest.mark.parametrize("k", [0, -1, True, "3", 1.5])
def test_a_number_of_turns_that_is_none_is_refused(memory: Memory, k: Any) -> None:
    with pytest.raises((ValueError, TypeError), match="k"):
        memory.search("heron", user_id="u1", k=k)


def test_a_search_shows_only_turns_that_are_named_on_request(memory: Memory) -> None:
    (item,) = memory.add(say("the heron is grey"), user_id="u1")
    memory.add(say("the heron is tall"), user_id="u1")
    assert [shown.item.id for shown in memory.search("heron", user_id="u1", only=[item.id, "x"]).turns] == [item.id]
    assert [hit.item.id for hit in memory.rank("heron", user_id="u1", only=[item.id])] == [item.id]
    assert memory.rank("heron", user_id="u1", only=[item.id], exclude=[item.id]) == []
    assert not memory.search("heron", user_id="u1", only=[]).found
    with pytest.raises(TypeError, match="only must be a collection"):
        memory.rank("heron", user_id="u1", only=item.id)


def test_rank_gives_the_best_passages_with_scores_between_0_and_1(memory: Memory) -> None:
    for run, text in enumerate(["I like green tea", "The train leaves at nine", "Tea or coffee?"]):
        memory.add(say(text), user_id="u1", run_id=f"r{run}")
    hits = memory.rank("green tea", user_id="u1", k=2)
    assert [hit.text for hit in hits] == ["I like green tea", "Tea or coffee?"]
    assert 1 >= hits[0].score > hits[1].score > 0


def test_a_search_never_sees_another_user(memory: Memory) -> None:
    memory.add(say("my secret is heron"), user_id="u1", run_id="s")
    memory.add(say("hello"), user_id="u2", run_id="s")
    assert "heron" not in memory.search("secret", user_id="u2", run_id="s").text


def test_a_version_stands_until_a_turn_that_counts_is_added_edited_or_deleted(memory: Memory) -> None:
    (item,) = memory.add(say("the heron is grey"), user_id="u1", run_id="r1")
    first = memory.version(user_id="u1", exclude_runs=["r2"])
    memory.add(say("the heron is tall"), user_id="u1", run_id="r2")
    memory.add(say("the heron is rare"), user_id="u2", run_id="r1")
    assert memory.version(user_id="u1", exclude_runs=["r2"]) == first
    assert memory.version(user_id="u1") != first
    memory.update(item.id, "the heron is white")
    edited = memory.version(user_id="u1", exclude_runs=["r2"])
    memory.delete(item.id)
    assert len({first, edited, memory.version(user_id="u1", exclude_runs=["r2"])}) == 3
