"""Counts the model tokens that a text costs."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property, lru_cache
from operator import index
from typing import TYPE_CHECKING, NamedTuple, Protocol, runtime_checkable

from llmslim_memory.errors import InvalidTypeError, InvalidValueError
from llmslim_memory.vocabulary import load_encoding

if TYPE_CHECKING:
    from tiktoken import Encoding

DEFAULT_ENCODING = "o200k_base"
CHARS_PER_TOKEN = 4
MAX_TOKENS = 2**31 - 1
"""The most tokens that a text may take: what the columns of an index hold."""

# tiktoken gives up (its regex engine panics) on about a million blanks in a row, so longer text is counted in chunks.
CHUNK_CHARS = 100_000
# A cut inside a run can save up to 3 tokens (measured over random runs); this much is added for every such cut.
CUT_MARGIN = 16
# Every encoding ends a piece after a letter that blank space or one of these signs follows: a cut there is exact.
_SAFE_CUT = re.compile(r"[^\W\d_](?=[\s.,;:!?…。，、！？；：])")
_SAFE_CUT_REACH = 1_000
_LAST_CUT_REACH = 80
"""The last safe cut of a text is looked for so close to its end; one that is missed costs time, not exactness."""
REMEMBERED = 4_096
REMEMBERED_CHARS = 256
"""The counts of so many texts up to this long are kept."""


@runtime_checkable
class TokenCounter(Protocol):
    """Says how many tokens of a model's vocabulary a text takes. Safe to call from several threads.

    ``name`` tells which vocabulary: a tiktoken encoding, ``"estimate"`` (4 characters a token) or ``"custom"``.
    ``exact`` is false for the estimate.
    """

    @property
    def name(self) -> str:
        """Which vocabulary counts."""

    @property
    def exact(self) -> bool:
        """Whether this is a count and not an estimate."""

    def __call__(self, text: str) -> int:
        """How many tokens ``text`` takes; special tokens in it count as the ordinary text they are."""


def make_counter(encoding: str | Callable[[str], int] = DEFAULT_ENCODING) -> TokenCounter:
    """A counter for an encoding, a model or a function of your own.

    The vocabulary is loaded at the first count, from a local copy or by one download, see ``docs/tokens.md``; where
    neither can be had, the counter estimates 4 characters a token and says so by its ``name``.

    Args:
        encoding: A tiktoken encoding (``"o200k_base"``), the name of a model tiktoken knows (``"gpt-4o"``), or a
            function that takes a text and returns its number of tokens.

    Raises:
        ValueError: tiktoken knows no encoding or model of this name.
        TypeError: ``encoding`` is neither a string nor callable.
    """
    if isinstance(encoding, TokenCounter):
        return encoding
    if callable(encoding):
        return CustomCounter(encoding)
    if not isinstance(encoding, str):
        raise InvalidTypeError(f"encoding must be a name or a function, not {type(encoding).__name__}")
    return TiktokenCounter(_encoding_name(encoding))


def _encoding_name(name: str) -> str:
    import tiktoken

    if name in tiktoken.list_encoding_names():
        return name
    try:
        return tiktoken.encoding_name_for_model(name)
    except KeyError:
        known = ", ".join(tiktoken.list_encoding_names())
        raise InvalidValueError(
            f"encoding {name!r} is neither an encoding of tiktoken ({known}) nor a model it knows: "
            "pass one of these, or a function that counts the tokens of a text"
        ) from None


def estimate_tokens(text: str) -> int:
    """A rough count that needs no vocabulary: 4 characters a token, rounded up."""
    return -(-len(text) // CHARS_PER_TOKEN)


class TiktokenCounter:
    """Counts with a tiktoken encoding, or by the estimate where its vocabulary cannot be had.

    Text over 100,000 characters is counted in chunks that are cut between words; where a chunk holds no such place,
    the count is an upper bound, a few tokens high.
    """

    def __init__(self, encoding: str) -> None:
        self._wanted = encoding

    @cached_property
    def _count_short(self) -> Callable[[str], int]:
        """Counts labels, openings and the like, which one search after the other asks for."""
        return lru_cache(maxsize=REMEMBERED)(self._count)

    @cached_property
    def _encoding(self) -> Encoding | None:
        return load_encoding(self._wanted)

    @property
    def name(self) -> str:
        """The encoding's name, or ``"estimate"``."""
        return self._wanted if self.exact else "estimate"

    @property
    def exact(self) -> bool:
        """Whether the vocabulary was found."""
        return self._encoding is not None

    def __call__(self, text: str) -> int:
        """How many tokens ``text`` takes."""
        return self._count_short(text) if len(text) <= REMEMBERED_CHARS else self._count(text)

    def _count(self, text: str) -> int:
        encoding = self._encoding
        if encoding is None:
            return estimate_tokens(text)
        if len(text) <= CHUNK_CHARS:
            return len(encoding.encode_ordinary(text))
        return sum(len(encoding.encode_ordinary(chunk)) + margin for chunk, margin in _chunks(text))

    def __repr__(self) -> str:
        return f"TiktokenCounter({self._wanted!r})"


def _chunks(text: str) -> Iterator[tuple[str, int]]:
    """The text in chunks, each with what to add for the cut at its end."""
    start = 0
    while len(text) - start > CHUNK_CHARS:
        end, margin = _cut(text, start + CHUNK_CHARS)
        yield text[start:end], margin
        start = end
    yield text[start:], 0


def _cut(text: str, end: int) -> tuple[int, int]:
    safe = [match.end() for match in _SAFE_CUT.finditer(text, end - min(_SAFE_CUT_REACH, CHUNK_CHARS // 2), end)]
    return (safe[-1], 0) if safe else (end, CUT_MARGIN)


class Piece(NamedTuple):
    """Text, and how many tokens it takes by itself, where that is known."""

    text: str
    tokens: int | None = None


def count_pieces(count: TokenCounter, pieces: Sequence[Piece]) -> int:
    """How many tokens the pieces take, put together: what is known of them is not counted again, only the seams are.

    The result is that of counting the whole; where what counts cannot be cut like this, the whole is counted.
    """
    if not isinstance(count, TiktokenCounter) or not count.exact or sum(len(p.text) for p in pieces) > CHUNK_CHARS:
        text = "".join(piece.text for piece in pieces)
        return count(text) if text else 0
    return _count_seams(count, pieces)


def _count_seams(count: TiktokenCounter, pieces: Iterable[Piece]) -> int:
    total, uncounted = 0, ""
    for text, tokens in pieces:
        cuts = None if tokens is None else _outer_cuts(text)
        if tokens is None or cuts is None:
            uncounted += text
            continue
        head, tail = text[: cuts[0]], text[cuts[1] :]
        total += count(uncounted + head) + tokens - count(head) - count(tail)
        uncounted = tail
    return total + count(uncounted)


def _outer_cuts(text: str) -> tuple[int, int] | None:
    """The first safe cut of a text, and one near its end; ``None`` where there is none."""
    first = _SAFE_CUT.search(text)
    if first is None:
        return None
    last = first.end()
    for match in _SAFE_CUT.finditer(text, max(last, len(text) - _LAST_CUT_REACH)):
        last = match.end()
    return first.end(), last


class CustomCounter:
    """Counts with a function of the caller's."""

    name = "custom"
    exact = True

    def __init__(self, count: Callable[[str], int]) -> None:
        self._count = count

    def __call__(self, text: str) -> int:
        """How many tokens ``text`` takes, as the function says.

        Raises:
            TypeError: It returned something else than a whole number.
            ValueError: It returned a negative number, or one that no text has.
        """
        result = self._count(text)
        try:
            tokens = index(result)
        except TypeError:
            raise InvalidTypeError(
                f"the token counter returned {type(result).__name__}: it must return an int"
            ) from None
        if tokens < 0:
            raise InvalidValueError(f"the token counter returned {tokens}: it must not be negative")
        if tokens > MAX_TOKENS:
            raise InvalidValueError(f"the token counter returned more than {MAX_TOKENS:,} for one text")
        return tokens
