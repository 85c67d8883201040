"""Files made to break an importer: each is refused or counted, nothing hangs, nothing takes much memory."""

from __future__ import annotations

import gzip
import json
import os
import random
import tempfile
import tracemalloc
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from llmslim_memory import HistoryImportError, ImportLimits, import_history
from tests.importers.helpers import contents, document, imported, lines, message, new_memory, said
from tests.importers.test_chatgpt import conversation as chatgpt

MIB = 1 << 20


@contextmanager
def at_most(mebibytes: int) -> Iterator[None]:
    """Fail when the block takes more memory than this at its peak."""
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < mebibytes * MIB
    finally:
        tracemalloc.stop()


def archive(path: Path, members: dict[str, bytes], compression: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", compression) as file:
        for name, data in members.items():
            file.writestr(name, data)
    return path


def as_json(*texts: str) -> bytes:
    return json.dumps([chatgpt(*texts)]).encode()


# Size and depth


@pytest.mark.parametrize("opening", [b"[", b'{"a":', b'[{"a":'])
@pytest.mark.parametrize(
    "before", [b'[{"role": "user", "content": "good"}, ', b'{"role": "user", "content": "good"}\n']
)
def test_brackets_nested_without_end_are_too_deep(tmp_path: Path, opening: bytes, before: bytes) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(before + opening * 50_000)
    report = imported(path)
    assert (report.imported, report.malformed + report.skipped_total) == (1, 1)


@pytest.mark.parametrize("wrap", ["[%s]", "%s"])
def test_a_balanced_nesting_bomb_is_counted_and_the_rest_is_read(tmp_path: Path, wrap: str) -> None:
    bomb = "[" * 100_000 + "]" * 100_000
    comma = "," if wrap == "[%s]" else "\n"
    path = tmp_path / "a.json"
    path.write_text(wrap % comma.join([json.dumps(message("one")), bomb, json.dumps(message("two"))]), encoding="utf-8")
    report = imported(path)
    assert (report.imported, report.skipped) == (2, {"too_deep": 1})


@pytest.mark.parametrize("lines_first", [True, False])
def test_one_string_without_end_is_read_in_pieces_and_dropped(tmp_path: Path, lines_first: bool) -> None:
    limits = ImportLimits(max_record_bytes=MIB)
    path = tmp_path / "a.json"
    with path.open("wb") as file:
        file.write(
            json.dumps(message("good")).encode() + b"\n" if lines_first else b'[{"role": "user", "content": "good"},'
        )
        file.write(b'{"role": "user", "content": "')
        for _ in range(60):
            file.write(b"x" * MIB)
    with at_most(40):
        report = imported(path, limits=limits)
    assert report.imported == 1
    assert report.malformed + report.skipped.get("too_large", 0) == 1


def test_a_record_of_many_tiny_values_is_too_large_before_it_is_built(tmp_path: Path) -> None:
    limits = ImportLimits(max_record_bytes=MIB)
    path = tmp_path / "a.json"
    path.write_bytes(b'[{"role": "user", "content": "good"}, {"content": [' + b"[]," * 150_000 + b"0]}]")
    report = imported(path, limits=limits)
    assert (report.imported, report.skipped) == (1, {"too_large": 1})


def test_size_is_counted_in_characters(tmp_path: Path) -> None:
    limits = ImportLimits(max_record_bytes=1000)
    path = lines(tmp_path / "a.jsonl", [message("ok"), message("a" * 960), message("a" * 980)])
    report = imported(path, limits=limits)
    assert (report.imported, report.skipped) == (2, {"too_large": 1})
    raw = '{"role": "user", "content": "' + "語" * 500 + '"}'
    assert imported(lines(tmp_path / "a.jsonl", [raw]), limits=limits).imported == 1


def test_a_turn_that_is_too_long_is_counted_in_its_session(tmp_path: Path) -> None:
    report = imported(document(tmp_path / "c.json", [chatgpt("fine", "x" * 100_001)]))
    assert (report.imported, report.skipped, report.sessions[0].skipped) == (1, {"too_large": 1}, 1)


def test_a_file_beyond_the_limit_is_refused_before_it_is_read(tmp_path: Path) -> None:
    path = lines(tmp_path / "a.jsonl", [message("one"), message("two")])
    with pytest.raises(HistoryImportError, match="max_file_bytes"):
        import_history(path, new_memory(), limits=ImportLimits(max_file_bytes=50))


def test_a_sparse_file_of_three_gibibytes_costs_nothing(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    with path.open("wb") as file:
        file.truncate(3 << 30)
    with at_most(5), pytest.raises(HistoryImportError, match="max_file_bytes"):
        import_history(path, new_memory())


def test_a_large_export_is_streamed(tmp_path: Path) -> None:
    path = tmp_path / "conversations.json"
    with path.open("wb") as file:
        file.write(b"[")
        for number in range(80):
            texts = (f"{number} {turn} " + "lorem ipsum dolor " * 120 for turn in range(16))
            file.write(b"," * (number > 0) + json.dumps(chatgpt(*texts, key=f"c{number}")).encode())
        file.write(b"]")
    size = path.stat().st_size
    with at_most(8):
        report = import_history(path, None, dry_run=True)
    assert report.imported == 1280
    assert size > 2 * MIB


def test_a_large_export_in_an_archive_is_streamed(tmp_path: Path) -> None:
    chance = random.Random(3)
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file, file.open("conversations.json", "w") as member:
        member.write(b"[")
        for number in range(60):
            texts = (f"{chance.random()} {chance.random()} " * 30 for _ in range(40))
            member.write(b"," * (number > 0) + json.dumps(chatgpt(*texts, key=f"c{number}")).encode())
        member.write(b"]")
    with zipfile.ZipFile(path) as file:
        assert file.infolist()[0].file_size > 3 * MIB
    with at_most(8):
        assert imported(path, dry_run=True).imported == 2400


@pytest.mark.parametrize(
    "name", ["max_file_bytes", "max_record_bytes", "max_depth", "max_turn_chars", "max_zip_members", "max_zip_ratio"]
)
@pytest.mark.parametrize("value", [0, -1, float("nan"), float("inf"), True, "5"])
def test_an_unusable_limit_is_named(name: str, value: Any) -> None:
    with pytest.raises((ValueError, TypeError), match=name):
        ImportLimits(**{name: value})


# Archives


@pytest.mark.parametrize("kind", ["zip", "gz"])
def test_a_bomb_is_refused_before_it_is_inflated(tmp_path: Path, kind: str) -> None:
    bomb = b'[{"role": "user", "content": "' + b"0" * (60 * MIB) + b'"}]'
    path = tmp_path / f"a.{kind}"
    if kind == "zip":
        archive(path, {"conversations.json": bomb})
    else:
        path.write_bytes(gzip.compress(bomb, 9))
    del bomb
    with at_most(20), pytest.raises(HistoryImportError, match="zip bomb"):
        import_history(path, new_memory())


def test_a_zip_that_lies_about_its_sizes_is_refused_while_it_is_read(tmp_path: Path) -> None:
    path = archive(tmp_path / "a.zip", {"conversations.json": as_json("hi") + b" " * (20 * MIB)})
    data = bytearray(path.read_bytes())
    for signature, offset in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        at = data.find(signature) + offset
        data[at : at + 4] = (1000).to_bytes(4, "little")
    path.write_bytes(bytes(data))
    with at_most(20):
        try:
            report = imported(path)
        except HistoryImportError:
            return
    assert report.seen <= 2


def test_a_bomb_beside_a_real_export_does_not_stop_it(tmp_path: Path) -> None:
    archive(tmp_path / "bomb.zip", {"conversations.json": b"[" + b" " * (50 * MIB)})
    document(tmp_path / "real.json", [chatgpt("real")])
    report = imported(tmp_path)
    assert report.imported == 1
    assert "bomb.zip" in report.errors[0]


def test_names_that_lead_out_of_an_archive_write_nothing(tmp_path: Path) -> None:
    inside = tmp_path / "inside"
    inside.mkdir()
    names = [
        "../../evil/conversations.json",
        "/etc/conversations.json",
        "C:\\conversations.json",
        "a/../conversations.json",
    ]
    path = archive(inside / "a.zip", {name: json.dumps([chatgpt(name, key=name)]).encode() for name in names})
    assert sorted(said(path)) == sorted(names)
    assert [entry.name for entry in tmp_path.rglob("*")] == ["inside", "a.zip"]


def test_an_archive_in_an_archive_is_not_opened(tmp_path: Path) -> None:
    inner = archive(tmp_path / "inner.zip", {"conversations.json": as_json("nested")}).read_bytes()
    (tmp_path / "inner.zip").unlink()
    path = archive(tmp_path / "outer.zip", {"inner.zip": inner, "conversations.json": as_json("outer")})
    assert said(path) == ["outer"]


def test_too_many_members_are_refused(tmp_path: Path) -> None:
    path = archive(tmp_path / "a.zip", {f"{number}.json": b"[]" for number in range(30)})
    with pytest.raises(HistoryImportError, match="max_zip_members"):
        import_history(path, new_memory(), limits=ImportLimits(max_zip_members=29))
    with pytest.raises(HistoryImportError, match="max_zip_members"):
        import_history(path, new_memory(), limits=ImportLimits(max_zip_members=2))


def test_archives_in_a_folder_count_together(tmp_path: Path) -> None:
    for name in "abc":
        archive(tmp_path / f"{name}.zip", {f"{number}.json": b"[]" for number in range(20)})
    with pytest.raises(HistoryImportError, match="max_zip_members"):
        import_history(tmp_path, new_memory(), limits=ImportLimits(max_zip_members=30))


def test_an_encrypted_member_is_named_and_the_others_are_read(tmp_path: Path) -> None:
    path = archive(
        tmp_path / "a.zip", {"a.json": as_json("secret"), "b.json": json.dumps([chatgpt("open", key="o")]).encode()}
    )
    data = bytearray(path.read_bytes())
    for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.find(signature) + offset] |= 1
    path.write_bytes(bytes(data))
    memory = new_memory()
    report = imported(path, memory)
    assert contents(memory) == ["open"]
    assert "encrypted" in report.errors[0]


def test_a_damaged_member_keeps_what_came_before_it_and_the_others(tmp_path: Path) -> None:
    talks = [chatgpt(f"{random.Random(n).random()} words", key=f"c{n}") for n in range(3000)]
    path = archive(
        tmp_path / "a.zip",
        {"a.json": json.dumps(talks).encode(), "b.json": json.dumps([chatgpt("whole", key="w")]).encode()},
    )
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0xFF
    path.write_bytes(bytes(data))
    memory = new_memory()
    report = imported(path, memory)
    assert "whole" in contents(memory)
    assert report.imported > 100
    assert len(report.errors) == 1


def test_two_members_of_one_name_are_both_read(tmp_path: Path) -> None:
    path = archive(tmp_path / "a.zip", {"conversations.json": json.dumps([chatgpt("one", key="one")]).encode()})
    with zipfile.ZipFile(path, "a") as file, pytest.warns(UserWarning, match="Duplicate name"):
        file.writestr("conversations.json", json.dumps([chatgpt("two", key="two")]))
    assert said(path) == ["one", "two"]


def test_a_member_without_a_name_is_left_alone(tmp_path: Path) -> None:
    path = archive(tmp_path / "a.zip", {"x": b"nameless", "other.json": as_json("real")})
    data = bytearray(path.read_bytes())
    # A NUL ends a name, so in the directory this one is empty.
    data[data.find(b"PK\x01\x02") + 46] = 0
    path.write_bytes(bytes(data))
    assert said(path) == ["real"]


def test_a_link_in_an_archive_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as file:
        link = zipfile.ZipInfo("conversations.json")
        link.external_attr = 0o120777 << 16
        file.writestr(link, "/etc/passwd")
        file.writestr("other.json", as_json("real"))
    report = imported(path)
    assert report.imported == 1
    assert "link" in report.errors[0]


@pytest.mark.parametrize("data", [b"PK\x03\x04", b"PK\x05\x06" + b"\x00" * 10, b"PK\x03\x04" + os.urandom(4000)])
def test_what_only_begins_like_an_archive_is_an_error(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "a.zip"
    path.write_bytes(data)
    with pytest.raises(HistoryImportError, match="zip"):
        imported(path)


# Folders


def test_links_in_a_folder_are_not_followed(tmp_path: Path) -> None:
    outside = document(tmp_path / "outside.json", [chatgpt("outside")])
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "link.json").symlink_to(outside)
    (folder / "loop").symlink_to(folder, target_is_directory=True)
    document(folder / "real.json", [chatgpt("real", key="r")])
    memory = new_memory()
    report = imported(folder, memory)
    assert contents(memory) == ["real"]
    assert "link.json" in report.errors[0]


def test_a_folder_that_is_itself_a_link_is_read(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    document(folder / "real.json", [chatgpt("real")])
    (tmp_path / "link").symlink_to(folder, target_is_directory=True)
    assert said(tmp_path / "link") == ["real"]


def test_pipes_and_devices_are_not_opened(tmp_path: Path) -> None:
    document(tmp_path / "real.json", [chatgpt("real")])
    os.mkfifo(tmp_path / "pipe.json")
    assert said(tmp_path) == ["real"]
    with pytest.raises(HistoryImportError, match="neither a regular file nor a folder"):
        imported(tmp_path / "pipe.json")


@contextmanager
def nobody_special() -> Iterator[None]:
    """Root may read any file, so where the tests run as root they do this as another user."""
    is_root = os.geteuid() == 0
    if is_root:
        os.seteuid(65534)
    try:
        yield
    finally:
        if is_root:
            os.seteuid(0)


def test_a_file_that_may_not_be_read_is_named_and_the_others_are_read() -> None:
    # In a folder of its own: another user cannot enter those that pytest makes for root.
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        document(folder / "real.json", [chatgpt("real")]).chmod(0o644)
        document(folder / "shut.json", [chatgpt("shut", key="s")]).chmod(0)
        with nobody_special():
            report = imported(folder)
    assert report.imported == 1
    assert "shut.json" in report.errors[0]


def test_a_file_that_grows_while_it_is_read_is_read_as_it_was(tmp_path: Path) -> None:
    path = lines(tmp_path / "a.jsonl", [message(f"line {n}") for n in range(1000)])

    def grow(session: Any) -> None:
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(message("later")) + "\n")

    memory = new_memory()
    assert imported(path, memory, on_session=grow).imported == 1000
    assert imported(path, memory).imported == 1


# Credentials in errors


def test_neither_content_nor_credentials_stand_in_a_report(tmp_path: Path) -> None:
    secret = "hunter2-" + "k3Jd9sLq2WvT7xZb5Nc"
    (tmp_path / "a.jsonl").write_text(json.dumps(message("ok")) + "\n{" + secret, encoding="utf-8")
    (tmp_path / "b.json").write_text(f'[{{"role": "user", "content": "{secret}', encoding="utf-8")
    report = imported(tmp_path)
    assert report.malformed + len(report.errors) >= 2
    assert secret not in json.dumps(report.to_dict())
