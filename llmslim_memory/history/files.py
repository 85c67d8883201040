"""Writes turns to a file of our own format, whole or not at all."""

from __future__ import annotations

import gzip
import json
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, cast

from llmslim_memory.errors import InvalidValueError
from llmslim_memory.importers.own import HEADER
from llmslim_memory.types import MemoryItem


@contextmanager
def new_file(path: Path, *, overwrite: bool) -> Iterator[IO[bytes]]:
    """A file to write to, which takes its place at ``path`` when the block ends well.

    Raises:
        ValueError: There is a file already, or none can be written there.
    """
    try:
        if path.exists() and not overwrite:
            raise InvalidValueError(f"{str(path)!r} exists already: name another file, or ask to overwrite it")
        # Created for its owner alone, beside its final place, so that it can be moved there in one step.
        handle, name = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)
    except OSError as error:
        raise InvalidValueError(f"{str(path)!r} cannot be written: {error.strerror}") from error
    try:
        with os.fdopen(handle, "wb") as raw:
            if path.suffix == ".gz":
                with gzip.GzipFile(fileobj=raw, mode="wb", filename="", mtime=0) as packed:
                    yield cast(IO[bytes], packed)
            else:
                yield raw
            raw.flush()
            os.fsync(raw.fileno())
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def write_turns(file: IO[bytes], turns: Iterable[MemoryItem], on_progress: Callable[[int], None] | None) -> int:
    """Write the header and every turn, one JSON object a line; say how many turns."""
    file.write(json.dumps(HEADER).encode() + b"\n")
    count = 0
    for count, turn in enumerate(turns, 1):
        file.write(json.dumps(turn.to_dict(), ensure_ascii=False).encode() + b"\n")
        if on_progress is not None:
            on_progress(count)
    return count
