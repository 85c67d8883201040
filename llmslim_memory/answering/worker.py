"""A process that answers for another one: it opens the store by itself, and keeps indexes of its own."""

from __future__ import annotations

import traceback
from typing import IO

from llmslim_memory.answering import frames
from llmslim_memory.answering.here import Answerer
from llmslim_memory.answering.workers import Failure, Settings
from llmslim_memory.children import my_pipes
from llmslim_memory.indexing import ScopeIndexes
from llmslim_memory.stores import open_store
from llmslim_memory.tokens import make_counter


def main() -> None:
    """Answer what comes in on stdin, after the settings, until its end."""
    source, target = my_pipes()
    settings: Settings = frames.unpack(frames.read(source))
    store = open_store(settings.store)
    try:
        counter = make_counter(settings.encoding)
        serve(Answerer(ScopeIndexes(store, counter, cache_bytes=settings.cache_bytes), counter), source, target)
    finally:
        store.close()


def serve(answerer: Answerer, source: IO[bytes], target: IO[bytes]) -> None:
    """Answer one question after the other."""
    while True:
        try:
            data = frames.read(source)
        except EOFError:
            return
        frames.write(target, _answer(answerer, data))


def _answer(answerer: Answerer, data: bytes) -> bytes:
    """The answer, or the error with where it arose; ``NotImplemented`` to what cannot be read here."""
    try:
        method, asked = frames.unpack(data)
    except Exception:  # noqa: BLE001  # it names something of the other process, whatever that is
        return frames.pack(NotImplemented)
    try:
        return frames.pack(getattr(answerer, method)(asked))
    except Exception as error:  # noqa: BLE001  # whatever it is, it is the caller's to see
        return _failure(error, traceback.format_exc())


def _failure(error: Exception, trace: str) -> bytes:
    try:
        data = frames.pack(Failure(error, trace))
        frames.unpack(data)
    except Exception:  # noqa: BLE001  # not every error can be sent
        return frames.pack(Failure(RuntimeError(f"{type(error).__name__} in a worker"), trace))
    return data


if __name__ == "__main__":
    main()
