"""Text to terms: words of any script, folded and stemmed, identifiers whole and in parts, as stable 32-bit hashes.

A term is the CRC-32 of its UTF-8 text, so that it means the same in every process. Segmentation follows the idea of
Unicode's word boundaries (UAX #29): a word is a run of letters, digits and the marks that belong to them. Scripts that
are written without spaces become overlapping pairs of characters.
"""

from __future__ import annotations

import re
import threading
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from zlib import crc32

import Stemmer

from llmslim_memory.ranking.scripts import simplified, without_prefixes
from llmslim_memory.ranking.stopwords import ENGLISH, OTHERS

VERSION = 3
"""Grows whenever the same text would give other terms or passages."""

MAX_TERM_CHARS = 64
MAX_PARTS = 8
"""A run that falls into more parts (a key, encoded data) is kept whole only."""
MEMO_SIZE = 20_000
"""Chunks remembered for a language, those of up to :data:`MEMO_CHARS`."""
MEMO_CHARS = 32
SAMPLE = 150
"""Chunks that tell the language."""

# Marks that `\w` leaves out although they belong to the word they stand in.
_MARKS = (
    "\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670"
    "\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u0711\u0730-\u074a\u0900-\u0903\u093a-\u094f\u0951-\u0957"
    "\u0962\u0963\u0981-\u0983\u09bc-\u09cd\u09d7\u0a01-\u0a03\u0a3c-\u0a51\u0a70-\u0a75\u0a81-\u0a83\u0abc-\u0acd"
    "\u0b01-\u0b03\u0b3c-\u0b57\u0b82\u0bbe-\u0bcd\u0bd7\u0c00-\u0c04\u0c3e-\u0c56\u0c81-\u0c83\u0cbc-\u0cd6"
    "\u0d00-\u0d03\u0d3b-\u0d4d\u0d57\u0d82\u0d83\u0dca-\u0ddf\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc"
    "\u0ec8-\u0ece\u0f35\u0f37\u0f39\u0f71-\u0f84\u0f8d-\u0fbc\u102b-\u103e\u1056-\u1059\u17b4-\u17d3\u18a9\u1ab0-\u1aff"
    "\u1dc0-\u1dff\u20d0-\u20ff\u302a-\u302f\u3099\u309a\ufe20-\ufe2f"
)
_WORD = rf"[\w{_MARKS}]+"
_CHUNK = re.compile(rf"{_WORD}(?:['’.,:/@\\-]{_WORD})*(?:\+\+|#(?!\w))?")
_PARTS = re.compile(rf"{_WORD}")
_SPLIT = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_A-Za-z]+")
_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_CONTRACTION = re.compile(r"(?:n['’]t|['’](?:s|d|ll|re|ve|m|t))$", re.IGNORECASE)
# Written without spaces: Thai to Myanmar, Khmer, kana, Han and their extensions.
UNSPACED_RUN = re.compile(
    "[\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uf900-\ufaff\U0001b000-\U0001b16f\U00020000-\U0003ffff]+"
)
_HANGUL = re.compile("[\uac00-\ud7a3]+")
ALPHABETIC = re.compile("[\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff]")
_SCRIPTS = (
    (re.compile("[\u0400-\u052f]"), "russian"),
    (re.compile("[\u0370-\u03ff\u1f00-\u1fff]"), "greek"),
    (re.compile("[\u0600-\u06ff]"), "arabic"),
    (re.compile("[\u0900-\u097f]"), "hindi"),
    (re.compile("[\u0b80-\u0bff]"), "tamil"),
    (re.compile("[\u0530-\u058f]"), "armenian"),
)
# Telephone numbers and addresses are indexed under what they are, too.
_TELEPHONE = re.compile(r"(?<!\d)(?:1[3-9]\d{9}|\d{3,4}-\d{7,8}|\d{3}-\d{3,4}-\d{4})(?!\d)")
_LATIN = re.compile("[a-z\u00df-\u024f\u1e00-\u1eff]+")
_FOLDED = re.compile("[\u0300-\u036f\u0483-\u0487\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670]")

ENGLISH_NAME = "english"
MAIL = "@mail"
TELEPHONE = "@telephone"
"""Terms of every address of that kind."""
_local = threading.local()


def term(text: str) -> int:
    """The 32-bit number that stands for a term."""
    return crc32(text.encode("utf-8", "surrogatepass"))


def _stem(language: str, word: str) -> str:
    """Stem with a stemmer of this thread: Snowball's are not safe to share."""
    stemmers: dict[str, Stemmer.Stemmer] | None = getattr(_local, "stemmers", None)
    if stemmers is None:
        stemmers = _local.stemmers = {}
    stemmer = stemmers.get(language)
    if stemmer is None:
        stemmer = stemmers[language] = Stemmer.Stemmer(language, 0)
    return str(stemmer.stemWord(word))


def fold(word: str) -> str:
    """Lower case without the accents and points that people leave out when they type."""
    if word.isascii():
        return word.lower()
    lowered = word.casefold()
    bare = _FOLDED.sub("", unicodedata.normalize("NFD", lowered))
    return unicodedata.normalize("NFC", bare)


def detect_language(words: Iterable[str]) -> str:
    """The Latin-script language whose small words stand most often among these lower-case words; English in doubt."""
    sample = list(words)
    if not sample:
        return ENGLISH_NAME
    english = sum(map(ENGLISH.__contains__, sample))
    if english * 4 >= len(sample):
        return ENGLISH_NAME
    counts = {name: sum(word in stops for word in sample) for name, stops in OTHERS.items()}
    best = max(counts, key=lambda name: (counts[name], name))
    enough = counts[best] > max(english, 1) and counts[best] * 5 >= len(sample)
    return best if enough else ENGLISH_NAME


def grams(run: str, sizes: Sequence[int]) -> list[str]:
    """Overlapping pieces of a run of characters, of each of the sizes."""
    return [run[i : i + n] for n in sizes for i in range(len(run) - n + 1)]


def _unspaced(run: str) -> list[str]:
    if len(run) == 1:
        return [run]
    return grams(run, (2, 3) if ALPHABETIC.match(run) else (1, 2))


def _spaced(word: str, language: str) -> list[str]:
    """Terms of one word of a script with spaces: its stem, by script, and by the text's language where they differ."""
    folded = fold(word)[:MAX_TERM_CHARS]
    if not folded:
        return []
    if folded.isascii():
        if folded in ENGLISH and language == ENGLISH_NAME:
            return []
        stems = [_stem(ENGLISH_NAME, folded)]
    else:
        name = next((name for script, name in _SCRIPTS if script.search(folded)), None)
        if name is not None:
            lowered = word.lower()[:MAX_TERM_CHARS]
            forms = (lowered, *without_prefixes(folded))
            stems = list(dict.fromkeys(fold(_stem(name, form)) for form in forms))
        elif _LATIN.fullmatch(folded):
            stems = [_stem(ENGLISH_NAME, folded)]
        else:
            stems = [folded, *without_prefixes(folded)]
    if language != ENGLISH_NAME and not stems[0].isdigit() and _LATIN.fullmatch(word.lower()):
        if word.lower() in OTHERS[language]:
            return []
        own = fold(_stem(language, word.lower()[:MAX_TERM_CHARS]))
        if own != stems[0]:
            stems.append(own)
    if _HANGUL.search(folded):
        stems += [pair for run in _HANGUL.findall(folded) for pair in grams(run, (2,)) if pair != folded]
    return stems


def _parts(piece: str) -> list[str]:
    """The parts of a run of word characters; none of a key or encoded data, which is kept whole only."""
    if not piece.isascii():
        return [piece[at : at + MAX_TERM_CHARS] for at in range(0, len(piece), MAX_TERM_CHARS)]
    parts = _SPLIT.findall(piece) if len(piece) <= MAX_TERM_CHARS else []
    return parts if len(parts) <= MAX_PARTS else []


def _word_terms(word: str, language: str) -> list[str]:
    """Terms of a run of word characters: split where case, digits or underscores do, kept whole as well."""
    terms: list[str] = []
    spaced = UNSPACED_RUN.sub(" ", word)
    if spaced != word:
        for run in UNSPACED_RUN.findall(word):
            terms += _unspaced(run)
    for piece in spaced.split():
        parts = _parts(piece)
        if len(parts) != 1 or len(piece) > MAX_TERM_CHARS:
            terms.append(fold(piece)[:MAX_TERM_CHARS])
        for part in parts:
            terms += _spaced(part, language)
    return terms


def chunk_terms(chunk: str, language: str = ENGLISH_NAME) -> list[str]:
    """Terms of a chunk, which is a word or several joined without spaces (``INV-2291``, ``it's``, ``a/b.py``)."""
    if _PARTS.fullmatch(chunk):
        return _word_terms(chunk, language)
    if _THOUSANDS.fullmatch(chunk):
        return [chunk.replace(",", "")]
    head = _CONTRACTION.sub("", chunk)
    if head != chunk and _PARTS.fullmatch(head):
        joined = fold(chunk).replace("'", "").replace("’", "")
        return [] if joined in ENGLISH else _word_terms(head, language)
    words = _PARTS.findall(chunk)
    terms = [piece for word in words for piece in _word_terms(word, language)]
    whole = fold(chunk).replace("’", "'")[:MAX_TERM_CHARS]
    return [*terms, whole.replace("'", "") if "'" in whole else whole]


def normal(chunk: str) -> str:
    """A chunk in one form of width and, of Chinese, of writing."""
    return chunk if chunk.isascii() else simplified(unicodedata.normalize("NFKC", chunk))


def _is_what(chunk: str) -> Iterator[str]:
    """What kind of thing a chunk is, where its form tells."""
    if "@" in chunk:
        yield MAIL
    if len(chunk) >= 10 and _TELEPHONE.search(chunk):
        yield TELEPHONE


class Analyser:
    """Turns text into term hashes, and remembers what it has seen; safe to share between threads."""

    def __init__(self) -> None:
        self._memos: dict[str, _Memo] = {}

    def chunks(self, text: str) -> list[tuple[int, str]]:
        """The words and identifiers of a text, with where each begins."""
        return [(match.start(), match.group()) for match in _CHUNK.finditer(text)]

    def words(self, text: str, start: int, end: int) -> list[str]:
        """The words and identifiers of a stretch of a text that white space, or the text's end, bounds."""
        return _CHUNK.findall(text, start, end)

    def language(self, chunks: Sequence[str]) -> str:
        """The language these chunks, or the first of them, are most likely written in."""
        return detect_language([chunk.lower() for chunk in chunks[:SAMPLE] if not chunk.isdigit()])

    def terms(self, chunk: str, language: str = ENGLISH_NAME) -> tuple[int, ...]:
        """The hashes of a chunk's terms."""
        return self.lookup(language)(chunk)

    def lookup(self, language: str) -> Callable[[str], tuple[int, ...]]:
        """The function from a chunk in this language to the hashes of its terms."""
        return self._memos.setdefault(language, _Memo(language)).__getitem__


class _Memo(dict[str, tuple[int, ...]]):
    """The hashes of the terms of chunks in one language, worked out when a chunk is first met."""

    def __init__(self, language: str) -> None:
        super().__init__()
        self._language = language

    def __missing__(self, chunk: str) -> tuple[int, ...]:
        text = normal(chunk)
        known = tuple(map(term, (*chunk_terms(text, self._language), *_is_what(text))))
        if len(self) >= MEMO_SIZE:
            self.clear()
        if len(chunk) <= MEMO_CHARS:
            self[chunk] = known
        return known
