"""What users of other memories complained about in other languages, scripts and odd text; `docs/MEMORY.md` says how."""

from __future__ import annotations

import pytest
from talk import ask, chatter, memory, tell

from llmslim_memory import Memory

__all__ = ["memory"]


class TestScriptsAndText:
    @pytest.mark.parametrize(
        ("said", "query"),
        [
            ("今日は成語しりとりをした", "しりとり"),
            ("오늘 끝말잇기 게임을 했다", "끝말잇기"),
            ("我昨天在公园里看到一只白鹭", "白鹭"),
            ("เมื่อวานฉันไปตลาดน้ำ", "ตลาดน้ำ"),
        ],
    )
    def test_14_a_word_inside_a_run_without_spaces_is_found(self, memory: Memory, said: str, query: str) -> None:
        tell(memory, said)
        chatter(memory, day=1)
        assert said in ask(memory, query).text

    @pytest.mark.parametrize("query", ["设备", "清单", "NAS"])
    def test_15_two_characters_are_enough(self, memory: Memory, query: str) -> None:
        tell(memory, "设备清单在NAS上")
        chatter(memory, day=1)
        assert "设备清单在NAS上" in ask(memory, query).text

    @pytest.mark.parametrize(
        ("said", "query"),
        [
            ("저는 부산에서 자랐어요", "부산"),
            ("Моя бабушка живёт в Томске", "бабушка"),
            ("Η γιαγιά μου μένει στη Χίο", "γιαγιά"),
            ("جدتي تعيش في حلب", "حلب"),
            ("ยายของฉันอยู่เชียงใหม่", "เชียงใหม่"),
            ("मेरी दादी जयपुर में रहती हैं", "जयपुर"),
            ("סבתא שלי גרה בחיפה", "סבתא"),
            ("We met at the café", "cafe"),
            ("Die Straße ist gesperrt", "strasse"),
        ],
    )
    def test_16_every_script_is_searchable(self, memory: Memory, said: str, query: str) -> None:
        tell(memory, said)
        chatter(memory, day=1)
        assert said in ask(memory, query).text

    def test_17_a_short_answer_beats_a_long_aside_in_chinese(self, memory: Memory) -> None:
        tell(memory, "我们聊了很多关于天气和旅行的事情，" * 180 + "然后提到了路由器，" + "接着又说起了别的话题。" * 90)
        tell(memory, "路由器的密码贴在冰箱上。", day=1)
        chatter(memory, day=2)
        assert memory.rank("路由器密码", user_id="u", k=1)[0].item.content == "路由器的密码贴在冰箱上。"
        assert "路由器的密码贴在冰箱上。" in ask(memory, "路由器密码").text

    def test_18_a_lone_surrogate_and_joined_emoji_do_no_harm(self, memory: Memory) -> None:
        stored = memory.add({"role": "user", "content": "ok \ud83d done 👩\u200d👩\u200d👧 tea"}, user_id="u")
        assert stored[0].content == "ok \ufffd done 👩\u200d👩\u200d👧 tea"
        chatter(memory, day=1)
        assert "👩\u200d👩\u200d👧" in ask(memory, "tea \ud83d").text

    @pytest.mark.parametrize("query", ["don't use agents", "what's Ann's plan?", "what’s Ann’s plan?"])
    def test_19_apostrophes_are_words_not_syntax(self, memory: Memory, query: str) -> None:
        tell(memory, "Ann's plan is to not use agents.")
        chatter(memory, day=1)
        assert "Ann's plan" in ask(memory, query).text

    @pytest.mark.parametrize(
        "query",
        ["What did Curie win?", "C++?", '"', "(((", "*", "-", "a AND", "NEAR(", "'; DROP TABLE", "%", "\\", "^$", "",
         " ", "?" * 3000, "\x00", "[tea]", "{}", "tea OR", "NOT tea", "🙂", "\u202e", "tea:^2"],
    )  # fmt: skip
    def test_20_no_question_is_a_syntax_error(self, memory: Memory, query: str) -> None:
        chatter(memory)
        context = ask(memory, query)
        assert context.tokens <= context.budget

    @pytest.mark.parametrize(
        "name",
        ["blue-116-x", "INV-2291", "v0.11.2", "192.168.1.7", "snake_case_name", "camelCaseName", "notes.final.md"],
    )
    def test_21_identifiers_are_found_whole(self, memory: Memory, name: str) -> None:
        tell(memory, f"The marker is {name}, remember it.")
        tell(memory, "The marker is blue and version two, in case that is the case, with final notes.", day=1)
        chatter(memory, day=2)
        assert f"marker is {name}" in memory.rank(name, user_id="u", k=1)[0].item.content
        assert name in ask(memory, name).text
