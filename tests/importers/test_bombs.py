"""Files made to exhaust an importer, at the sizes that do: each ends in seconds, in a process that may take little."""

from __future__ import annotations

import gzip
import json
import struct
import subprocess
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.importers.helpers import lines, message
from tests.importers.test_chatgpt import conversation as chatgpt

MIB = 1 << 20
NESTED = 10_000_000
FIRST, LAST = json.dumps(message("first")), json.dumps(message("last"))

BOUNDED = """
import json, sys
from llmslim_memory import HistoryImportError, ImportLimits, Memory, import_history

source, small, room, limits = sys.argv[1:]
memory = Memory(encoding=len)
import_history(small, memory)
if sys.platform == "linux":
    import resource
    now = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (now + (int(room) << 20),) * 2)
try:
    report = import_history(source, memory, limits=ImportLimits(**json.loads(limits)))
    print(json.dumps(report.to_dict()))
except HistoryImportError as error:
    print(json.dumps({"refused": str(error)}))
"""


def bounded(source: Path, *, mebibytes: int, **limits: Any) -> dict[str, Any]:
    """Import ``source`` in a process that fails when it takes more memory than this on top of what any import takes."""
    small = lines(source.parent / "small.jsonl", [message("small")])
    command = [sys.executable, "-c", BOUNDED, str(source), str(small), str(mebibytes), json.dumps(limits)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    if "seen" in found:
        assert found["seen"] == found["imported"] + found["duplicates"] + found["skipped_total"] + found["malformed"]
    return found


OPEN_TEXT = '{"role": "user", "content": "'


def write(path: Path, *pieces: str) -> Path:
    with path.open("w", encoding="utf-8") as file:
        file.writelines(pieces)
    return path


@pytest.mark.parametrize("opening", ["[", '{"a":'])
def test_ten_million_brackets_that_never_close_keep_what_came_before(tmp_path: Path, opening: str) -> None:
    path = write(tmp_path / "a.json", "[", FIRST, ",", opening * NESTED)
    report = bounded(path, mebibytes=40)
    assert (report["imported"], report["malformed"], report["ok"]) == (1, 1, False)


def test_ten_million_brackets_that_close_cost_one_record(tmp_path: Path) -> None:
    path = write(tmp_path / "a.json", "[", FIRST, ",", "[" * NESTED, "]" * NESTED, ",", LAST, "]")
    report = bounded(path, mebibytes=40)
    assert (report["imported"], report["skipped"]) == (2, {"too_deep": 1})


@pytest.mark.parametrize("closing", ["", "]"])
def test_ten_million_brackets_on_a_line_cost_that_line(tmp_path: Path, closing: str) -> None:
    path = write(tmp_path / "a.jsonl", FIRST, "\n", "[" * NESTED, closing * NESTED, "\n", LAST, "\n")
    report = bounded(path, mebibytes=100)
    assert (report["imported"], report["skipped"]) == (2, {"too_large": 1})


def test_ten_million_brackets_alone_are_refused(tmp_path: Path) -> None:
    assert "refused" in bounded(write(tmp_path / "a.json", "[" * NESTED), mebibytes=40)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (FIRST + "\n" + OPEN_TEXT, '"}\n' + LAST),
        ("[" + FIRST + "," + OPEN_TEXT, '"},' + LAST + "]"),
        (FIRST + "\n", "\n" + LAST),
    ],
    ids=["a line", "an element", "a line of NUL"],
)
def test_two_gibibytes_without_a_break_are_read_in_pieces_and_cost_one_record(
    tmp_path: Path, before: str, after: str
) -> None:
    path = write(tmp_path / "a.json", before)
    with path.open("r+b") as file:
        # What is skipped takes no room on disk and reads as NUL.
        file.seek(2 << 30)
        file.write(after.encode())
    report = bounded(path, mebibytes=280, max_file_bytes=3 << 30)
    assert (report["imported"], report["skipped"]) == (2, {"too_large": 1})


def test_a_gzip_file_that_would_inflate_to_ten_gibibytes_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(gzip.compress(b"\n" * (16 * MIB)) * 640)
    assert "zip bomb" in bounded(path, mebibytes=20)["refused"]


def deflated(block: bytes, times: int) -> Iterator[bytes]:
    """A deflate stream of the block, so many times over; as each is flushed whole, it is compressed only once."""
    packer = zlib.compressobj(9, wbits=-15)
    once = packer.compress(block) + packer.flush(zlib.Z_FULL_FLUSH)
    for _ in range(times):
        yield once
    yield packer.flush()


def zip_of(path: Path, body: bytes, size: int, *, entries: int = 1) -> Path:
    """An archive of one body; its directory names it so many times, as overlapping bombs do."""
    name = b"conversations.json"
    common = struct.pack("<HHHHHLLLHH", 20, 0, 8, 0, 33, 0, len(body), size, len(name), 0)
    local = b"PK\x03\x04" + common + name + body
    entry = b"PK\x01\x02\x14\x03" + common + struct.pack("<HHHLL", 0, 0, 0, 0, 0) + name
    end = struct.pack("<HHHHLLH", 0, 0, entries % 65_536, entries % 65_536, len(entry) * entries, len(local), 0)
    path.write_bytes(local + entry * entries + b"PK\x05\x06" + end)
    return path


@pytest.mark.parametrize("said", [4000 * MIB, 1000 * MIB])
def test_a_zip_that_would_inflate_to_four_gibibytes_is_refused(tmp_path: Path, said: int) -> None:
    body = b"".join(deflated(b" " * (16 * MIB), 250))
    refused = bounded(zip_of(tmp_path / "a.zip", body, said), mebibytes=30)["refused"]
    assert "max_file_bytes" in refused if said == 4000 * MIB else "zip bomb" in refused


def test_a_zip_that_says_it_is_small_is_read_only_as_far_as_it_says(tmp_path: Path) -> None:
    body = b"".join(deflated(b" " * (16 * MIB), 250))
    assert "refused" in bounded(zip_of(tmp_path / "a.zip", body, 4 * MIB), mebibytes=30)


def test_an_archive_whose_entries_share_one_body_is_read_within_bounds(tmp_path: Path) -> None:
    body = b"".join(deflated(json.dumps([chatgpt("once")]).encode(), 1))
    report = bounded(zip_of(tmp_path / "a.zip", body, 0, entries=5000), mebibytes=60)
    assert report.get("imported", 0) <= 1


def test_a_directory_of_a_million_entries_is_refused_before_it_is_read(tmp_path: Path) -> None:
    assert "members" in bounded(zip_of(tmp_path / "a.zip", b"", 0, entries=1_000_000), mebibytes=20)["refused"]


def test_archives_within_archives_are_not_opened_however_deep(tmp_path: Path) -> None:
    inner = zip_of(tmp_path / "a.zip", b"", 0).read_bytes()
    for _ in range(50):
        body = b"".join(deflated(inner, 1))
        inner = zip_of(tmp_path / "a.zip", body, len(inner)).read_bytes()
    assert "refused" in bounded(tmp_path / "a.zip", mebibytes=20)
