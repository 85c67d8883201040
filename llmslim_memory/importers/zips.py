"""The members of a zip archive, read without ever unpacking to disk."""

from __future__ import annotations

import struct
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast

from llmslim_memory.errors import HistoryImportError
from llmslim_memory.importers.limits import ImportLimits
from llmslim_memory.importers.streams import check_ratio

_SUFFIXES = (".json", ".jsonl", ".ndjson", ".jsonl.gz", ".json.gz")
_LINK = 0o120000
_KIND = 0o170000
_ENCRYPTED = 0x1
_TAIL_BYTES = 1 << 17
_IN_ZIP64 = 0xFFFFFFFF
# Room for an entry of the central directory with a name of 82 characters.
_ENTRY_BYTES = 128
_BROKEN = (zipfile.BadZipFile, OSError, ValueError, NotImplementedError, struct.error, EOFError)
_OPEN_ARCHIVES = 16


class Archives:
    """Archives that are open: to read the directory of one again for every member would take too long."""

    def __init__(self) -> None:
        self._open: dict[Path, zipfile.ZipFile] = {}

    def __call__(self, path: Path) -> zipfile.ZipFile:
        """Open an archive, or give the one that is open; the one opened first makes room."""
        if path not in self._open:
            if len(self._open) >= _OPEN_ARCHIVES:
                self._open.pop(next(iter(self._open))).close()
            self._open[path] = zipfile.ZipFile(path)
        return self._open[path]

    def close(self) -> None:
        """Close all of them."""
        while self._open:
            self._open.popitem()[1].close()


@dataclass(frozen=True, slots=True)
class Member:
    """A member that may hold history; ``open`` gives its bytes."""

    name: str
    size: int
    open: Callable[[], BinaryIO]


def is_zip(path: Path) -> bool:
    """Whether the file begins as zip archives do."""
    with path.open("rb") as file:
        return file.read(4) in (b"PK\x03\x04", b"PK\x05\x06")


def members(path: Path, archives: Archives, limits: ImportLimits) -> tuple[list[Member], list[str]]:
    """The members of the archive that may hold history, in the order of their names, and the names of the others.

    Raises:
        HistoryImportError: It is no archive, or lists too many members.
    """
    _check_directory(path, limits)
    try:
        infos = archives(path).infolist()
    except _BROKEN as error:
        raise HistoryImportError(f"{path.name!r} is not a readable zip archive: {type(error).__name__}") from error
    if len(infos) > limits.max_zip_members:
        raise _too_many(path, limits)
    files = sorted(filter(_is_file, infos), key=lambda info: (info.filename, info.header_offset))
    wanted = [info for info in files if info.filename.lower().endswith(_SUFFIXES)]
    others = [info.filename for info in files if not info.filename.lower().endswith(_SUFFIXES)]
    return [Member(info.filename, info.file_size, _opener(path, info, archives, limits)) for info in wanted], others


def _check_directory(path: Path, limits: ImportLimits) -> None:
    """Refuse a directory that is too large before it is read: every entry becomes an object."""
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - _TAIL_BYTES))
        tail = file.read()
    at, at64 = tail.rfind(b"PK\x05\x06"), tail.rfind(b"PK\x06\x06")
    size = struct.unpack_from("<L", tail, at + 12)[0] if 0 <= at <= len(tail) - 22 else 0
    if size == _IN_ZIP64:
        size = struct.unpack_from("<Q", tail, at64 + 40)[0] if 0 <= at64 <= len(tail) - 56 else size
    if size > limits.max_zip_members * _ENTRY_BYTES:
        raise _too_many(path, limits)


def _too_many(path: Path, limits: ImportLimits) -> HistoryImportError:
    return HistoryImportError(
        f"{path.name!r} lists more than {limits.max_zip_members:,} members: raise max_zip_members to read it"
    )


def is_junk(name: str) -> bool:
    """Whether a file is there only for the file manager that made the folder or archive."""
    return name.startswith(("._", ".DS_Store"))


def _is_file(info: zipfile.ZipInfo) -> bool:
    parts = info.filename.split("/")
    # A folder's name ends in a slash; ZipInfo.is_dir() fails on an empty one.
    return bool(parts[-1]) and "__MACOSX" not in parts and not is_junk(parts[-1])


def _opener(path: Path, info: zipfile.ZipInfo, archives: Archives, limits: ImportLimits) -> Callable[[], BinaryIO]:
    def opener() -> BinaryIO:
        if info.flag_bits & _ENCRYPTED:
            raise HistoryImportError("it is encrypted: unpack the archive with its password and import the folder")
        if (info.external_attr >> 16) & _KIND == _LINK:
            raise HistoryImportError("it is a link, which an archive has no reason to hold")
        check_ratio(info.file_size, info.compress_size, limits.max_zip_ratio)
        try:
            return cast(BinaryIO, archives(path).open(info))
        except (*_BROKEN, RuntimeError) as error:
            raise HistoryImportError(f"it cannot be read: {type(error).__name__}") from error

    return opener
