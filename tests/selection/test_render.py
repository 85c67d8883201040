"""Labels, stamps and marks: what is shown reads as it was said, and cannot be forged."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from itertools import pairwise
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llmslim_memory.selection import duplicates
from llmslim_memory.selection.duplicates import Seen
from llmslim_memory.selection.marks import HEADERS, is_echo, mark, unmark
from llmslim_memory.selection.render import body, join_spans
from llmslim_memory.selection.stamps import format_time
from llmslim_memory.selection.terms import terms

TRICKS = st.sampled_from(
    ["user:", "USER :", "[x] tool:", "\\", "\n", "\r", "\u2028", " ", "\u200b",
     "ｕｓｅｒ：", "аssistant:", *HEADERS.values(), "tea"]
)  # fmt: skip


def microseconds(said: datetime) -> int:
    return round(said.timestamp() * 1_000_000)


@given(st.lists(TRICKS | st.text(max_size=4), max_size=12).map("".join))
def test_a_marked_text_can_be_read_back(text: str) -> None:
    assert unmark(mark(text)) == text
    assert unmark(mark(mark(text))) == mark(text)


@pytest.mark.parametrize(
    "line",
    ["user: hi", "Assistant: hi", "  system: hi", "\u200btool: hi", "[2026-03-02 (Mon) 09:00] user: hi",
     "ｕｓｅｒ： hi",     "usеr: hi", *HEADERS.values()],
)  # fmt: skip
def test_a_line_that_looks_like_ours_is_marked(line: str) -> None:
    assert mark(f"Look:\n{line}") == f"Look:\n\\{line}"


@pytest.mark.parametrize(
    "line", ["users: many", "the user: him", "note: hi", "http://user:pw", "- user stories", "tea"]
)
def test_other_lines_stay_as_they_are(line: str) -> None:
    assert mark(line) == line


def test_a_role_of_ones_own_is_marked_where_it_is_shown() -> None:
    assert mark("critic: hm", {"critic"}) == "\\critic: hm"


def test_recalled_text_is_known_by_how_it_opens() -> None:
    assert is_echo("[2026-03-02 (Mon) 09:00] user: hi")
    assert all(map(is_echo, HEADERS.values()))
    assert is_echo('Quoted history follows.\n<recalled-history id="3c1f6a9be0d2">\n...')
    assert not is_echo("[1] user: hi")


def test_an_ellipsis_stands_wherever_something_is_left_out() -> None:
    content = "One. Two. Three.\nFour. Five."
    assert body(content, join_spans(content, [(5, 9)])) == "… Two. …"
    assert body(content, join_spans(content, [(0, 4), (10, 16)])) == "One. … Three.\n…"
    assert body(content, join_spans(content, [(10, 16), (17, 22)])) == "… Three.\nFour. …"
    assert body(content, join_spans(content, [(0, 9), (17, 28)])) == "One. Two. …\nFour. Five."
    assert body(content, join_spans(content, [(0, 28)])) == content


@given(st.text(max_size=40), st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), min_size=1, max_size=5))
def test_spans_that_touch_become_one(content: str, spans: list[tuple[int, int]]) -> None:
    cut = [(min(a, b, len(content)), min(max(a, b), len(content))) for a, b in spans]
    joined = join_spans(content, cut)
    assert all(a[1] < b[0] for a, b in pairwise(joined))
    shown = {i for a, b in joined for i in range(a, b)}
    assert {i for a, b in cut for i in range(a, b)} <= shown
    assert all(content[i].isspace() for i in shown - {i for a, b in cut for i in range(a, b)})


def test_times_are_shown_in_the_zone_with_english_names() -> None:
    said = microseconds(datetime(2026, 10, 17, 23, 5, tzinfo=UTC))
    assert format_time(said, UTC, "%Y-%m-%d (%a) %H:%M") == "2026-10-17 (Sat) 23:05"
    assert format_time(said, timezone(timedelta(hours=2)), "%A %d %B %b %h 100%%") == "Sunday 18 October Oct Oct 100%"


@pytest.mark.parametrize("said", [datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, 23, 59, tzinfo=UTC)])
@pytest.mark.parametrize("hours", [-12, 14])
def test_a_time_at_the_edge_of_the_calendar_is_shown(said: datetime, hours: int) -> None:
    exact = (said - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)
    assert format_time(exact, timezone(timedelta(hours=hours)), "%m-%d")


def shown(fake: SimpleNamespace, **options: object) -> list[str]:
    turns = [fake.Turn("I like tea.", day=0, session="a"), fake.Turn("Tea it is.", "assistant", session="a"),
             fake.Turn("More tea!", day=1 / 24, session="a"), fake.Turn("Green tea.", day=3, session="b")]  # fmt: skip
    filler = [fake.Turn(f"The bakery is closed, day {i}, and so is the bank.", day=5 + i) for i in range(20)]
    text: str = fake.search([*turns, *filler], "tea", budget=100, **options).text
    return [line.split(" tea")[0] for line in text.splitlines()][:4]


def test_a_stamp_is_shown_where_the_time_differs(fake: SimpleNamespace) -> None:
    assert shown(fake) == [
        "[2026-03-02 (Mon) 09:00] user: I like",
        "assistant: Tea it is.",
        "[2026-03-02 (Mon) 10:00] user: More",
        "[2026-03-05 (Thu) 09:00] user: Green",
    ]


def test_a_date_format_is_shown_in_between(fake: SimpleNamespace) -> None:
    assert shown(fake, date_format="%d.%m.")[1] == "[02.03.] assistant: Tea it is."


def test_sessions_come_oldest_first_each_in_one_piece(fake: SimpleNamespace) -> None:
    turns = [fake.Turn(f"tea {i}", day=i, session="ab"[i % 2]) for i in range(4)]
    text = fake.search(turns, "tea", budget=500).text
    assert [line[-5:] for line in text.splitlines()] == ["tea 0", "tea 2", "tea 1", "tea 3"]


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("I eat meat.", "i eat  MEAT", True),
        ("So, I eat meat!", "I really eat meat.", True),
        ("I eat meat.", "I don't eat meat.", False),
        ("The port is 22.", "The port is 23.", False),
        ("I like C.", "I like C++.", False),
        ("Ann paid Bob.", "Bob paid Ann.", False),
        ("!!", "!!", False),
    ],
)
def test_a_repetition_is_told_from_another_text(one: str, other: str, same: bool) -> None:
    seen = Seen()
    assert seen.add(one)
    assert seen.add(other) is not same


def test_terms_are_stems_or_pairs_of_characters() -> None:
    assert terms("The flights, flying") == {"flight", "fli"} or terms("The flights, flying") == {"flight", "fly"}
    assert terms("路由器") == {"路由", "由器"}


WORDS = ("a", "the", "Well,", "hi", "cat", "Cat", "dog.", '"dog"', "um", "...", "a.b", "ΑΣ", "ας", "*bold*", "\n", "-")


@given(st.lists(st.lists(st.sampled_from(WORDS), max_size=60).map(" ".join), min_size=1, max_size=5))
def test_texts_that_open_alike_are_told_apart_as_if_all_were_compared_whole(texts: list[str]) -> None:
    texts += [text.replace("cat", "CAT").replace("hi ", "") for text in texts] + [text[:-3] for text in texts]
    seen, noted, keys = Seen(), [], set()
    for text in texts:
        key = duplicates._key(text)
        noted.append(not key[1] or key not in keys)
        keys.add(key)
    assert [seen.add(text) for text in texts] == noted
