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
        ("since 2022", "2022-01-01", "2026-12-01"),
        ("after May 3, 2023", "2023-05-04", "2026-12-01"),
        ("before August 2023", "2013-08-03", "2023-08-01"),
        ("until June", "2016-07-03", "2026-07-01"),
        ("between August 11 and August 15 2023", "2023-08-11", "2023-08-16"),
        ("from 3 to 9 March 2023", "2023-03-03", "2023-03-10"),
        ("from the 3rd to the 9th of March 2023", "2023-03-03", "2023-03-10"),
        ("between March and May", "2026-03-01", "2026-06-01"),
        ("August 11-15, 2023", "2023-08-11", "2023-08-16"),
        ("from December 20 to January 5", "2025-12-20", "2026-01-06"),
        ("from December to January 2023", "2022-12-01", "2023-02-01"),
        ("from 2019 to 2021", "2019-01-01", "2022-01-01"),
        ("in the summer of 2023", "2023-06-01", "2023-09-01"),
        ("our trip last summer", "2026-06-01", "2026-09-01"),
        ("last winter", "2025-12-01", "2026-03-01"),
        ("early August 2023", "2023-08-01", "2023-08-12"),
        ("in mid-August 2023", "2023-08-11", "2023-08-22"),
        ("at the end of March", "2026-03-21", "2026-04-01"),
        ("late 2023", "2023-09-01", "2024-01-01"),
        ("in the second week of November", "2026-11-08", "2026-11-15"),
        ("the last week of June 2024", "2024-06-24", "2024-07-01"),
        ("the week of August 7", "2026-08-03", "2026-08-14"),
        ("the week before 16 November 2023", "2023-11-09", "2023-11-16"),
        ("two weeks before August 11, 2023", "2023-07-25", "2023-08-01"),
        ("three days after May 3, 2023", "2023-05-06", "2023-05-07"),
        ("last weekend before April 10, 2023", "2023-04-08", "2023-04-10"),
        ("the weekend of 12 August", "2026-08-15", "2026-08-17"),
        ("in Q3 2023", "2023-07-01", "2023-10-01"),
        ("the third quarter of 2024", "2024-07-01", "2024-10-01"),
        ("last quarter", "2026-07-01", "2026-10-01"),
        ("at Christmas", "2025-12-24", "2025-12-27"),
        ("2023-05-03", "2023-05-03", "2023-05-04"),
        ("2023年5月3日我做了什么", "2023-05-03", "2023-05-04"),
        ("2023年5月", "2023-05-01", "2023-06-01"),
    ],
)
def test_a_time_in_a_question_is_understood(question: str, first: str, after: str) -> None:
    assert days(question) == [(first, after)]


@pytest.mark.parametrize(
    ("question", "first", "after"),
    [
        ("Was habe ich gestern gemacht?", "2026-11-29", "2026-11-30"),
        ("vor drei Tagen", "2026-11-27", "2026-11-28"),
        ("Wo war ich letzte Woche?", "2026-11-23", "2026-11-30"),
        ("letzten Sommer", "2026-06-01", "2026-09-01"),
        ("letzten Sonntag", "2026-11-29", "2026-11-30"),
        ("am 3. Mai 2023", "2023-05-03", "2023-05-04"),
        ("zwischen 3. und 9. März 2023", "2023-03-03", "2023-03-10"),
        ("in den letzten zwei Wochen", "2026-11-16", "2026-12-01"),
        ("qu'est-ce que j'ai fait hier ?", "2026-11-29", "2026-11-30"),
        ("il y a deux semaines", "2026-11-13", "2026-11-20"),
        ("le mois dernier", "2026-10-01", "2026-11-01"),
        ("mardi dernier", "2026-11-24", "2026-11-25"),
        ("entre le 3 et le 9 mars 2023", "2023-03-03", "2023-03-10"),
        ("en août 2023", "2023-08-01", "2023-09-01"),
        ("hace tres días", "2026-11-27", "2026-11-28"),
        ("la semana pasada", "2026-11-23", "2026-11-30"),
        ("el verano de 2023", "2023-06-01", "2023-09-01"),
        ("en los últimos 5 días", "2026-11-25", "2026-12-01"),
        ("due settimane fa", "2026-11-13", "2026-11-20"),
        ("l'anno scorso", "2025-01-01", "2026-01-01"),
        ("no mês passado", "2026-10-01", "2026-11-01"),
        ("há duas semanas", "2026-11-13", "2026-11-20"),
        ("twee weken geleden", "2026-11-13", "2026-11-20"),
        ("vorige maand", "2026-10-01", "2026-11-01"),
        ("昨天我吃了什么", "2026-11-29", "2026-11-30"),
        ("前天去了哪里", "2026-11-28", "2026-11-29"),
        ("上周五我去了哪里", "2026-11-27", "2026-11-28"),
        ("上上周三", "2026-11-18", "2026-11-19"),
        ("上周末做了什么", "2026-11-28", "2026-11-30"),
        ("上个月", "2026-10-01", "2026-11-01"),
        ("去年夏天", "2025-06-01", "2025-09-01"),
        ("今年三月", "2026-03-01", "2026-04-01"),
        ("三天前", "2026-11-27", "2026-11-28"),
        ("两个星期前", "2026-11-13", "2026-11-20"),
        ("半年前", "2026-05-01", "2026-06-01"),
        ("最近三个月", "2026-08-29", "2026-12-01"),
        ("8月11日到15日", "2026-08-11", "2026-08-16"),
        ("2023年8月11日至9月2日之间", "2023-08-11", "2023-09-03"),
        ("二〇二三年五月", "2023-05-01", "2023-06-01"),
        ("八月初", "2026-08-01", "2026-08-12"),
        ("2023年第三季度", "2023-07-01", "2023-10-01"),
        ("国庆节我们去了哪", "2026-10-01", "2026-10-09"),
        ("2022年春节", "2022-01-21", "2022-02-24"),
        ("2023年以来", "2023-01-01", "2026-12-01"),
        ("上週五我們去了哪裡", "2026-11-27", "2026-11-28"),
        ("兩個星期前", "2026-11-13", "2026-11-20"),
        ("這個月花了多少錢", "2026-11-01", "2026-12-01"),
        ("2022年春節", "2022-01-21", "2022-02-24"),
        ("先週水曜日", "2026-11-25", "2026-11-26"),
        ("昨日何を食べた", "2026-11-29", "2026-11-30"),
        ("先週の月曜日", "2026-11-23", "2026-11-24"),
        ("3ヶ月前", "2026-08-01", "2026-09-01"),
        ("2023年の夏", "2023-06-01", "2023-09-01"),
        ("2023年8月11日から15日まで", "2023-08-11", "2023-08-16"),
        ("어제 뭐 먹었지", "2026-11-29", "2026-11-30"),
        ("지난주 월요일", "2026-11-23", "2026-11-24"),
        ("3일 전", "2026-11-27", "2026-11-28"),
        ("작년 여름", "2025-06-01", "2025-09-01"),
    ],
)
def test_a_time_in_another_language_is_understood(question: str, first: str, after: str) -> None:
    assert days(question) == [(first, after)]


@pytest.mark.parametrize(
    "question",
    [
        "between 5 and 10 people",
        "from 10 to 12",
        "at the end of the day",
        "Was steht hier?",
        "a player in the team",
        "每个月花多少钱",
        "三个月大的小狗叫什么",
        "on the way to 10-12 shops",
    ],
)
def test_what_only_resembles_a_time_is_left_alone(question: str) -> None:
    assert days(question) == []


@pytest.mark.parametrize(
    ("question", "rest"),
    [
        ("昨天的会议", "的会议"),
        ("la reunión de la semana pasada", "la reunión de"),
        ("Treffen vor drei Tagen", "Treffen"),
    ],
)
def test_the_words_of_relative_times_in_other_languages_match_no_text(question: str, rest: str) -> None:
    assert asked_time(question, NOW, UTC).rest.strip() == rest


def test_of_a_very_long_question_the_beginning_and_the_end_are_read() -> None:
    filler = "text without any meaning " * 400
    assert days(f"yesterday {filler}{filler} in May 2023") == [
        ("2026-11-29", "2026-11-30"),
        ("2023-05-01", "2023-06-01"),
    ]
    assert days(f"{filler} in May 2023 {filler}") == []


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
