"""Token counts: exact with a vocabulary, bounded for hostile text, and never waiting for a network."""

from __future__ import annotations

import logging
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import tiktoken
from hypothesis import given, settings
from hypothesis import strategies as st

from llmslim_memory import tokens, vocabulary
from llmslim_memory.tokens import Piece, TokenCounter, count_pieces, estimate_tokens, make_counter

COUNT = make_counter()
PLAIN_TEXT = st.text(max_size=300) | st.text(alphabet=" \n\tab,.é好'<|>=", max_size=400)


@pytest.fixture
def no_vocabulary(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[pytest.MonkeyPatch]:
    """A process that has loaded nothing and finds no local copy."""
    monkeypatch.setattr(vocabulary, "local_folders", lambda: [tmp_path])
    monkeypatch.setattr(tiktoken.registry, "ENCODINGS", {})
    monkeypatch.delenv("LLMSLIM_OFFLINE", raising=False)
    vocabulary._load_once.cache_clear()
    yield monkeypatch
    vocabulary._load_once.cache_clear()


def test_the_default_counts_as_the_encoding_of_current_models_does() -> None:
    assert (COUNT.name, COUNT.exact) == ("o200k_base", True)
    assert COUNT("Where did I park the car?") == len(
        tiktoken.get_encoding("o200k_base").encode_ordinary("Where did I park the car?")
    )


@pytest.mark.parametrize(
    ("name", "encoding"), [("cl100k_base", "cl100k_base"), ("gpt-4o", "o200k_base"), ("gpt-4", "cl100k_base")]
)
def test_an_encoding_or_a_model_can_be_named(name: str, encoding: str) -> None:
    assert make_counter(name).name == encoding


def test_an_unknown_name_says_what_to_pass() -> None:
    with pytest.raises(ValueError, match=r"encoding 'o201k' is neither .*o200k_base.* function"):
        make_counter("o201k")


def test_something_that_is_neither_a_name_nor_a_function_is_refused() -> None:
    with pytest.raises(TypeError, match="name or a function, not int"):
        make_counter(4)  # type: ignore[arg-type]


def test_a_function_can_count() -> None:
    words = make_counter(lambda text: len(text.split()))
    assert (words.name, words.exact, words("three small words")) == ("custom", True, 3)
    assert make_counter(lambda text: np.int64(len(text)))("four") == 4  # type: ignore[arg-type, return-value]


def test_a_counter_is_taken_as_it_is() -> None:
    assert make_counter(COUNT) is COUNT
    assert isinstance(COUNT, TokenCounter)


@pytest.mark.parametrize(("result", "error"), [(1.5, TypeError), (-1, ValueError), (None, TypeError)])
def test_a_function_that_gives_no_count_is_named(result: object, error: type[Exception]) -> None:
    with pytest.raises(error, match="the token counter returned"):
        make_counter(lambda text: result)("text")  # type: ignore[arg-type, return-value]


def test_special_tokens_in_text_are_ordinary_text() -> None:
    assert COUNT("<|endoftext|>") > 1


@given(PLAIN_TEXT)
def test_every_text_has_a_count_and_only_the_empty_one_has_none(text: str) -> None:
    assert (COUNT(text) > 0) == (text != "")


@settings(max_examples=60)
@given(st.lists(PLAIN_TEXT, max_size=8).map("".join))
def test_counting_in_chunks_never_counts_too_few(text: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tokens, "CHUNK_CHARS", 20)
        assert COUNT(text) >= len(tiktoken.get_encoding("o200k_base").encode_ordinary(text))


@pytest.mark.parametrize("encoding", ["o200k_base", "cl100k_base"])
@settings(max_examples=60)
@given(
    words=st.lists(st.text(alphabet="abzAZéß好人ก", min_size=1, max_size=8), min_size=1),
    mark=st.sampled_from(" .,!?\n。，"),
)
def test_a_cut_between_words_changes_no_count(encoding: str, words: list[str], mark: str) -> None:
    text = mark.join(words)
    places = [match.end() for match in tokens._SAFE_CUT.finditer(text)]
    exact = tiktoken.get_encoding(encoding)
    for place in places:
        parts = exact.encode_ordinary(text[:place]) + exact.encode_ordinary(text[place:])
        assert parts == exact.encode_ordinary(text)


PIECES = st.lists(
    st.tuples(st.lists(PLAIN_TEXT | st.text(max_size=9), max_size=6).map("".join), st.booleans()), max_size=5
)


@pytest.mark.parametrize("encoding", ["o200k_base", "cl100k_base"])
@settings(max_examples=100)
@given(PIECES)
def test_pieces_put_together_count_as_the_whole(encoding: str, pieces: list[tuple[str, bool]]) -> None:
    count = make_counter(encoding)
    known = [Piece(text, count(text) if is_known else None) for text, is_known in pieces]
    assert count_pieces(count, known) == count("".join(piece.text for piece in known))


def test_pieces_are_counted_as_a_whole_by_a_function_that_need_not_add_up() -> None:
    count = make_counter(lambda text: len(text) // 2)
    assert count_pieces(count, [Piece("abc", 1), Piece("de fg", 2)]) == 4


@pytest.mark.parametrize("run", ["a", " ", "\t ", "\n", "好", "=", "1", "\u0301"])
def test_a_million_characters_without_a_word_are_counted(run: str) -> None:
    text = (run * 1_000_000)[:1_000_000]
    assert 0 < COUNT(text) <= len(text.encode())


def test_lone_surrogates_are_counted() -> None:
    assert COUNT("\ud800 left alone") > 0


def test_a_missing_vocabulary_is_estimated_with_one_warning(
    no_vocabulary: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    no_vocabulary.setenv("LLMSLIM_OFFLINE", "1")
    with caplog.at_level(logging.WARNING):
        counters = [make_counter(), make_counter()]
        assert [count("12345") for count in counters] == [2, 2]
    assert (counters[0].name, counters[0].exact) == ("estimate", False)
    assert [record.message.count("LLMSLIM_TIKTOKEN_DIR") for record in caplog.records] == [1]
    assert caplog.records[0].message.endswith("or unset LLMSLIM_OFFLINE.")


def test_the_download_is_asked_for_once_where_there_is_no_local_copy(no_vocabulary: pytest.MonkeyPatch) -> None:
    vocabulary_bytes = vocabulary_file("o200k_base").read_bytes()
    asked: list[str] = []
    no_vocabulary.setattr(tiktoken.load, "read_file_cached", lambda url, digest: asked.append(url) or vocabulary_bytes)
    assert [make_counter().name, make_counter().name] == ["o200k_base", "o200k_base"]
    assert [url.rsplit("/", 1)[-1] for url in asked] == ["o200k_base.tiktoken"]


def test_a_download_that_hangs_is_left_behind(no_vocabulary: pytest.MonkeyPatch) -> None:
    release = threading.Event()
    no_vocabulary.setattr(vocabulary, "DOWNLOAD_SECONDS", 0.05)
    no_vocabulary.setattr(tiktoken.load, "read_file_cached", lambda url, digest: release.wait(30))
    began = time.monotonic()
    assert make_counter().name == "estimate"
    assert time.monotonic() - began < 30
    release.set()


@pytest.mark.parametrize("error", [OSError("refused"), ValueError("hash mismatch")])
def test_a_download_that_fails_is_estimated(no_vocabulary: pytest.MonkeyPatch, error: Exception) -> None:
    def fail(url: str, digest: str) -> bytes:
        raise error

    no_vocabulary.setattr(tiktoken.load, "read_file_cached", fail)
    assert make_counter().name == "estimate"
    assert tiktoken.load.read_file_cached is fail


@pytest.mark.parametrize("plain_name", [True, False])
def test_a_folder_of_your_own_is_read_before_all_others(
    no_vocabulary: pytest.MonkeyPatch, tmp_path: Path, plain_name: bool
) -> None:
    source = vocabulary_file("cl100k_base")
    shutil.copy(source, tmp_path / ("cl100k_base.tiktoken" if plain_name else source.name))
    no_vocabulary.setenv("LLMSLIM_OFFLINE", "1")
    assert make_counter("cl100k_base").name == "cl100k_base"


def test_a_damaged_copy_is_passed_over(no_vocabulary: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "cl100k_base.tiktoken").write_bytes(b"damaged")
    no_vocabulary.setenv("LLMSLIM_OFFLINE", "1")
    assert make_counter("cl100k_base").name == "estimate"


def test_the_folders_named_by_the_environment_come_first(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("LLMSLIM_TIKTOKEN_DIR", str(tmp_path / "ours"))
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path / "theirs"))
    assert vocabulary.local_folders()[:2] == [tmp_path / "ours", tmp_path / "theirs"]


def test_threads_may_load_and_count_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tiktoken.registry, "ENCODINGS", {})
    vocabulary._load_once.cache_clear()
    count = make_counter()
    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(count, ["four words of text"] * 32)) == {4}


def test_importing_counts_and_vocabularies_loads_no_tokenizer() -> None:
    code = "import sys, llmslim_memory.tokens; print('tiktoken' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"


@given(st.text(max_size=100))
def test_the_estimate_takes_four_characters_a_token(text: str) -> None:
    assert len(text) / 4 <= estimate_tokens(text) < len(text) / 4 + 1


def vocabulary_file(name: str) -> Path:
    """The copy that llama-index-core carries."""
    digests = {
        "o200k_base": "fb374d419588a4632f3f557e76b4b70aebbca790",
        "cl100k_base": "9b5ad71b2ce5302211f9c61530b329a4922fc6a4",
    }
    return next(path for folder in vocabulary._llama_index_folders() if (path := folder / digests[name]).exists())
