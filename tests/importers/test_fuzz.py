"""Whatever the bytes, an import ends with a report that adds up or with an error that names the file."""

from __future__ import annotations

import gzip
import json
import pickle
from io import BytesIO
from typing import Any
from zipfile import ZipFile

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.importers.fuzzing import CHOICES, NAMES, try_import
from tests.importers.test_chatgpt import conversation as chatgpt
from tests.importers.test_claude_ai import conversation as claude
from tests.importers.test_claude_code import assistant, queued, user
from tests.importers.test_mem0 import fact

SEEDS: list[Any] = [
    [chatgpt("a", "b"), chatgpt("c", key="d")],
    [claude("a", "b", "c")],
    [user("u", "a"), assistant("v", "b", "u"), queued("w", "c", "v")],
    {"results": [fact(), fact("x", "y")], "relations": []},
    [{"role": "user", "content": [{"type": "text", "text": "a"}], "timestamp": 1}, {"messages": [{"role": "ai"}]}],
    [{"format": "llmslim-memory", "version": 1}, {"id": "a", "role": "user", "content": "b", "user_id": "c"}],
]

odd = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
odd |= st.lists(odd, max_size=2) | st.dictionaries(st.text(max_size=4), odd, max_size=2)


def mutated(value: Any) -> st.SearchStrategy[Any]:
    """Values like ``value`` in which anything may have become something of another type, or gone."""
    if isinstance(value, dict):
        kept = {key: mutated(entry) for key, entry in value.items()}
        return st.one_of(*([st.fixed_dictionaries({}, optional=kept)] * 6), st.fixed_dictionaries(kept), odd)
    if isinstance(value, list):
        return st.one_of(*([st.tuples(*map(mutated, value)).map(list)] * 8), odd)
    return st.one_of(*([st.just(value)] * 12), odd)


def packed(value: Any, form: str) -> bytes:
    whole = json.dumps(value).encode()
    if form == "lines" and isinstance(value, list):
        return b"\n".join(json.dumps(entry).encode() for entry in value)
    if form == "gzip":
        return gzip.compress(whole)
    if form == "zip":
        buffer = BytesIO()
        with ZipFile(buffer, "w") as archive:
            archive.writestr("conversations.json", whole)
        return buffer.getvalue()
    return whole


@settings(max_examples=120, deadline=None)
@given(
    value=st.sampled_from(SEEDS).flatmap(mutated),
    form=st.sampled_from(["whole", "lines", "gzip", "zip"]),
    chosen=st.sampled_from(CHOICES),
    tools=st.booleans(),
)
def test_wrong_types_at_any_field_are_counted(value: Any, form: str, chosen: str, tools: bool) -> None:
    try_import(packed(value, form), format=chosen, tools=tools)


@settings(max_examples=120, deadline=None)
@given(
    seed=st.sampled_from([packed(seed, form) for seed in SEEDS for form in ("whole", "lines", "gzip", "zip")]),
    edits=st.lists(st.tuples(st.integers(0, 5000), st.binary(max_size=6), st.integers(0, 40)), min_size=1, max_size=4),
    name=st.sampled_from(NAMES),
)
def test_damaged_bytes_are_counted_or_refused(seed: bytes, edits: list[tuple[int, bytes, int]], name: str) -> None:
    for at, inserted, cut in edits:
        at %= len(seed) + 1
        seed = seed[:at] + inserted + seed[at + cut :]
    try_import(seed, name=name)


@settings(max_examples=60, deadline=None)
@given(data=st.binary(max_size=200), name=st.sampled_from(NAMES), chosen=st.sampled_from(CHOICES))
def test_any_bytes_are_counted_or_refused(data: bytes, name: str, chosen: str) -> None:
    try_import(data, name=name, format=chosen)


@settings(max_examples=60, deadline=None)
@given(data=st.binary(max_size=60), at=st.integers(0, 200), protocol=st.integers(0, 5))
def test_a_damaged_pickle_is_counted_or_refused(data: bytes, at: int, protocol: int) -> None:
    whole = pickle.dumps(({"p": {"data": "x", "user_id": "u"}}, {0: "p"}), protocol)
    try_import(whole[:at] + data + whole[at + len(data) :], name="a.pkl")
