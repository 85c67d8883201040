"""Times in a question mean what a reader takes them for."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given

from llmslim_memory.ranking.analysis import Analyser
from llmslim_memory.ranking.asked import asked_time
from llmslim_memory.ranking.dates import named_dates
from llmslim_memory.testing.strategies import texts

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)  # a Monday


def days(question: str) -> list[tuple[str, str]]:
    return [
        tuple(datetime.fromtimestamp(at / 1e6, UTC).date().isoformat() for at in span)  # type: ignore[misc]
        for span in asked_time(question, NOW, UTC).spans
    ]


@pytest.mark.parametrize(
    ("question", "first", "after"),
    [
        ("What did I do yesterday?", "2026-11-29", "2026-11-30"),
        ("what did we eat the day before yesterday", "2026-11-28", "2026-11-29"),
        ("What did I say today?", "2026-11-30", "2026-12-01"),
        ("What did I do last week?", "2026-11-23", "2026-11-30"),
        ("what happened last month", "2026-10-01", "2026-11-01"),
        ("where was I last year", "2025-01-01", "2026-01-01"),
        ("two weeks ago I bought something", "2026-11-13", "2026-11-20"),
        ("3 days ago", "2026-11-27", "2026-11-28"),
        ("a month ago", "2026-10-01", "2026-11-01"),
        ("in the past 10 days", "2026-11-20", "2026-12-01"),
        ("where did I go last weekend", "2026-11-28", "2026-11-30"),
        ("what did I plan on Friday", "2026-11-27", "2026-11-28"),
        ("what did I plan on Monday", "2026-11-23", "2026-11-24"),
        ("my trip in June", "2026-06-01", "2026-07-01"),
        ("my trip last March", "2026-03-01", "2026-04-01"),
        ("my trip last November", "2025-11-01", "2025-12-01"),
        ("my trip in March 2024", "2024-03-01", "2024-04-01"),
        ("in December 2023", "2023-12-01", "2024-01-01"),
        ("on May 3, 2023", "2023-05-03", "2023-05-04"),
        ("on the 3rd of May 2023", "2023-05-03", "2023-05-04"),
        ("on December 24", "2025-12-24", "2025-12-25"),
        ("since 2022", "2022-01-01", "2023-01-01"),
        ("2023-05-03", "2023-05-03", "2023-05-04"),
        ("2023年5月3日我做了什么", "2023-05-03", "2023-05-04"),
        ("2023年5月", "2023-05-01", "2023-06-01"),
    ],
)
def test_a_time_in_a_question_is_understood(question: str, first: str, after: str) -> None:
    assert days(question) == [(first, after)]


@pytest.mark.parametrize(
    "question", ["May I ask you something?", "the march of time", "Feb 30, 2023", "9999 years ago", "12345 days", ""]
)
def test_what_is_no_time_is_left_alone(question: str) -> None:
    assert days(question) == []


def test_days_are_those_of_the_time_zone() -> None:
    tokyo = asked_time("yesterday", datetime(2026, 3, 1, 20, tzinfo=UTC), ZoneInfo("Asia/Tokyo"))
    begin = datetime(2026, 3, 1, tzinfo=ZoneInfo("Asia/Tokyo"))
    assert tokyo.spans == ((int(begin.timestamp() * 1e6), int((begin + timedelta(1)).timestamp() * 1e6)),)


def test_relative_words_are_taken_out_of_the_question_and_dates_stay() -> None:
    assert asked_time("cake last week", NOW, UTC).rest.split() == ["cake"]
    assert asked_time("cake on May 3, 2023", NOW, UTC).rest == "cake on May 3, 2023"


@pytest.mark.parametrize(
    "text", ["on May 3, 2023", "3 May 2023", "3rd of May, 2023", "2023-05-03", "2023年5月3日", "met May 3 2023 there"]
)
def test_a_date_in_a_text_is_one_term_however_it_is_written(text: str) -> None:
    found = list(named_dates(text, Analyser().chunks(text)))
    assert [date(d.year or 0, d.month, d.day) for d in found] == [date(2023, 5, 3)]
    assert found[0].terms() == ["@05-03", "@2023-05-03"]


@pytest.mark.parametrize(
    "text",
    [
        "am 3. Mai 2023",
        "le 3 mai 2023",
        "el 3 de mayo de 2023",
        "il 3 maggio 2023",
        "em 3 de maio de 2023",
        "op 3 mei 2023",
        "am 03.05.2023",
        "我是二〇二三年五月三日去的",
        "2023년 5월 3일에 갔다",
        "2023年5月3號",
    ],
)
def test_a_date_in_another_language_is_the_same_term(text: str) -> None:
    assert [one.terms() for one in named_dates(text, Analyser().chunks(text))] == [["@05-03", "@2023-05-03"]]


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("妈妈的生日是5月3日", ["@05-03"]),
        ("五月三号见面", ["@05-03"]),
        ("他十二月二十五日到，十二月三十一日走", ["@12-25", "@12-31"]),
        ("8월 11일에 만나요", ["@08-11"]),
        ("le 1er mars", ["@03-01"]),
        ("13月3日", []),
        ("每个月三天", []),
        ("I waited until 3. May I go now?", []),
    ],
)
def test_every_day_that_a_text_names_is_found_and_nothing_else(text: str, terms: list[str]) -> None:
    found = named_dates(text, Analyser().chunks(text))
    assert [one for named in found for one in named.terms()] == terms


@given(texts())
def test_any_question_can_be_read(text: str) -> None:
    asked = asked_time(text, NOW, ZoneInfo("America/Los_Angeles"))
    assert len(asked.rest) == len(text)
    assert all(first < after for first, after in asked.spans)
