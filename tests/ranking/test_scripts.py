"""Questions in scripts without spaces are answered by what they share with a turn, be it one character."""

from __future__ import annotations

from llmslim_memory import Memory


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
