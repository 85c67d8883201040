"""Text becomes the terms that a reader would expect, in any script."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llmslim_memory.ranking.analysis import Analyser, chunk_terms, detect_language, fold, term
from llmslim_memory.testing.strategies import texts

ANALYSER = Analyser()


def terms_of(text: str) -> set[int]:
    words = [word for _, word in ANALYSER.chunks(text)]
    language = ANALYSER.language(words)
    return {number for word in words for number in ANALYSER.terms(word, language)}


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("今日は成語しりとりをした", "しりとり"),
        ("오늘 끝말잇기 게임을 했다", "끝말잇기"),
        ("设备清单在NAS上", "设备"),
        ("设备清单在NAS上", "nas"),
        ("ฉันชอบกินผัดไทยมาก", "ผัดไทย"),
        ("ຂ້ອຍມັກກິນເຂົ້າຫນຽວ", "ເຂົ້າ"),
        ("ខ្ញុំចូលចិត្តកាហ្វេ", "កាហ្វេ"),
        ("Мы переехали в новую квартиру", "квартира"),
        ("Αγόρασα ένα καινούργιο ποδήλατο", "ποδηλατο"),
        ("اشتريت السيارة أمس", "سيارة"),
        ("मैंने नई किताब खरीदी", "किताब"),
        ("நான் புத்தகம் வாங்கினேன்", "புத்தகம்"),
        ("Ես գնեցի նոր մեքենա", "մեքենա"),
        ("קניתי ספר חדש", "ספר"),
        ("Wir haben zwei Häuser besichtigt", "Häuser"),
        ("J'ai visité l'école de ma fille", "école"),
        ("Meet me at the café", "cafe"),
        ("Meet me at the cafe", "café"),
        ("the marker is blue-116-x", "blue-116-x"),
        ("see ticket INV-2291", "inv-2291"),
        ("see ticket INV-2291", "2291"),
        ("upgraded to v0.11.2 today", "v0.11.2"),
        ("host 192.168.1.7 is down", "192.168.1.7"),
        ("rename snake_case_name", "snake_case_name"),
        ("rename snake_case_name", "case"),
        ("call parseHttpResponse", "http"),
        ("open src/main.py", "main.py"),
        ("it cost 1,000 dollars", "1000"),
        ("it took 250ms", "250"),
        ("Ann's plan", "ann"),
        ("O’Brien called", "O'Brien"),
        ("I know C++ and C#", "C++"),
        ("ＦＵＬＬ width", "full"),
        ("straße", "strasse"),
        ("universities", "university"),
    ],
)
def test_a_word_of_a_text_is_found_in_it(text: str, query: str) -> None:
    assert terms_of(query)
    assert terms_of(query) & terms_of(text)


@pytest.mark.parametrize("text", ["the of and", "don't", "it's", "?!", "", " \n", "🙂"])
def test_words_without_a_topic_give_no_terms(text: str) -> None:
    assert not terms_of(text)


def test_an_english_stemmer_leaves_other_scripts_alone() -> None:
    assert chunk_terms("надеждами") == ["надежд"]
    assert chunk_terms("ελπίδες")[0] != "ελπιδες"


def test_an_identifier_is_kept_whole_and_in_parts() -> None:
    assert chunk_terms("INV-2291") == ["inv", "2291", "inv-2291"]
    assert chunk_terms("snake_case_name") == ["snake_case_name", "snake", "case", "name"]
    assert chunk_terms("HTTPServer2") == ["httpserver2", "http", "server", "2"]


def test_han_runs_become_single_characters_and_pairs() -> None:
    assert chunk_terms("设备清") == ["设", "备", "清", "设备", "备清"]


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("where did I park the car", "english"),
        ("wo habe ich mein Auto geparkt", "german"),
        ("où est-ce que j'ai mis les clés de la voiture", "french"),
        ("dónde está el coche que me compré", "spanish"),
        ("Flask SQLAlchemy deployment", "english"),
        ("", "english"),
    ],
)
def test_small_words_tell_the_language(text: str, language: str) -> None:
    assert detect_language(text.lower().replace("'", " ").split()) == language


def test_a_term_is_the_same_number_in_every_process() -> None:
    assert term("tea") == 2391201714


@given(texts())
def test_any_text_has_terms_of_32_bits(text: str) -> None:
    assert all(0 <= number < 2**32 for number in terms_of(text))


@given(st.text(max_size=30))
def test_folding_twice_changes_nothing(word: str) -> None:
    assert fold(fold(word)) == fold(word)


@given(texts(60), texts(60))
def test_a_question_finds_the_words_it_repeats(before: str, after: str) -> None:
    assert terms_of("xylophone") <= terms_of(f"{before} xylophone {after}") or ANALYSER.language([before]) != "english"


@pytest.mark.parametrize("blob", ["a1" * 50_000, "x" * 100_000, "Zm9vYmFy" * 2_000])
def test_encoded_data_takes_few_terms(blob: str) -> None:
    assert 1 <= len(terms_of(blob)) <= 3


def test_a_long_run_of_another_script_is_found_by_its_parts() -> None:
    assert terms_of("끝말잇기") & terms_of("오늘" * 300 + "끝말잇기")
