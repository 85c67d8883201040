"""An analysis comes back as it was written, and damage is noticed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llmslim_memory.ranking.codec import CorruptAnalysisError, TurnAnalysis, decode, encode, make_analysis

NUMBER = st.integers(0, 2**32 - 1)


@st.composite
def analyses(draw: st.DrawFn) -> TurnAnalysis:
    counts = draw(st.lists(st.dictionaries(NUMBER, st.integers(1, 400), max_size=6), min_size=1, max_size=4))
    spans = [(10 * at, 10 * at + 9) for at in range(len(counts))]
    marks = draw(st.lists(st.tuples(st.sampled_from(["request", "denial"]), NUMBER, NUMBER), max_size=3))
    return make_analysis(spans, [7] * len(spans), counts, speaker=draw(NUMBER), statements=marks, content=draw(NUMBER))


def values(analysis: TurnAnalysis) -> list[object]:
    arrays = (analysis.passages, analysis.terms, analysis.tfs)
    return [*(array.tolist() for array in arrays), analysis.speaker, analysis.statements, analysis.content]


@given(analyses())
def test_an_analysis_comes_back_as_it_was_written(analysis: TurnAnalysis) -> None:
    assert values(decode(encode(analysis, "o200k_base"), "o200k_base")) == values(analysis)


@given(analyses(), st.data())
def test_a_changed_byte_is_noticed(analysis: TurnAnalysis, data: st.DataObject) -> None:
    written = bytearray(encode(analysis, "o200k_base"))
    written[data.draw(st.integers(0, len(written) - 1))] ^= data.draw(st.integers(1, 255))
    with pytest.raises(CorruptAnalysisError):
        decode(bytes(written), "o200k_base")


@given(st.binary(max_size=200))
def test_other_bytes_are_no_analysis(data: bytes) -> None:
    with pytest.raises(CorruptAnalysisError):
        decode(data, "o200k_base")


def test_token_counts_of_another_encoding_are_not_taken() -> None:
    written = encode(make_analysis([(0, 3)], [1], [{5: 1}]), "o200k_base")
    with pytest.raises(CorruptAnalysisError):
        decode(written, "cl100k_base")


def test_a_count_above_255_is_kept_as_255() -> None:
    assert make_analysis([(0, 3)], [1], [{5: 1000}]).tfs.tolist() == [255]
