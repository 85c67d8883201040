"""BM25 checked by hand, and against a reference implementation."""

from __future__ import annotations

import math
import random

import bm25s
import numpy as np
import pytest

from llmslim_memory.ranking.bm25 import idf, saturate
from llmslim_memory.ranking.pools import Occurrences, Options, Pool, add_up

WORDS = ("tea", "train", "rain", "green", "late", "walk", "cake", "bus")


def scores(documents: list[list[str]], query: list[str], *, k1: float, b: float) -> list[float]:
    lengths = np.array([len(document) for document in documents])
    pool = Pool(lengths, int(lengths.sum()), len(documents), k1=k1, b=b)
    for word in query:
        counts = [document.count(word) for document in documents]
        docs = np.flatnonzero(counts)
        only = np.zeros(len(docs), dtype=int)
        pool.earn(Occurrences(only, docs, np.array(counts, dtype=float)[docs]), Options(np.array([0]), [1.0]))
    return pool.scores.tolist()


def test_a_small_collection_scores_as_worked_out_by_hand() -> None:
    documents = [["green", "tea"], ["tea", "tea", "cake", "cake"], ["late", "train", "rain"]]
    # N = 3, df(tea) = 2, average length 3; idf = ln(1 + 1.5 / 2.5) = 0.470004
    # d0: tf 1, norm 1.2 * (0.25 + 0.75 * 2 / 3) = 0.9; d1: tf 2, norm 1.2 * (0.25 + 0.75 * 4 / 3) = 1.5
    found = scores(documents, ["tea"], k1=1.2, b=0.75)
    assert found == pytest.approx([0.470004 / 1.9, 0.470004 * 2 / 3.5, 0.0], abs=1e-6)


def test_a_rare_term_weighs_more_and_no_weight_is_negative() -> None:
    assert idf(1, 100) > idf(50, 100) > idf(100, 100) > 0
    assert idf(0, 0) == pytest.approx(math.log(2))


def test_repetition_counts_less_and_less() -> None:
    gains = np.diff(saturate(np.arange(6.0), np.ones(6)))
    assert (gains[1:] < gains[:-1]).all()
    assert (gains > 0).all()


def test_scores_equal_those_of_bm25s() -> None:
    rng = random.Random(7)
    documents = [rng.choices(WORDS, k=rng.randint(1, 30)) for _ in range(60)]
    reference = bm25s.BM25(method="lucene", k1=1.2, b=0.75)
    reference.index(documents, show_progress=False)
    for query in (["tea"], ["tea", "train"], ["cake", "bus", "walk", "rain"]):
        assert scores(documents, query, k1=1.2, b=0.75) == pytest.approx(reference.get_scores(query), rel=1e-5)


def test_a_document_earns_the_best_of_what_stands_for_a_term() -> None:
    pool = Pool(np.array([4, 4]), 8, 2, k1=0.9, b=0.7)
    found = Occurrences(np.array([0, 1, 1]), np.array([0, 0, 1]), np.array([1.0, 1.0, 1.0]))
    assert pool.earn(found, Options(np.array([0, 0]), [1.0, 0.5])).docs.tolist() == [0, 1]
    alone = Pool(np.array([4, 4]), 8, 2, k1=0.9, b=0.7)
    alone.earn(Occurrences(np.array([0]), np.array([0]), np.array([1.0])), Options(np.array([0]), [1.0]))
    assert pool.scores[0] == alone.scores[0]
    assert 0 < pool.scores[1] < pool.scores[0]


def test_equal_neighbouring_keys_are_added_up() -> None:
    keys, values = add_up(np.array([1, 1, 4, 6, 6]), np.array([1.0, 2.0, 3.0, 4.0, 5.0]))
    assert (keys.tolist(), values.tolist()) == ([1, 4, 6], [3.0, 3.0, 9.0])
