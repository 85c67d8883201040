"""Relevance by meaning joins the lexical ranking, and a scorer that fails says so."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, timedelta
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from llmslim_memory import InMemoryStore
from llmslim_memory.errors import MissingExtraError, ScorerError
from llmslim_memory.indexing import ScopeIndexes
from llmslim_memory.ranking import fusion, semantic
from llmslim_memory.tokens import make_counter
from llmslim_memory.types import Hit
from tests.ranking.conftest import SCOPE, START, turn, words

TURNS = ["My sister bakes bread", "The car broke down on the motorway", "I enjoy long walks", "Rain again"]


def hits(relevance: object, question: str, contents: Sequence[str] = TURNS) -> list[Hit]:
    store = InMemoryStore()
    store.add([turn(n, text, run=f"r{n}") for n, text in enumerate(contents)])
    return found(ScopeIndexes(store, make_counter(words), cache_bytes=1), relevance, question)


def found(indexes: ScopeIndexes, relevance: object, question: str) -> list[Hit]:
    history = indexes.open(SCOPE)
    ranking = indexes.rank(history, question, now=START + timedelta(days=9), tz=UTC, relevance=relevance)
    return indexes.hits(history, ranking, 10)


def test_the_small_model_finds_what_shares_no_word_with_the_question() -> None:
    best = hits("semantic", "Which vehicle trouble did I have?")[0]
    assert best.item.content == "The car broke down on the motorway"
    assert best.item.content not in [hit.item.content for hit in hits("lexical", "vehicular trouble")]
    assert hits("semantic", "automobile trouble")[0].item.content == best.item.content


def test_the_small_model_reads_a_text_alike_whatever_it_read_before() -> None:
    one, other = semantic.MiniLM(), semantic.MiniLM()
    other.read("something else, and much longer than the text that comes after it " * 5)
    first, second = one.read("green tea"), other.read("green tea")
    assert (first.whole == second.whole).all()
    assert (first.pieces == second.pieces).all()
    assert np.linalg.norm(one.read("").whole) == pytest.approx(1, abs=1e-5)


def test_only_words_that_tell_of_a_topic_are_compared() -> None:
    model = semantic.MiniLM()
    assert model.read("What is the tea, then?").telling.tolist() == [False, False, False, False, True] + [False] * 4
    assert model.read("What was it?").telling.any()


def test_meanings_are_compared_word_by_word_too() -> None:
    scorer = semantic.MeaningScorer(semantic.MiniLM().read)
    long = (
        "The weather was fine, we walked along the river, had lunch, and later my cat slept in the sun all afternoon."
    )
    named, other, same = scorer("cat", [long, long.replace("cat", "brother"), "cat"])
    assert other < named < same
    assert same == pytest.approx(1, abs=1e-2)


def test_a_long_text_has_to_be_nearer_word_by_word() -> None:
    vector = np.array([0.6, 0.8], dtype=np.float32)

    def read(text: str) -> semantic.Meaning:
        count = len(text.split())
        return semantic.Meaning(vector, np.tile(vector, (count, 1)).astype(np.float16), np.ones(count, dtype=bool))

    texts = ["word " * count for count in (1, semantic.LONG, 2 * semantic.LONG, 4 * semantic.LONG)]
    short, longest_free, longer, longest = semantic.MeaningScorer(read)("cat", texts)
    assert short == longest_free == pytest.approx(1, abs=1e-2)
    assert short - longer == pytest.approx(longer - longest) == pytest.approx(semantic.LENGTHY * np.log(2))


def likes_cars(text: str) -> semantic.Vector:
    """A vector of a text: the first number for cars, the second for whatever else."""
    return np.array([1.0, 0.0] if "car" in text or "vehicle" in text else [0.0, 1.0], dtype=np.float32)


def by_vectors(monkeypatch: pytest.MonkeyPatch, sessions: Sequence[Sequence[str]]) -> dict[tuple[str, str], float]:
    """The score of each text by its session, for a question after vehicles that shares no word with any."""
    monkeypatch.setattr("llmslim_memory.indexing.make_scorer", lambda relevance: semantic.EmbeddingScorer(likes_cars))
    store = InMemoryStore()
    said = [(f"r{run}", text) for run, texts in enumerate(sessions) for text in texts]
    store.add([turn(n, text, run=run) for n, (run, text) in enumerate(said)])
    best = found(ScopeIndexes(store, make_counter(words), cache_bytes=1), "semantic", "vehicle")
    return {(str(hit.item.run_id), hit.item.content): hit.score for hit in best}


def test_a_turn_is_found_by_what_the_turns_around_it_mean(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fusion, "SESSION", 0.0)
    scores = by_vectors(monkeypatch, [["A car, you say?", "Yes, red", "Fine", "Good night"], ["Some tea?", "Yes, red"]])
    assert scores["r0", "Yes, red"] > scores["r0", "Fine"] > scores.get(("r0", "Good night"), 0.0)
    assert ("r1", "Yes, red") not in scores


def test_the_best_turn_of_a_session_helps_all_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    between = ["One", "Two", "Three", "Four"]
    scores = by_vectors(monkeypatch, [["The car", *between, "Good night"], ["The tea", *between, "Good night"]])
    assert scores["r0", "Good night"] > scores.get(("r1", "Good night"), 0.0)


def test_what_a_turn_lends_is_shared_by_its_passages_and_stays_in_its_session() -> None:
    links, sessions = np.array([0, 1, 1, 2, 3, 4]), np.array([0, 0, 0, 0, 1, 1], dtype=np.int32)
    lent = fusion._lent(links, sessions)
    next_to, two_away = fusion.LENT
    assert lent[0].tolist() == [1.0, next_to / 2, next_to / 2, two_away, 0.0, 0.0]
    assert lent[1].tolist() == [next_to, 1.0, 0.0, next_to, 0.0, 0.0]
    assert lent[4].tolist() == [0.0, 0.0, 0.0, 0.0, 1.0, next_to]


def test_scores_of_meaning_in_context_stay_between_0_and_1(monkeypatch: pytest.MonkeyPatch) -> None:
    scores = by_vectors(monkeypatch, [["A vehicle", "The car"], ["The tea"], ["My vehicle is a car"]])
    assert all(0 < score <= 1 for score in scores.values())
    assert scores["r2", "My vehicle is a car"] > scores.get(("r1", "The tea"), 0.0)


def test_what_is_remembered_of_passages_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []

    def embed(text: str) -> semantic.Vector:
        read.append(text)
        return np.ones(100, dtype=np.float32)

    monkeypatch.setattr(semantic, "MAX_CACHED_BYTES", 800)
    remembered = semantic.Remembered(embed)
    for text in ("a", "b", "b", "c", "b", "a"):
        remembered(text)
    assert read == ["a", "b", "c", "a"]


def test_a_passage_is_embedded_once() -> None:
    asked: list[str] = []

    def embed(text: str) -> semantic.Vector:
        asked.append(text)
        return np.ones(3, dtype=np.float32)

    scorer = semantic.EmbeddingScorer(embed)
    scorer("question", TURNS)
    scorer("question", TURNS)
    assert len(asked) == len(TURNS) + 1


def test_a_callers_scorer_is_joined_with_the_lexical_ranking() -> None:
    def likes_rain(query: str, texts: Sequence[str]) -> list[float]:
        return [float("Rain" in text) for text in texts]

    best = [hit.item.content for hit in hits(likes_rain, "bread of my sister")]
    assert best[:2] == ["My sister bakes bread", "Rain again"]
    assert hits(likes_rain, "zxqv plorf")[0].item.content == "Rain again"
    assert hits(lambda query, texts: [0.0] * len(texts), "zxqv plorf") == []


def test_cost_does_not_grow_with_the_history() -> None:
    sizes: list[int] = []

    def scorer(query: str, texts: Sequence[str]) -> list[float]:
        sizes.append(len(texts))
        return [0.0] * len(texts)

    hits(scorer, "walks", [f"walks number {n}" for n in range(3 * fusion.MAX_SCORED)])
    assert sizes == [fusion.MAX_SCORED]


def test_scores_stay_between_0_and_1_and_in_order() -> None:
    scores = [hit.score for hit in hits(lambda q, texts: range(len(texts)), "sister walks car rain")]
    assert scores == sorted(scores, reverse=True)
    assert all(0 < score <= 1 for score in scores)


def _raises(query: str, texts: Sequence[str]) -> list[float]:
    raise RuntimeError("secret text")


@pytest.mark.parametrize(
    ("scorer", "says"),
    [
        (_raises, "RuntimeError"),
        (lambda q, texts: [float("nan")] * len(texts), "NaN"),
        (lambda q, texts: [float("inf")] * len(texts), "infinite"),
        (lambda q, texts: [1.0], "1 scores for 4 texts"),
        (lambda q, texts: ["x"] * len(texts), "one number a text"),
        (lambda q, texts: None, "one number a text"),
    ],
)
def test_a_scorer_that_fails_is_a_clear_error(scorer: Callable[..., list[float]], says: str) -> None:
    with pytest.raises(ScorerError, match=says) as raised:
        hits(scorer, "walks")
    assert "secret" not in str(raised.value)


@pytest.mark.parametrize(
    ("relevance", "command"),
    [("semantic", r'pip install "llmslim-memory\[semantic\]"'), ("some/model", 'pip install "sentence-transformers"')],
)
def test_a_missing_extra_says_what_to_install(relevance: str, command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(semantic, "find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=command):
        hits(relevance, "walks")


@pytest.mark.parametrize(("name", "is_cross"), [("some/cross-encoder", True), ("some/model", False)])
def test_a_model_of_sentence_transformers_is_used_by_its_kind(
    name: str, is_cross: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    library = ModuleType("sentence_transformers")

    class CrossEncoder:
        def __init__(self, name: str) -> None:
            assert is_cross

        def predict(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
            return [float("Rain" in text) for _, text in pairs]

    class SentenceTransformer:
        def __init__(self, name: str) -> None:
            assert not is_cross

        def encode(self, text: str, *, normalize_embeddings: bool) -> list[float]:
            return [1.0, 0.0] if "Rain" in text or "wet" in text else [0.0, 1.0]

    vars(library).update(CrossEncoder=CrossEncoder, SentenceTransformer=SentenceTransformer)
    monkeypatch.setitem(sys.modules, "sentence_transformers", library)
    monkeypatch.setattr(semantic, "find_spec", lambda name: True)
    assert hits(name, "wet outside")[0].item.content == "Rain again"


def test_turns_that_may_not_be_shown_are_not_scored() -> None:
    store = InMemoryStore()
    store.add([turn(0, "tea one"), replace(turn(1, "tea two"), user_id="bob"), turn(2, "tea three")])
    seen: list[str] = []

    def scorer(query: str, texts: Sequence[str]) -> list[float]:
        seen.extend(texts)
        return [1.0] * len(texts)

    indexes = ScopeIndexes(store, make_counter(words), cache_bytes=1)
    history = indexes.open(SCOPE, exclude=["t2"])
    indexes.rank(history, "tea", now=START, tz=UTC, relevance=scorer)
    assert seen == ["tea one"]
