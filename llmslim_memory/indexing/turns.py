"""Analyses a turn: its passages, their terms and token counts, who speaks, and the statements in it."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import chain, islice, pairwise
from uuid import uuid4

from llmslim_memory.ranking import analysis as terms
from llmslim_memory.ranking import codec
from llmslim_memory.ranking.analysis import Analyser, term
from llmslim_memory.ranking.codec import TurnAnalysis, make_analysis
from llmslim_memory.ranking.dates import NamedDate, dated_words, named_dates
from llmslim_memory.ranking.passages import Span, split_passages
from llmslim_memory.selection import statements
from llmslim_memory.tokens import Piece, TokenCounter, count_pieces
from llmslim_memory.types import Analysis

VERSION = (terms.VERSION * 1000 + codec.FORMAT) * 1000 + statements.VERSION
"""Names this analyser: it changes with each of its parts."""

# "Ann:" or "Dr. Ann Lee:" at the opening of a turn names who speaks.
_SPEAKER = re.compile(r"\s*(?:[A-Z]\w*\.\s)?([^\W\d_][\w'’-]{0,29})(?:\s[^\W\d_][\w.'’-]{0,29}){0,2}:\s")


class TurnAnalyser:
    """Works out what the index keeps about a turn; safe to share between threads."""

    def __init__(self, counter: TokenCounter) -> None:
        self.counter = counter
        self.analyser = Analyser()
        self._private = f"custom-{uuid4().hex}"

    @property
    def version(self) -> int:
        """The version of the analyses made here."""
        return VERSION

    @property
    def encoding(self) -> str:
        """What counts the tokens of the analyses made here; a function's counts are for nobody else."""
        return self._private if self.counter.name == "custom" else self.counter.name

    @property
    def is_shared(self) -> bool:
        """Whether another process can use the analyses made here."""
        return self.counter.name != "custom"

    def analyse(self, role: str, content: str) -> tuple[TurnAnalysis, int]:
        """The analysis of a turn, and the tokens of its content."""
        spans = split_passages(role, content)
        tokens, total = self._count_tokens(content, spans)
        found = statements.find_statements(role, content)
        marks = [(mark.kind, mark.start, mark.end) for mark in found]
        counts = self._count_terms(content, spans)
        speaker, checksum = self._speaker(content), codec.checksum(content)
        return make_analysis(spans, tokens, counts, speaker=speaker, statements=marks, content=checksum), total

    def _count_tokens(self, content: str, spans: list[Span]) -> tuple[list[int], int]:
        """The tokens of each passage, and of the whole content; a passage alone stands for all of it."""
        if len(spans) == 1:
            total = self.counter(content)
            return [total], total
        tokens = [self.counter(content[start:end]) for start, end in spans]
        return tokens, count_pieces(self.counter, _pieces(content, spans, tokens))

    def _count_terms(self, content: str, spans: list[Span]) -> list[Counter[int]]:
        words = self._words(content, spans)
        terms_of = self.analyser.lookup(self.analyser.language(list(islice(chain.from_iterable(words), terms.SAMPLE))))
        found = [Counter(chain.from_iterable(map(terms_of, some))) for some in words]
        bounds = [start for start, _ in spans[1:]]
        for named in self._dates(content, words):
            tf = found[bisect_right(bounds, named.start)]
            tf.update(map(term, named.terms()))
        return found

    def _words(self, content: str, spans: list[Span]) -> list[list[str]]:
        """The words of each passage; one that a cut parts belongs to the passage it begins in."""
        if all(end < start for (_, end), (start, _) in pairwise(spans)):  # white space stands between
            return [self.analyser.words(content, start, end) for start, end in spans]
        bounds = [start for start, _ in spans[1:]]
        found: list[list[str]] = [[] for _ in spans]
        for at, word in self.analyser.chunks(content):
            found[bisect_right(bounds, at)].append(word)
        return found

    def _dates(self, content: str, words: list[list[str]]) -> Iterable[NamedDate]:
        """The days that the turn names; where each word stands is worked out only if some may belong to a date."""
        dated = dated_words(set().union(*words), content)
        if not dated:
            return ()
        return named_dates(content, [(at, word) for at, word in self.analyser.chunks(content) if word in dated])

    def _speaker(self, content: str) -> int:
        match = _SPEAKER.match(content[:120])
        numbers = self.analyser.terms(match.group(1)) if match else ()
        return numbers[0] if numbers else 0

    def pack(self, role: str, content: str) -> Analysis:
        """The analysis of a turn in the form in which a store keeps it."""
        analysis, tokens = self.analyse(role, content)
        encoding = self.encoding
        return Analysis(self.version, codec.encode(analysis, encoding), encoding, tokens)


def _pieces(content: str, spans: Sequence[Span], tokens: Sequence[int]) -> list[Piece]:
    """The content as its passages, whose tokens are known, and what stands between them."""
    pieces, at = [], 0
    for (start, end), known in zip(spans, tokens, strict=True):
        pieces += [Piece(content[at:start]), Piece(content[start:end], known)]
        at = end
    return [*pieces, Piece(content[at:])]
