"""The scanner cuts JSON where a parser would, whatever the chunks, and takes time in proportion to the text."""

from __future__ import annotations

import json
from io import BytesIO
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from llmslim_memory import ImportLimits
from llmslim_memory.importers.scan import HEADER, HEADER_END, RECORD, Piece, is_too_deep, scan

LIMITS = ImportLimits()

scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=12)
awkward = st.sampled_from(['"', "\\", '\\"', "[", "]", "{", "}", ",", ":", '\\\\"', "[{]}", '","', "\u2028", "é", "\n"])
values = st.recursive(
    scalars | awkward | st.lists(awkward, max_size=4).map("".join),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6) | awkward, inner, max_size=4),
    max_leaves=12,
)
structures = values.filter(lambda value: isinstance(value, list | dict))


class Chunked(BytesIO):
    """A stream that gives a few bytes at a time."""

    def __init__(self, data: bytes, size: int) -> None:
        super().__init__(data)
        self.size = size

    def read1(self, size: int | None = -1) -> bytes:
        return super().read1(self.size)


def pieces(
    text: str | bytes, size: int = 1 << 16, limits: ImportLimits = LIMITS, key: str | None = None
) -> list[Piece]:
    data = text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
    return list(scan(Chunked(data, size), limits, key=key))


def records(found: list[Piece]) -> list[Any]:
    return [json.loads(bytes(piece.data)) for piece in found if piece.kind == RECORD]


@settings(max_examples=150, deadline=None)
@given(
    value=st.lists(values, max_size=6),
    size=st.integers(1, 40),
    indent=st.sampled_from([None, 0, 2]),
    ascii_only=st.booleans(),
)
def test_the_elements_of_an_array_are_found_whatever_the_chunks(
    value: list[Any], size: int, indent: int | None, ascii_only: bool
) -> None:
    found = pieces(json.dumps(value, indent=indent, ensure_ascii=ascii_only), size)
    assert records(found) == [entry for entry in value if isinstance(entry, list | dict)]
    assert len(found) == len(value)


@settings(max_examples=60, deadline=None)
@given(value=st.lists(structures, max_size=4), before=values, after=values, size=st.integers(1, 40))
def test_the_elements_of_a_wrapped_array_are_found_and_so_is_what_is_around_it(
    value: list[Any], before: Any, after: Any, size: int
) -> None:
    found = pieces(json.dumps({"before": before, "results": value, "after": after}), size, key="results")
    assert records(found) == value
    (end,) = [piece for piece in found if piece.kind == HEADER_END]
    assert json.loads(bytes(end.data)) == {"before": before, "results": [], "after": after}
    (start,) = [piece for piece in found if piece.kind == HEADER]
    assert json.loads(bytes(start.data)) == {"before": before, "results": []}


@settings(max_examples=60, deadline=None)
@given(value=st.lists(structures.filter(lambda v: isinstance(v, dict)), max_size=4), size=st.integers(1, 40))
def test_objects_one_after_another_are_found(value: list[Any], size: int) -> None:
    assert records(pieces("\n".join(map(json.dumps, value)), size)) == value


@settings(max_examples=60, deadline=None)
@given(value=structures)
def test_the_depth_is_that_of_the_parsed_value(value: Any) -> None:
    def depth(entry: Any) -> int:
        inner = entry.values() if isinstance(entry, dict) else entry if isinstance(entry, list) else None
        return 0 if inner is None else 1 + max(map(depth, inner), default=0)

    text = json.dumps(value).encode()
    assert not is_too_deep(text, depth(value))
    assert is_too_deep(text, depth(value) - 1)


@settings(max_examples=150, deadline=None)
@given(
    data=st.binary(max_size=60) | st.text('[]{}",:\\ a1', max_size=60).map(str.encode),
    size=st.integers(1, 20),
    keyed=st.booleans(),
)
def test_any_bytes_are_cut_the_same_whatever_the_chunks_and_never_fail_otherwise(
    data: bytes, size: int, keyed: bool
) -> None:
    def run(size: int) -> tuple[list[tuple[str, bytes]], bool]:
        found: list[tuple[str, bytes]] = []
        try:
            for piece in scan(Chunked(data, size), LIMITS, key="a" if keyed else None):
                found.append((piece.kind, bytes(piece.data)))
        except EOFError:
            return [entry for entry in found if entry[0] == RECORD], True
        return [entry for entry in found if entry[0] == RECORD], False

    assert run(size) == run(1 << 16)


def test_a_record_that_is_too_large_is_dropped_while_it_is_read() -> None:
    limits = ImportLimits(max_record_bytes=1000)
    text = '[{"a": 1}, {"a": "' + "x" * 500_000 + '"}, {"a": 2}]'
    found = pieces(text, 4096, limits)
    assert [piece.kind for piece in found] == [RECORD, "too_large", RECORD]
    assert found[1].data == b""


def test_a_record_that_is_too_deep_is_dropped_before_it_is_parsed() -> None:
    limits = ImportLimits(max_depth=10)
    for deep in ("[" * 11 + "]" * 11, '{"a":' * 11 + "1" + "}" * 11):
        kinds = [piece.kind for piece in pieces(f'[{{"a": 1}}, {deep}, {"[" * 10 + "]" * 10}]', 7, limits)]
        assert kinds == [RECORD, "too_deep", RECORD]


@pytest.mark.parametrize("text", ['[{"a": 1}, {"b"', '[{"a": 1}', '[{"a": 1}, {"a": "', '[{"a": 1}, "\\'])
def test_text_that_ends_in_the_middle_says_so_after_what_came_before(text: str) -> None:
    scanning = scan(BytesIO(text.encode()), LIMITS)
    assert [next(scanning).kind, next(scanning).kind] == [RECORD, "malformed"]
    with pytest.raises(EOFError):
        next(scanning)
