"""The files that a source consists of: itself, those of a folder, or the members of a zip archive."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from io import BufferedReader
from itertools import filterfalse
from pathlib import Path
from typing import BinaryIO

from llmslim_memory.errors import HistoryImportError
from llmslim_memory.importers.limits import ImportLimits
from llmslim_memory.importers.streams import Meter, open_utf8
from llmslim_memory.importers.zips import Archives, is_junk, is_zip, members

_SUFFIXES = (".json", ".jsonl", ".ndjson", ".gz", ".zip", ".pkl", ".sqlite")
MOST_NAMED = 1_000
"""So many of the files that hold no history are named."""


@dataclass(frozen=True, slots=True)
class Document:
    """One file of a source.

    ``name`` is its path within the source, ``container`` the archive or folder it was found in, ``size`` its bytes, and
    ``path`` where it lies on disk (``None`` inside an archive).
    """

    name: str
    container: str
    size: int
    path: Path | None
    opener: Callable[[], BinaryIO]
    limits: ImportLimits

    def open(self, meter: Meter | None = None) -> BufferedReader:
        """The file's bytes as UTF-8; ``meter`` is told how many were read.

        Raises:
            HistoryImportError: It is too large or cannot be opened.
        """
        self.check_size()
        return open_utf8(self.opener(), self.limits, most=self.size if self.path else None, meter=meter)

    def check_size(self) -> None:
        """Refuse a file that is larger than one may be.

        Raises:
            HistoryImportError: It is.
        """
        if self.size > self.limits.max_file_bytes:
            raise HistoryImportError(
                f"it has {self.size:,} bytes, more than max_file_bytes ({self.limits.max_file_bytes:,})"
            )


Problem = tuple[str, str]
"""A file that cannot be read, and why."""


@dataclass(slots=True)
class PassedOver:
    """Files that hold no history: the names of the first ones, and how many there are."""

    names: list[str] = field(default_factory=list)
    total: int = 0

    def note(self, name: str) -> None:
        """Note one more."""
        self.total += 1
        if len(self.names) < MOST_NAMED:
            self.names.append(name)


@dataclass(frozen=True, slots=True)
class Found:
    """The files of a source: those that may hold history, in a stable order, those that cannot be read, the others."""

    documents: list[Document] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    others: PassedOver = field(default_factory=PassedOver)


def find_documents(source: Path, archives: Archives, limits: ImportLimits) -> Found:
    """The files of ``source``.

    Raises:
        HistoryImportError: There is no such file or folder, it is neither, or it lists too many files.
    """
    try:
        mode = source.stat().st_mode
        if stat.S_ISDIR(mode):
            return _of_folder(source, archives, limits)
        if not stat.S_ISREG(mode):
            raise HistoryImportError(f"{source.name!r} is neither a regular file nor a folder")
        found = Found()
        if is_zip(source):
            _add_zip(found, source, source.name, archives, limits)
        else:
            found.documents.append(_of_file(source, source.name, "", limits))
        return found
    except OSError as error:
        raise HistoryImportError(
            f"{source.name!r} cannot be opened: {error.strerror or type(error).__name__}"
        ) from error


def _of_file(path: Path, name: str, container: str, limits: ImportLimits) -> Document:
    def opener() -> BinaryIO:
        try:
            return path.open("rb")
        except OSError as error:
            raise HistoryImportError(f"it cannot be opened: {error.strerror or type(error).__name__}") from error

    return Document(name, container, path.stat().st_size, path, opener, limits)


def _add_zip(found: Found, path: Path, name: str, archives: Archives, limits: ImportLimits) -> None:
    wanted, others = members(path, archives, limits)
    found.documents.extend(
        Document(f"{name}/{member.name}", name, member.size, None, member.open, limits) for member in wanted
    )
    for other in others:
        found.others.note(f"{name}/{other}")


def _of_folder(root: Path, archives: Archives, limits: ImportLimits) -> Found:
    found = Found()
    for count, path in enumerate(_walk(root, found.others), 1):
        if max(count, len(found.documents)) > limits.max_zip_members:
            raise HistoryImportError(
                f"{root.name!r} holds more than {limits.max_zip_members:,} files and archived ones: import a part of "
                "it, or raise max_zip_members"
            )
        name = path.relative_to(root).as_posix()
        if path.is_symlink():
            found.problems.append((name, "it is a link, and links in a folder are not followed"))
            continue
        try:
            if not stat.S_ISREG(path.stat().st_mode):
                continue
            if is_zip(path):
                _add_zip(found, path, name, archives, limits)
            else:
                found.documents.append(_of_file(path, name, root.name, limits))
        except (OSError, HistoryImportError) as error:
            found.problems.append((name, str(error)))
    return found


def _walk(root: Path, others: PassedOver) -> Iterator[Path]:
    """Files that may hold history, in the order of their names; all others are noted."""
    for folder, folders, files in os.walk(root, followlinks=False):
        folders.sort()
        for name in sorted(filterfalse(is_junk, files)):
            path = Path(folder, name)
            if name.lower().endswith(_SUFFIXES):
                yield path
            else:
                others.note(path.relative_to(root).as_posix())
