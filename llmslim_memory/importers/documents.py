"""The files that a source consists of: itself, those of a folder, or the members of a zip archive."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path
from typing import BinaryIO

from llmslim_memory.errors import HistoryImportError
from llmslim_memory.importers.limits import ImportLimits
from llmslim_memory.importers.streams import Meter, open_utf8
from llmslim_memory.importers.zips import Archives, is_zip, members

_SUFFIXES = (".json", ".jsonl", ".ndjson", ".gz", ".zip", ".pkl", ".sqlite")


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
        if self.size > self.limits.max_file_bytes:
            raise HistoryImportError(
                f"it has {self.size:,} bytes, more than max_file_bytes ({self.limits.max_file_bytes:,})"
            )
        return open_utf8(self.opener(), self.limits, most=self.size if self.path else None, meter=meter)


Problem = tuple[str, str]
"""A file that cannot be read, and why."""


def find_documents(source: Path, archives: Archives, limits: ImportLimits) -> tuple[list[Document], list[Problem]]:
    """The files of ``source`` in a stable order, and those that cannot be read with the reason.

    Raises:
        HistoryImportError: There is no such file or folder, it is neither, or it lists too many files.
    """
    try:
        mode = source.stat().st_mode
        if stat.S_ISDIR(mode):
            return _of_folder(source, archives, limits)
        if not stat.S_ISREG(mode):
            raise HistoryImportError(f"{source.name!r} is neither a regular file nor a folder")
        if is_zip(source):
            return _of_zip(source, source.name, archives, limits), []
        return [_of_file(source, source.name, "", limits)], []
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


def _of_zip(path: Path, name: str, archives: Archives, limits: ImportLimits) -> list[Document]:
    return [
        Document(f"{name}/{member.name}", name, member.size, None, member.open, limits)
        for member in members(path, archives, limits)
    ]


def _of_folder(root: Path, archives: Archives, limits: ImportLimits) -> tuple[list[Document], list[Problem]]:
    documents: list[Document] = []
    problems: list[Problem] = []
    for count, path in enumerate(_walk(root), 1):
        if max(count, len(documents)) > limits.max_zip_members:
            raise HistoryImportError(
                f"{root.name!r} holds more than {limits.max_zip_members:,} files and archived ones (max_zip_members)"
            )
        name = path.relative_to(root).as_posix()
        if path.is_symlink():
            problems.append((name, "it is a link, and links in a folder are not followed"))
            continue
        try:
            if not stat.S_ISREG(path.stat().st_mode):
                continue
            if is_zip(path):
                documents.extend(_of_zip(path, name, archives, limits))
            else:
                documents.append(_of_file(path, name, root.name, limits))
        except (OSError, HistoryImportError) as error:
            problems.append((name, str(error)))
    return documents, problems


def _walk(root: Path) -> Iterator[Path]:
    """Files that may hold history, in the order of their names."""
    for folder, folders, files in os.walk(root, followlinks=False):
        folders.sort()
        for name in sorted(files):
            if name.lower().endswith(_SUFFIXES) and not name.startswith("._"):
                yield Path(folder, name)
