"""Opens a source, tells what its files hold, and reads them: the one way into the readers of the formats."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, replace
from io import BufferedReader
from itertools import islice
from pathlib import Path
from typing import Any

from llmslim_memory.errors import HistoryImportError
from llmslim_memory.importers import chatgpt, claude_ai, claude_code, jsonl, mem0, own
from llmslim_memory.importers.chatgpt_copies import Copies
from llmslim_memory.importers.detect import WINDOW, detect
from llmslim_memory.importers.documents import Document, PassedOver, Problem, find_documents
from llmslim_memory.importers.limits import ImportLimits
from llmslim_memory.importers.mem0_stores import is_store, read_store
from llmslim_memory.importers.outcomes import Left, Outcomes
from llmslim_memory.importers.records import HEAD_BYTES, Layout, Record, find_layout, read_records
from llmslim_memory.importers.streams import Meter
from llmslim_memory.importers.zips import Archives

_READERS: dict[str, Callable[..., Outcomes]] = {
    chatgpt.FORMAT: chatgpt.read,
    claude_ai.FORMAT: claude_ai.read,
    mem0.FORMAT: mem0.read,
    jsonl.FORMAT: jsonl.read,
    own.FORMAT: own.read,
}


@dataclass(frozen=True, slots=True)
class Reading:
    """A file of the source that will be read as ``format``. ``layout`` is ``None`` for a local store of Mem0's."""

    document: Document
    format: str
    layout: Layout | None
    limits: ImportLimits
    copies: Copies | None = None

    @property
    def size(self) -> int:
        """Bytes that a meter will have been told at the end: some files are read twice."""
        return self.document.size * (2 if self.format == claude_code.FORMAT or self.copies is not None else 1)

    def note_copies(self, meter: Meter | None = None) -> None:
        """Note what stands in the file, where another file of the source may hold it too."""
        if self.copies is not None:
            with suppress(HistoryImportError):  # which is told when the file is read for good
                for record in self._records(meter):
                    self.copies.note(record.value)

    def outcomes(self, *, tools: bool, meter: Meter | None = None) -> Outcomes:
        """Yield the outcome of everything in the file.

        Raises:
            HistoryImportError: The file cannot be read to its end; what came before was yielded.
        """
        if self.format == claude_code.FORMAT:
            yield from claude_code.read(lambda: self._records(meter), self.document.name, tools=tools)
            return
        for record in self._records(meter):
            if record.problem is not None:
                yield Left(record.problem, record.where)
            elif self.copies is not None:
                yield from chatgpt.read(record, tools=tools, left=self.copies.left_by_latest)
            elif not record.ends or self.format == mem0.FORMAT:
                yield from _READERS[self.format](record, tools=tools)

    def _records(self, meter: Meter | None) -> Iterator[Record]:
        if self.layout is None:
            yield from read_store(self.document, self.limits)
            return
        with self.document.open(meter) as stream:
            yield from read_records(stream, self.layout, self.limits)


@dataclass(frozen=True, slots=True)
class Source:
    """What there is to read, in order, the files that cannot be read and why, and those that hold no history."""

    readings: list[Reading]
    problems: list[Problem]
    passed_over: PassedOver


@contextmanager
def open_source(
    source: Path,
    format: str,  # noqa: A002
    limits: ImportLimits,
) -> Iterator[Source]:
    """Find what there is to read in ``source``; its archives are closed at the end of the block.

    Raises:
        HistoryImportError: There is nothing in it that can be read.
    """
    with closing(Archives()) as archives:
        yield _find(source, format, archives, limits)


def _find(
    source: Path,
    format: str,  # noqa: A002
    archives: Archives,
    limits: ImportLimits,
) -> Source:
    found = find_documents(source, archives, limits)
    readings: list[Reading] = []
    manifest: dict[str, Any] | None = None
    for document in found.documents:
        try:
            reading, values = _recognise(document, limits, format if len(found.documents) == 1 else "auto")
        except HistoryImportError as error:
            found.problems.append((document.name, str(error)))
            continue
        lists = next(filter(claude_ai.is_manifest, values), None)
        manifest = manifest or lists
        if reading is not None and lists is None and format in ("auto", reading.format):
            readings.append(reading)
        else:
            found.others.note(document.name)
    readings = _with_copies(_without_strays(readings, found.others))
    if not readings:
        if manifest is not None:
            claude_ai.refuse_manifest(manifest)
        raise HistoryImportError(_nothing(source, format, found.documents, found.problems))
    return Source(readings, found.problems, found.others)


def _recognise(
    document: Document,
    limits: ImportLimits,
    format: str,  # noqa: A002
) -> tuple[Reading | None, list[dict[str, Any]]]:
    """How to read a file, and the objects at its head; ``None`` where it holds no history."""
    if is_store(document):
        return Reading(document, mem0.FORMAT, None, limits), []
    with document.open() as stream:
        layout = find_layout(_head(stream), limits)
    window = _window(document, layout, limits)
    values = [record.value for record in window if isinstance(record.value, dict)]
    found = format if format != "auto" else detect(window)
    if found is None and not values and layout.key in mem0.LISTS:
        found = mem0.FORMAT
    stray = found == claude_code.FORMAT and not claude_code.is_transcript(document.name)
    return None if found is None or stray else Reading(document, found, layout, limits), values


def _head(stream: BufferedReader) -> bytes:
    """The first bytes of a file, as far as they can be read."""
    head = bytearray()
    try:
        while len(head) < HEAD_BYTES and (data := stream.read1(HEAD_BYTES - len(head))):
            head += data
    except HistoryImportError:
        if not head:
            raise
    return bytes(head)


class _Enough(Exception):  # noqa: N818  # no error: it ends a reading in the middle of a record
    """As much was read of a file as tells what it holds."""


def _window(document: Document, layout: Layout, limits: ImportLimits) -> list[Record]:
    """The first records of a file: at least one, and no more than its head holds or :data:`WINDOW`."""
    taken = 0
    window: list[Record] = []

    def meter(count: int) -> None:
        nonlocal taken
        taken += count
        if window and taken > HEAD_BYTES:
            raise _Enough

    try:
        with document.open(meter) as stream:
            for record in islice(read_records(stream, layout, limits), WINDOW):
                window.append(record)  # the meter looks at what is there so far
    except _Enough:
        pass
    except HistoryImportError:
        # What was recognised before the damage is read; if nothing was, the damage is the reason to give.
        if detect(window) is None:
            raise
    return window


def _without_strays(readings: list[Reading], others: PassedOver) -> list[Reading]:
    """Leave out what merely looks like messages beside a known export: settings, feedback, designs."""
    known = {reading.document.container for reading in readings if reading.format != jsonl.FORMAT} - {""}
    kept = []
    for reading in readings:
        if reading.format == jsonl.FORMAT and reading.document.container in known:
            others.note(reading.document.name)
        else:
            kept.append(reading)
    return kept


def _with_copies(readings: list[Reading]) -> list[Reading]:
    """Where several files are of ChatGPT's, any of them may hold a conversation that another holds too."""
    if sum(reading.format == chatgpt.FORMAT for reading in readings) < 2:
        return readings
    copies = Copies()
    return [replace(reading, copies=copies) if reading.format == chatgpt.FORMAT else reading for reading in readings]


def _nothing(source: Path, format: str, documents: list[Document], problems: list[Problem]) -> str:  # noqa: A002
    if problems:
        name, reason = problems[0]
        return f"{source.name!r} cannot be imported: {name}: {reason}"
    wanted = "chat history" if format == "auto" else f"history in the format {format!r}"
    names = ", ".join(document.name for document in documents[:5])
    files = "1 file" if len(documents) == 1 else f"{len(documents):,} files"
    looked = f"looked at {files} ({names})" if documents else "it holds no JSON, JSONL or zip file"
    hint = "if you know its format, name it (--format, format=)" if format == "auto" else "leave the format to be found"
    return f"no {wanted} was found in {source.name!r}: {looked}; {hint}"
