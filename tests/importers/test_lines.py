"""Lines as crashes, editors and other systems leave them: what is whole is read, the rest is counted."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from llmslim_memory import HistoryImportError
from tests.importers.helpers import imported, lines, message, new_memory, said

GOOD = [message("first"), message("second", "assistant"), message("third")]


@pytest.mark.parametrize(
    "bad", ["{", '{"role": "user", "content": "cut o', '"text"', "[1, 2]", "nonsense", "42", "null"]
)
def test_a_malformed_line_in_the_middle_is_counted_and_the_rest_is_read(tmp_path: Path, bad: str) -> None:
    memory = new_memory()
    report = imported(lines(tmp_path / "a.jsonl", [GOOD[0], bad, GOOD[1], GOOD[2]]), memory)
    assert (report.imported, report.malformed) == (3, 1)


def test_a_last_line_that_was_cut_off_is_malformed_now_and_imported_when_it_is_whole(tmp_path: Path) -> None:
    memory = new_memory()
    path = lines(tmp_path / "a.jsonl", GOOD[:2])
    whole = json.dumps(GOOD[2])
    with path.open("a", encoding="utf-8") as file:
        file.write(whole[:-5])
    assert imported(path, memory).malformed == 1
    with path.open("a", encoding="utf-8") as file:
        file.write(whole[-5:] + "\n")
    report = imported(path, memory)
    assert (report.imported, report.duplicates, report.malformed) == (1, 2, 0)


def test_lines_of_nul_bytes_are_blank_and_nul_around_a_record_is_dropped(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    record = json.dumps(GOOD[0]).encode()
    path.write_bytes(b"\x00" * 9000 + b"\n" + b"\x00" * 40 + record + b"\x00" * 9000 + b"\n" + b"\x00" * 143_000)
    report = imported(path)
    assert (report.imported, report.seen) == (1, 1)


def test_records_glued_together_on_one_line_are_all_read(tmp_path: Path) -> None:
    glued = "".join(map(json.dumps, GOOD))
    assert said(lines(tmp_path / "a.jsonl", [glued, message("fourth")])) == ["first", "second", "third", "fourth"]


def test_an_object_over_several_lines_is_malformed_and_counted_by_line(tmp_path: Path) -> None:
    broken = json.dumps(message("pretty"), indent=1)
    report = imported(lines(tmp_path / "a.jsonl", [GOOD[0], GOOD[1], broken]))
    assert report.imported == 2
    assert report.malformed == len(broken.splitlines())


def test_a_raw_line_break_inside_a_string_makes_two_malformed_lines(tmp_path: Path) -> None:
    report = imported(lines(tmp_path / "a.jsonl", [GOOD[0], GOOD[1], '{"role": "user", "content": "one\ntwo"}']))
    assert (report.imported, report.malformed) == (2, 2)


@pytest.mark.parametrize("char", ["\u2028", "\u2029", "\u0085", "\x0b", "\x0c", "\x1c", "\r"])
def test_only_a_line_feed_ends_a_line(tmp_path: Path, char: str) -> None:
    raw = f'{{"role": "user", "content": "left{char}right"}}'
    assert said(lines(tmp_path / "a.jsonl", [raw, GOOD[0]])) == [f"left{char}right", "first"]


def test_a_lone_surrogate_is_replaced_before_anything_is_stored(tmp_path: Path) -> None:
    assert said(lines(tmp_path / "a.jsonl", ['{"role": "user", "content": "half \\ud83d an emoji"}'])) == [
        "half \ufffd an emoji"
    ]


def test_a_pair_of_surrogate_escapes_is_one_character(tmp_path: Path) -> None:
    assert said(lines(tmp_path / "a.jsonl", ['{"role": "user", "content": "\\ud83d\\ude00"}'])) == ["\U0001f600"]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_the_encoding_is_told_from_the_bytes(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(
        "".join(json.dumps(message(text), ensure_ascii=False) + "\r\n" for text in ("naïve", "日本")).encode(encoding)
    )
    assert said(path) == ["naïve", "日本"]


def test_text_is_utf8_whatever_the_locale_says(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes('{"role": "user", "content": "Zürich – 5 €"}\n'.encode())
    script = (
        "import locale, sys; from llmslim_memory import Memory, import_history\n"
        "memory = Memory(encoding=len); import_history(sys.argv[1], memory)\n"
        "print(locale.getpreferredencoding(), ascii(memory.scan().items[0].content))"
    )
    settings = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    command = [sys.executable, "-c", script, str(path)]
    done = subprocess.run(command, env=settings, capture_output=True, text=True, check=True)
    encoding, text = done.stdout.split(maxsplit=1)
    assert encoding.lower() != "utf-8" or sys.platform != "linux"
    assert text.strip() == ascii("Zürich – 5 €")


def test_broken_utf8_costs_a_character_and_no_record(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"role": "user", "content": "caf\xe9"}\n')
    assert said(path) == ["caf\ufffd"]


def test_nan_and_infinity_are_no_values_and_no_error(tmp_path: Path) -> None:
    raw = [
        '{"role": "user", "content": "a", "timestamp": NaN}',
        '{"role": "user", "content": "b", "timestamp": -Infinity}',
    ]
    assert said(lines(tmp_path / "a.jsonl", raw)) == ["a", "b"]


def test_an_integer_of_five_thousand_digits_is_malformed_not_fatal(tmp_path: Path) -> None:
    report = imported(lines(tmp_path / "a.jsonl", [GOOD[0], f'{{"role": "user", "content": {"9" * 5000}}}', GOOD[1]]))
    assert (report.imported, report.malformed) == (2, 1)


def test_of_a_repeated_key_the_last_value_counts(tmp_path: Path) -> None:
    assert said(lines(tmp_path / "a.jsonl", ['{"role": "user", "content": "a", "content": "b"}'])) == ["b"]


def test_gzip_is_read_whatever_the_file_is_called(tmp_path: Path) -> None:
    path = tmp_path / "history"
    path.write_bytes(gzip.compress(json.dumps(GOOD[0]).encode() + b"\n"))
    assert said(path) == ["first"]


def test_damaged_gzip_keeps_what_came_before_and_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl.gz"
    body = b"".join(json.dumps(message(f"turn {number} {number * 7919}")).encode() + b"\n" for number in range(20_000))
    packed = gzip.compress(body)
    path.write_bytes(packed[: len(packed) // 2])
    report = imported(path)
    assert report.imported > 100
    assert not report.ok
    assert report.errors[0].startswith("a.jsonl.gz: ")


@pytest.mark.parametrize("text", ["", "\n\n", "[]", "null", '"text"', "{}", "[[]]", "\x00\x00"])
def test_a_sole_file_without_history_is_an_error_that_names_it(tmp_path: Path, text: str) -> None:
    path = tmp_path / "a.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(HistoryImportError, match=r"'a\.json'"):
        imported(path)


@pytest.mark.parametrize("text", ["", "\n", "[]"])
def test_an_empty_file_of_a_named_format_is_an_empty_import(tmp_path: Path, text: str) -> None:
    path = tmp_path / "a.json"
    path.write_text(text, encoding="utf-8")
    assert imported(path, format="chatgpt").seen == 0


def test_an_empty_file_beside_others_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "empty.jsonl").touch()
    lines(tmp_path / "full.jsonl", GOOD)
    assert imported(tmp_path).imported == 3


def test_concatenated_arrays_and_scalars_in_them_are_read_and_counted(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps(GOOD[:2]) + "\n" + json.dumps([GOOD[2], None, "a, b", 3]), encoding="utf-8")
    report = imported(path)
    assert (report.imported, report.malformed) == (3, 3)


@pytest.mark.parametrize("indent", [None, 1])
def test_an_array_that_breaks_off_keeps_what_came_before_and_says_where(tmp_path: Path, indent: int | None) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps(GOOD, indent=indent)[:-12], encoding="utf-8")
    report = imported(path)
    assert (report.imported, report.malformed) == (2, 1)
    assert "byte" in report.errors[0]
