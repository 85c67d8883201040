"""What a question in another script shares with a turn is found: one character, a word behind a prefix, both ways to
write Chinese."""

from __future__ import annotations

import pytest

from llmslim_memory import Memory
from llmslim_memory.ranking.analysis import MAIL, TELEPHONE, Analyser, term
from llmslim_memory.ranking.scripts import simplified, without_prefixes


def test_a_question_whose_only_word_is_a_single_character_is_answered() -> None:
    memory = Memory()
    memory.add([{"role": "user", "content": "我的车是一辆蓝色的比亚迪海豚。"}], user_id="u", run_id="a")
    memory.add([{"role": "user", "content": "昨天我和女儿去看了大熊猫。"}], user_id="u", run_id="b")
    assert [hit.item.run_id for hit in memory.rank("我开什么车？", user_id="u")] == ["a"]


def test_a_turn_that_holds_the_longer_word_comes_first() -> None:
    memory = Memory()
    memory.add([{"role": "user", "content": "他在车站等我。"}], user_id="u", run_id="b")
    memory.add([{"role": "user", "content": "我的汽车保险下周到期。"}], user_id="u", run_id="a")
    assert memory.rank("汽车保险", user_id="u")[0].item.run_id == "a"


@pytest.mark.parametrize(
    ("word", "bare"),
    [
        ("הספר", ["ספר"]),
        ("והספר", ["הספר", "ספר"]),
        ("כשהספר", ["שהספר", "הספר", "ספר"]),
        ("הבן", ["בן"]),
        ("ולבן", ["לבן"]),
        ("שלי", []),
        ("وبيت", ["بيت"]),
        ("וה", []),
        ("word", []),
        ("", []),
    ],
)
def test_the_first_letters_of_hebrew_and_arabic_words_may_be_words_of_their_own(word: str, bare: list[str]) -> None:
    assert list(without_prefixes(word)) == bare


@pytest.mark.parametrize(
    ("said", "question"),
    [
        ("קניתי אתמול ספר על ציפורים", "איפה הספר?"),
        ("שמתי את המפתח במגירה ויצאתי", "מגירה"),
        ("הבן לומד רפואה", "מה עם בן שלי"),
        ("والكتاب على الطاولة الآن", "كتاب"),
        ("ذهبت مع أختي لبيت جدتي", "بيت"),
        ("我的電話號碼是十位數", "电话号码"),
        ("爷爷住在广东", "爺爺住哪裡"),
    ],
)
def test_a_word_is_found_however_it_is_written(said: str, question: str) -> None:
    memory = Memory()
    memory.add(
        [{"role": "user", "content": "אני הולך לישון עכשיו"}, {"role": "user", "content": "طقس جميل اليوم"}],
        user_id="u",
    )
    memory.add([{"role": "user", "content": said}, {"role": "user", "content": "今天下雨了"}], user_id="u")
    assert memory.rank(question, user_id="u", k=1)[0].text == said


def test_text_without_traditional_characters_stays_as_it_is() -> None:
    assert simplified("plain 简体 かな") == "plain 简体 かな"
    assert simplified("電話號碼") == "电话号码"


def test_numbers_and_addresses_are_terms_of_their_kind() -> None:
    analyser = Analyser()
    for number in ("13812345678", "他的手机是13812345678", "010-62345678", "555-010-1234"):
        assert term(TELEPHONE) in analyser.terms(number)
    assert term(MAIL) in analyser.terms("ann@mail.example")
    assert term(TELEPHONE) not in analyser.terms("2023-05-03")


@pytest.mark.parametrize("question", ["しりとり", "しりとりはいつしましたか", "どこでしりとりをした"])
def test_a_japanese_word_is_found_behind_particles_and_endings(question: str) -> None:
    memory = Memory()
    for text in ("犬のポチと公園に行った", "今日は成語しりとりをした", "どこに行きましたか"):
        memory.add({"role": "user", "content": text}, user_id="u")
    assert memory.rank(question, user_id="u", k=1)[0].text == "今日は成語しりとりをした"
