"""What a question brings to the top."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from hypothesis import HealthCheck, given, settings

from llmslim_memory.testing.strategies import texts
from llmslim_memory.types import Hit
from tests.ranking.conftest import START, turn

Find = Callable[..., list[Hit]]
ASIDES = ["The train leaves at nine", "My bike has a flat tyre", "We painted the kitchen blue", "Lunch was fine"]


def contents(hits: list[Hit]) -> list[str]:
    return [hit.item.content for hit in hits]


def test_the_turn_with_the_rarer_word_comes_first(find: Find) -> None:
    hits = find(["tea in the morning", "tea and more tea", "tea with cardamom", *ASIDES], "cardamom tea")
    assert contents(hits)[0] == "tea with cardamom"


def test_a_nonsense_question_finds_nothing(find: Find) -> None:
    assert find(ASIDES, "zxqv plorf") == []


@pytest.mark.parametrize(
    "question",
    ["What did Curie win?", "C++?", '"', "(((", "*", "-", "a AND", "NEAR(", "don't", "", "?", "\\", "%_", "🙂", "\x00"],
)
def test_no_question_fails(find: Find, question: str) -> None:
    assert all(0 < hit.score <= 1 for hit in find(["Marie Curie won two prizes", "I write C++", *ASIDES], question))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(texts(), texts())
def test_no_text_and_no_question_fail(find: Find, text: str, question: str) -> None:
    hits = find([text, "a b", "tea"], question)
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


def test_scores_fall_and_a_hit_of_its_own_is_worth_a_tenth(find: Find) -> None:
    hits = find(["green tea and black tea", "a tea", *ASIDES], "green tea with lemon and honey")
    scores = [hit.score for hit in hits]
    assert scores == sorted(scores, reverse=True)
    assert scores[0] < 0.9
    assert all(score >= 0.1 for score in scores)


def test_an_answer_is_lifted_by_the_question_before_it(find: Find) -> None:
    session = [
        turn(0, "What is the name of your dentist?"),
        turn(1, "Her name is Okafor"),
        *(turn(n, text, run="r2") for n, text in enumerate(ASIDES, 2)),
    ]
    assert contents(find(session, "name of the dentist"))[:2] == [session[0].content, session[1].content]


def test_a_neighbour_without_a_word_of_the_question_comes_after_those_that_have_one(find: Find) -> None:
    session = [turn(0, "I like green tea"), turn(1, "The train leaves at nine"), turn(2, "Tea or coffee?")]
    assert contents(find(session, "green tea"))[:2] == ["I like green tea", "Tea or coffee?"]


def test_neighbours_of_another_session_lend_nothing(find: Find) -> None:
    turns = [turn(0, "green tea", run="a"), turn(1, "nothing of it", run="b"), turn(2, "more green tea", run="a")]
    assert "nothing of it" not in contents(find(turns, "green tea"))


def test_what_the_asked_speaker_said_comes_first(find: Find) -> None:
    turns = [
        turn(0, "Bob: the marathon was hard", run="a"),
        turn(1, "Ann: the marathon was hard", run="b"),
        *(turn(n, f"{'Ann' if n % 2 else 'Bob'}: {text}", run=f"r{n}") for n, text in enumerate(ASIDES * 2, 2)),
    ]
    assert contents(find(turns, "How did Ann find the marathon?"))[0].startswith("Ann")


def test_the_time_asked_about_decides_between_equals(find: Find) -> None:
    turns = [turn(n, "We went swimming", run=f"r{n}", minutes=n * 60 * 24) for n in range(28)]
    hits = find(turns, "When did we go swimming on January 10?", k=1)
    assert hits[0].item.created_at == START + timedelta(days=9)


def test_passages_of_a_turn_that_say_the_same_are_one_hit(find: Find) -> None:
    droning = turn(0, "Dogs eat. " * 300 + "Bruno eats fish on Fridays.", role="assistant")
    turns = [droning, *(turn(n, f"Bruno eats bone {n}.") for n in range(1, 8))]
    hits = find(turns, "What does Bruno eat on Fridays?", k=6)
    assert len(hits) == 6
    assert len({(hit.item.id, hit.text) for hit in hits}) == 6


def test_a_question_of_time_alone_finds_what_was_said_then(find: Find) -> None:
    turns = [turn(n, text, run=f"r{n}", minutes=n * 60 * 24 * 8) for n, text in enumerate(ASIDES)]
    assert contents(find(turns, "What did I do last week?")) == [ASIDES[3]]


def test_words_about_a_relative_time_match_no_text(find: Find) -> None:
    assert find([turn(0, "I went to Paris last week"), turn(1, "hello there")], "What did I do yesterday?") == []


def test_a_kind_of_the_thing_asked_about_is_found(find: Find) -> None:
    assert contents(find(["My sister came by", *ASIDES], "Who of my family visited?"))[0] == "My sister came by"
    assert contents(find(["The kids are fine", *ASIDES], "How are the children?"))[0] == "The kids are fine"


def test_a_long_aside_does_not_beat_a_short_answer(find: Find) -> None:
    aside = "今天我们聊了很多别的事情，天气、晚饭和电影。" * 180 + "充电器也提到了。"
    hits = find([turn(0, aside, role="assistant"), turn(1, "充电器在抽屉里。", run="r2")], "充电器在哪里")
    assert hits[0].item.content == "充电器在抽屉里。"


def test_a_long_reply_is_shown_by_its_best_passage(find: Find) -> None:
    filler = "The weather stayed fine for most of the afternoon. " * 20
    reply = turn(0, f"{filler}The gate code is 4471. {filler}", role="assistant")
    hits = find([reply, *(turn(n, text, run="r2") for n, text in enumerate(ASIDES, 1))], "gate code")
    assert hits[0].kind == "window"
    assert "4471" in hits[0].text
    assert len(hits[0].text) < len(reply.content) / 3


@pytest.mark.parametrize("question", ["blue-116-x", "INV-2291", "v0.11.2", "192.168.1.7", "snake_case_name"])
def test_an_identifier_is_found_among_its_likes(find: Find, question: str) -> None:
    likes = [f"it is {name}" for name in ("blue-117-x", "INV-2292", "v0.11.3", "192.168.1.8", "snake_case_other")]
    assert contents(find([*likes, f"it is {question}"], question))[0] == f"it is {question}"


def test_what_did_you_recommend_asks_for_the_reply(find: Find) -> None:
    filler = "There is much to say about the old town and its squares. " * 12
    reply = turn(1, f"{filler}Try the restaurant Alba near the harbour. {filler}", role="assistant")
    turns = [turn(0, "Which restaurant is good?"), reply, turn(2, "Our restaurant trip was nice", run="r2")]
    turns += [turn(n, text, run="r3") for n, text in enumerate(ASIDES, 3)]
    assert "Alba" in find(turns, "Which restaurant near the harbour did you recommend?")[0].text


@pytest.mark.parametrize("question", ["明天会下雨吗", "我的护照在哪里", "彼の電話番号は何ですか", "ราคาตั๋วเครื่องบิน"])
def test_a_question_about_something_else_finds_nothing_in_scripts_without_spaces(find: Find, question: str) -> None:
    assert find(["我在厨房的抽屉里放了充电器", "昨日はしりとりをした", "ฉันชอบกินผัดไทย"], question) == []


def test_single_characters_help_but_do_not_decide(find: Find) -> None:
    assert contents(find(["设备清单在NAS上", "我们准备出发", "请先清理单据"], "设备清单"))[0] == "设备清单在NAS上"


@pytest.mark.parametrize("lately", ["last", "yesterday", "neulich", "вчера"])
def test_of_equal_turns_the_one_that_tells_of_what_happened_lately_comes_first(find: Find, lately: str) -> None:
    said = ["The ferry to Corfu, pleasant.", f"The ferry to Corfu, {lately}."]
    hits = find([*ASIDES, said[0], *ASIDES, *ASIDES, said[1], *ASIDES], "ferry Corfu")
    assert contents(hits)[0] == said[1]
