"""Turns are cut where a reader would cut them, and nothing gets lost."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llmslim_memory.ranking.passages import BLOCK_CHARS, REPLY_CHARS, USER_CHARS, split_passages

SENTENCES = "The first plan was to walk. Then it rained all day! Could we go by bus? " * 12
PIECES = st.lists(
    st.sampled_from(
        [
            "A sentence. ",
            "Line\n",
            "```python\nx = 1\n```\n",
            "| a | b |\n",
            "\n\n",
            "长句子。",
            "é́",
            "👩‍👩‍👧",
            "x" * 700,
        ]
    ),
    max_size=40,
)


def parts(role: str, content: str) -> list[str]:
    return [content[start:end] for start, end in split_passages(role, content)]


@pytest.mark.parametrize(("role", "limit"), [("user", USER_CHARS), ("assistant", REPLY_CHARS), ("tool", REPLY_CHARS)])
def test_a_short_turn_is_one_passage(role: str, limit: int) -> None:
    assert parts(role, "x" * limit) == ["x" * limit]


def test_a_long_reply_is_cut_between_sentences() -> None:
    found = parts("assistant", SENTENCES)
    assert len(found) > 2
    assert all(part.endswith((".", "!", "?")) for part in found)


def test_a_code_block_stays_whole_and_alone() -> None:
    code = "```python\nfor i in range(3):\n    print(i)\n```"
    assert code in parts("assistant", f"{SENTENCES}\n\n{code}\n\n{SENTENCES}")


def test_a_table_stays_whole_and_alone() -> None:
    table = "| item | price |\n|---|---|\n| tea | 3 |\n| cake | 4 |"
    assert table in parts("assistant", f"{SENTENCES}\n\n{table}\n\n{SENTENCES}")


def test_a_long_code_block_is_cut_between_lines() -> None:
    lines = [f"value_{n} = compute({n})" for n in range(300)]
    found = parts("assistant", "```\n" + "\n".join(lines) + "\n```")
    assert len(found) > 2
    assert all(len(part) <= BLOCK_CHARS for part in found)
    assert {line for part in found for line in part.split("\n")} >= set(lines)


def test_a_fence_that_never_closes_loses_nothing() -> None:
    text = SENTENCES + "\n```\ncode without an end\n" + SENTENCES
    assert "".join("".join(parts("assistant", text)).split()) == "".join(text.split())


def test_a_heading_opens_the_passage_below_it() -> None:
    text = SENTENCES[:300] + "\n## Costs\nThe bus costs three euros.\n" + SENTENCES
    holding = next(part for part in parts("assistant", text) if "## Costs" in part)
    assert "The bus costs" in holding


def test_text_without_spaces_is_cut_at_its_full_stops() -> None:
    found = parts("assistant", "今天我们去了动物园看熊猫。" * 60)
    assert len(found) > 2
    assert all(part.endswith("。") for part in found)


@pytest.mark.parametrize("text", ["", " ", "\n\t\n" * 500])
def test_a_blank_turn_has_one_empty_passage(text: str) -> None:
    assert split_passages("assistant", text) == [(0, 0)]


@given(st.sampled_from(["user", "assistant"]), PIECES.map("".join))
def test_passages_hold_all_text_but_white_space_in_order(role: str, text: str) -> None:
    spans = split_passages(role, text)
    assert "".join("".join(text[start:end] for start, end in spans).split()) == "".join(text.split())
    assert all(before[1] <= after[0] for before, after in pairwise(spans))


@pytest.mark.parametrize("text", ["e" + "\u0301" * 90_000, "\U0001f469\u200d" * 40_000, "x" * 90_000])
def test_no_text_makes_a_passage_without_end(text: str) -> None:
    assert max(len(part) for part in parts("assistant", text)) < 2_000


@pytest.mark.parametrize(
    "sentence",
    ["我们在学校门口等了半个小时。", "駅前の喫茶店で友達を待っていました。", "우리는 역 앞에서 친구를 기다렸습니다. "],
)
def test_windows_of_east_asian_text_hold_about_as_much_as_others(sentence: str) -> None:
    content = sentence * 40
    spans = split_passages("assistant", content)
    assert len(spans) > len(content) // 150
    assert max(end - start for start, end in spans) <= 150
    assert "".join(content[start:end] for start, end in spans).replace(" ", "") == content.replace(" ", "")


def test_a_few_characters_of_another_script_do_not_shorten_windows() -> None:
    content = "The word 学校 means school, and 駅 is a station. " * 20
    assert max(end - start for start, end in split_passages("assistant", content)) > 250
