"""Finds tiktoken's vocabularies without waiting for a network that may not be there.

Local copies come first; then, unless ``LLMSLIM_OFFLINE`` is set, tiktoken's own download gets a few seconds, once.
"""

from __future__ import annotations

import hashlib
import importlib.util
import logging
import os
import tempfile
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tiktoken import Encoding

DOWNLOAD_SECONDS = 10.0

_log = logging.getLogger(__name__)
_loading = threading.Lock()


def load_encoding(name: str) -> Encoding | None:
    """The tiktoken encoding called ``name``, or ``None`` (and one warning) where its vocabulary cannot be had."""
    with _loading:
        return _load_once(name)


@cache
def _load_once(name: str) -> Encoding | None:
    import tiktoken

    try:
        with _reading_local_copies_first():
            return tiktoken.get_encoding(name)
    except (OSError, ValueError) as error:
        _log.warning(
            "The %s vocabulary was not found (%s), so tokens are estimated at 4 characters each. To count exactly, "
            "put %s.tiktoken into a folder and name that folder in LLMSLIM_TIKTOKEN_DIR, or %s.",
            name,
            type(error).__name__,
            name,
            "unset LLMSLIM_OFFLINE" if is_offline() else "go online once; LLMSLIM_OFFLINE=1 spares the attempt",
        )
        return None


def is_offline() -> bool:
    """Whether ``LLMSLIM_OFFLINE`` forbids the download."""
    return os.environ.get("LLMSLIM_OFFLINE", "").strip().lower() not in ("", "0", "false", "no")


def local_folders() -> list[Path]:
    """Folders that may hold vocabularies, in the order in which they are tried."""
    named = [os.environ.get(name, "") for name in ("LLMSLIM_TIKTOKEN_DIR", "TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR")]
    folders = [Path(folder).expanduser() for folder in named if folder]
    return [*folders, Path(tempfile.gettempdir(), "data-gym-cache"), *_llama_index_folders()]


def _llama_index_folders() -> list[Path]:
    """Where llama-index-core carries vocabularies, found without importing it."""
    spec = importlib.util.find_spec("llama_index")
    places = spec.submodule_search_locations if spec is not None else None
    return [Path(place, "core", "_static", "tiktoken_cache") for place in places or ()]


def read_local(url: str, expected_hash: str | None) -> bytes | None:
    """The vocabulary published at ``url`` from a local folder, if one holds it unharmed.

    A file may bear tiktoken's cache name (the SHA-1 of the address) or the plain name that the address ends in.
    """
    names = (hashlib.sha1(url.encode(), usedforsecurity=False).hexdigest(), url.rsplit("/", 1)[-1])
    for path in (folder / name for folder in local_folders() for name in names):
        try:
            data = path.read_bytes()
        except OSError:
            continue
        if expected_hash is None or hashlib.sha256(data).hexdigest() == expected_hash:
            return data
    return None


@contextmanager
def _reading_local_copies_first() -> Iterator[None]:
    # tiktoken looks into one folder and downloads without a timeout, and has no setting for either.
    from tiktoken import load

    download = load.read_file_cached

    def read(url: str, expected_hash: str | None = None) -> bytes:
        data = read_local(url, expected_hash)
        if data is not None:
            return data
        if is_offline():
            raise FileNotFoundError("no local copy, and LLMSLIM_OFFLINE forbids the download")
        return _within(DOWNLOAD_SECONDS, lambda: download(url, expected_hash))

    setattr(load, "read_file_cached", read)  # noqa: B010 - a plain assignment to a function does not type-check
    try:
        yield
    finally:
        setattr(load, "read_file_cached", download)  # noqa: B010


def _within(seconds: float, call: Callable[[], bytes]) -> bytes:
    """What ``call`` returns, or ``TimeoutError``; a call that hangs is left behind in a daemon thread."""
    result: Future[bytes] = Future()

    def run() -> None:
        try:
            result.set_result(call())
        except Exception as error:  # noqa: BLE001 - handed to the thread that waits
            result.set_exception(error)

    threading.Thread(target=run, name="llmslim-vocabulary-download", daemon=True).start()
    return result.result(timeout=seconds)
