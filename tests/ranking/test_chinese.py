"""A Chinese question finds the turn that answers it, though both share few characters."""

from __future__ import annotations

import pytest

from llmslim_memory import Memory
from llmslim_memory.ranking.analysis import term
from llmslim_memory.ranking.synonyms import CHINESE_KIND, SYNONYM, chinese_words, standing_for_chinese
from llmslim_memory.ranking.unspaced import read_unspaced

CHATTER = (
    "今天天气不错，适合出门走走。",
    "我想知道什么是好的方法，你可以告诉我吗？",
    "中午吃了碗面，味道一般。",
    "我的快递是什么时候到的呢？",
    "地铁又晚点了。",
    "帮我写一段请假条吧。",
)


def first(said: str, question: str) -> str:
    with Memory() as memory:
        for text in (*CHATTER[:3], said, *CHATTER[3:]):
            memory.add({"role": "user", "content": text}, user_id="ann")
        return memory.rank(question, user_id="ann", k=1)[0].text


@pytest.mark.parametrize(
    ("said", "question"),
    [
        ("表哥在医院当护士。", "我表哥的职业是什么？"),
        ("小陈是软件工程师。", "小陈从事什么行业？"),
        ("舅舅闲下来就去钓鱼。", "请问舅舅有什么兴趣爱好？"),
        ("李姐生在1990年3月。", "李姐的生日是哪天？"),
        ("有事打13800000000找老王。", "怎么联系老王？"),
        ("老王的信箱是wang@mail.example。", "老王的邮箱地址是什么？"),
        ("弟弟有一米八二。", "弟弟的身高是多少？"),
        ("外婆八十三岁了。", "外婆多大年纪？"),
        ("奶奶得了糖尿病。", "奶奶有什么疾病？"),
        ("妹妹在练小提琴。", "妹妹会什么乐器？"),
        ("我们养了一只橘猫。", "我有什么宠物？"),
        ("小林定居在厦门。", "小林住在哪个城市？"),
        ("年會定在香格里拉酒店。", "年会在什么地方举行？"),
        ("她读的是硕士。", "她的学历怎么样？"),
    ],
)
def test_a_question_after_a_kind_of_thing_finds_the_turn_that_names_one(said: str, question: str) -> None:
    assert first(said, question) == said


def test_words_for_asking_find_nothing() -> None:
    with Memory() as memory:
        memory.add({"role": "user", "content": "请问你可以告诉我这是什么吗？"}, user_id="ann")
        assert memory.rank("请问我的护照在哪里？", user_id="ann") == []


def test_the_longest_word_of_the_table_is_read() -> None:
    assert chinese_words("他的电话号码") == ["电话号码"]
    assert chinese_words("没有") == []


def test_kinds_and_words_of_a_group_stand_for_a_word() -> None:
    assert standing_for_chinese("职业")["律师"] == CHINESE_KIND
    assert "职业" not in standing_for_chinese("律师")
    assert standing_for_chinese("爸爸")["父亲"] == SYNONYM
    assert standing_for_chinese("未知") == {}


def test_pairs_across_words_for_asking_are_passed_over() -> None:
    read = read_unspaced("表哥的职业是什么")
    assert {term("哥的"), term("业是")} <= read.passed_over
    assert not {term("表哥"), term("职业")} & read.passed_over
    assert term("程师") in read.standing[term("职业")]


def test_standing_requests_in_chinese_are_turns_like_others() -> None:
    with Memory() as memory:
        for at in range(40):
            memory.add({"role": "user", "content": f"以后都用中文回答我。{CHATTER[at % 6]}{at}"}, user_id="ann")
            memory.add({"role": "assistant", "content": "好的，我记下了。"}, user_id="ann")
        memory.add({"role": "user", "content": "我表哥是律师。"}, user_id="ann")
        context = memory.search("我表哥的职业是什么？", user_id="ann", budget=200)
    assert context.mode == "turns"
    assert "user: 我表哥是律师。" in context.text
    assert context.requests == context.preferences == ()
    assert context.tokens <= 200


def test_a_reply_that_only_stands_beside_an_answer_leaves_room_for_the_next_answer() -> None:
    with Memory(encoding="cl100k_base") as memory:
        for at, name in enumerate(("姑姑", "舅舅", "表弟", "堂妹", "外公")):
            for said in (f"{name}身高一米{at + 5}四。", CHATTER[at], CHATTER[(at + 3) % 6]):
                turns = [{"role": "user", "content": said}, {"role": "assistant", "content": "明白了，注意休息。"}]
                memory.add(turns, user_id="ann", run_id=name)
        text = memory.search("有几个人身高超过一米七？", user_id="ann", budget=200).text
    assert text.count("身高") == 5
