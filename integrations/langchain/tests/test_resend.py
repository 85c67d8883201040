"""What is new in a transcript that is given again."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_llmslim.resend import find_overlap, new_tail

from llmslim_memory import MemoryItem

ROLES = {"u": "user", "a": "assistant", "t": "tool"}


def turns(text: str) -> list[dict[str, str]]:
    return [{"role": ROLES[word[0]], "content": word} for word in text.split()]


def items(text: str) -> list[MemoryItem]:
    now = datetime.now(UTC)
    return [MemoryItem(str(n), t["role"], t["content"], now, n) for n, t in enumerate(turns(text))]


@pytest.mark.parametrize(
    ("said", "stored", "new"),
    [
        ("u1 a1 u2", "u1 a1", "u2"),
        ("u1 a1", "u1 a1", "u1 a1"),
        ("u1 a1 u2", "", "u1 a1 u2"),
        ("u1 a2 u2", "u1 a1", "u1 a2 u2"),
        ("u1", "u1 a1", "u1"),
    ],
)
def test_a_whole_transcript_with_more_at_its_end_has_a_new_tail(said: str, stored: str, new: str) -> None:
    assert new_tail(turns(said), items(stored)) == turns(new)


@pytest.mark.parametrize(
    ("said", "stored", "new"),
    [
        ("u1 a1 u2", "u1 a1", "u2"),
        ("u1 a1 u2", "u1 a1 u2", ""),  # the last call failed and is made again
        ("u1 a1 u2", "u1 a1 u2 a2", ""),  # the last answer is to be made anew
        ("u2 a2 u3", "u1 a1 u2 a2", "u3"),  # the client sends the last messages only
        ("u1 a1 u9", "u1 a1 u2 a2", "u9"),  # the client went back and says something else
        ("u1", "u1", ""),  # asked, not answered, asked again
        ("u1", "u1 a1", "u1"),  # asked, answered, and said again
        ("u1 u2", "u1 a1", "u1 u2"),
        ("u1 a1", "u2 a2", "u1 a1"),
        ("u1 a1 u1 a1 u1", "u1 a1 u1 a1", "u1"),
        ("u1 a1 t1 a2 u2", "u1 a1 t1 a2", "u2"),
        ("u1", "", "u1"),
    ],
)
def test_a_transcript_overlaps_what_is_stored(said: str, stored: str, new: str) -> None:
    overlap = find_overlap(turns(said), items(stored))
    assert turns(said)[overlap.length :] == turns(new)


def test_a_long_monotonous_transcript_is_matched_in_linear_time() -> None:
    said = "u1 a1 " * 20_000
    assert find_overlap(turns(said), items(said)).length == 40_000


talks = st.lists(st.sampled_from(["u1", "u2", "a1", "a2", "t1"]), max_size=8).map(" ".join)


@given(talks, talks)
def test_what_overlaps_is_stored_word_for_word(said: str, stored: str) -> None:
    start, length = find_overlap(turns(said), items(stored))
    found = [(item.role, item.content) for item in items(stored)[start : start + length]]
    assert found == [(turn["role"], turn["content"]) for turn in turns(said)[:length]]
