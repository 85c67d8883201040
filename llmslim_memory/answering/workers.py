"""Processes that answer for this one, so that searches of many threads use all cores.

Each scope belongs to one worker, which keeps its index and follows the store as any process does. What a worker cannot
be given, or loses by dying, this process answers itself, so that workers bring speed and take nothing away.
"""

from __future__ import annotations

import logging
import os
import pickle
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from subprocess import TimeoutExpired
from threading import Lock
from time import monotonic
from typing import Literal, TypeVar
from weakref import WeakSet, finalize

from llmslim_memory.answering import frames
from llmslim_memory.answering.here import Answerer
from llmslim_memory.answering.question import Extent, Question
from llmslim_memory.children import Child, may_start, pipe, start_child
from llmslim_memory.types import Hit, MemoryContext, Scope

logger = logging.getLogger(__name__)

MOST_SCOPES = 10_000
"""Scopes whose worker is remembered; one that was asked about longest ago may get another."""
START_AGAIN_SECONDS = 30.0
"""How long a worker that ended without a single answer is done without."""
CLOSING_SECONDS = 5.0
"""How long a worker may take to end when its input does."""

Method = Literal["search", "rank", "version"]

A = TypeVar("A", Question, Extent)
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Settings:
    """What a worker needs to know: where the turns are, how tokens are counted, and the memory for its indexes."""

    store: str | Path
    encoding: str
    cache_bytes: int


@dataclass(frozen=True, slots=True)
class Failure:
    """An error in a worker, and where it arose."""

    error: Exception
    trace: str


class InWorkerError(Exception):
    """Where an error arose in a worker: the cause of the one that is raised."""

    def __str__(self) -> str:
        """The traceback, on lines of its own."""
        return f"\n{self.args[0]}"


class LostError(Exception):
    """The worker ended before it answered, or cannot be started."""


class _Process:
    """A running worker. Threads send when they like, and read the answers in the order in which they sent."""

    def __init__(self, settings: bytes) -> None:
        self._child: Child = start_child("llmslim_memory.answering.worker", buffered=False)
        self._sending = Lock()
        self._last_read = Lock()  # free once the answer to the question sent last was read
        self.has_answered = False
        try:
            self._send(settings)
        except LostError:
            self.end()
            raise

    def ask(self, data: bytes) -> bytes:
        """The answer to a question."""
        mine = Lock()
        mine.acquire()
        try:
            with self._sending:
                before, self._last_read = self._last_read, mine
                self._send(data)
            with before:
                answer = frames.read(pipe(self._child.stdout))
        except (OSError, ValueError, EOFError) as error:
            raise LostError from error
        except BaseException:  # an interrupt: nobody may take the answer for another question's
            self._child.kill()
            raise
        finally:
            mine.release()
        self.has_answered = True
        return answer

    def _send(self, data: bytes) -> None:
        try:
            frames.write(pipe(self._child.stdin), data)
        except (OSError, ValueError, EOFError) as error:  # ValueError: closed meanwhile
            raise LostError from error

    def end(self) -> None:
        """Have the worker end once it has answered what it was asked."""
        if self._sending.acquire(timeout=CLOSING_SECONDS):
            pipe(self._child.stdin).close()
            self._sending.release()
        try:
            self._child.wait(CLOSING_SECONDS)
        except TimeoutExpired:
            self._child.kill()
            self._child.wait()
        with self._sending, self._last_read:
            self.abandon()

    def abandon(self) -> None:
        """Let go of the pipes: in a forked child, whose parent the worker belongs to, that is all there is to do."""
        pipe(self._child.stdin).close()
        pipe(self._child.stdout).close()
        self._child.poll()


class _Worker:
    """The place of a worker: started when it is first asked, and again when it died."""

    def __init__(self, settings: bytes) -> None:
        self._settings = settings
        self._lock = Lock()
        self._process: _Process | None = None
        self._start_at = 0.0
        self._is_closed = False

    def ask(self, data: bytes) -> bytes:
        process = self._running()
        try:
            return process.ask(data)
        except LostError:
            self._lose(process)
            raise

    def _running(self) -> _Process:
        with self._lock:
            if self._process is None:
                if self._is_closed or not may_start() or monotonic() < self._start_at:
                    raise LostError
                self._process = self._start()
            return self._process

    def _start(self) -> _Process:
        try:
            return _Process(self._settings)
        except (OSError, LostError) as error:
            self._start_at = monotonic() + START_AGAIN_SECONDS
            logger.warning("a process that searches cannot be started (%s)", type(error).__name__)
            raise LostError from error

    def _lose(self, process: _Process) -> None:
        with self._lock:
            if self._process is not process:
                return
            self._process = None
            if not process.has_answered:
                self._start_at = monotonic() + START_AGAIN_SECONDS
        process.end()
        logger.warning("a process that searches ended: its searches are done here until there is another")

    def close(self) -> None:
        with self._lock:
            process, self._process, self._is_closed = self._process, None, True
        if process is not None:
            process.end()

    def abandon(self) -> None:
        if self._process is not None:
            self._process.abandon()


class Workers:
    """Answers like an :class:`Answerer`, in other processes where they can; safe to share between threads.

    Args:
        own: Answers here what no worker can.
        settings: What each worker is told.
        count: How many there are at most.
    """

    def __init__(self, own: Answerer, settings: Settings, count: int) -> None:
        self._own = own
        self._settings = frames.pack(settings)
        self._count = count
        self._begin()
        _all.add(self)

    def _begin(self) -> None:
        self._lock = Lock()
        self._workers = [_Worker(self._settings) for _ in range(self._count)]
        self._of_scope: OrderedDict[Scope, _Worker] = OrderedDict()
        self._given = 0
        self.close = finalize(self, _close_all, self._workers)

    def search(self, question: Question) -> MemoryContext:
        """See :meth:`Answerer.search`."""
        return self._ask("search", question, question.extent.scope, self._own.search)

    def rank(self, question: Question) -> list[Hit]:
        """See :meth:`Answerer.rank`."""
        return self._ask("rank", question, question.extent.scope, self._own.rank)

    def version(self, extent: Extent) -> str:
        """See :meth:`Answerer.version`."""
        return self._ask("version", extent, extent.scope, self._own.version)

    def _ask(self, method: Method, asked: A, scope: Scope, here: Callable[[A], T]) -> T:
        data = _packed(method, asked)
        try:
            answer = NotImplemented if data is None else frames.unpack(self._worker(scope).ask(data))
        except LostError:
            answer = NotImplemented
        if answer is NotImplemented:
            return here(asked)
        if isinstance(answer, Failure):
            raise answer.error from InWorkerError(answer.trace)
        found: T = answer
        return found

    def _worker(self, scope: Scope) -> _Worker:
        """The worker of a scope; scopes that are asked about for the first time go round."""
        with self._lock:
            worker = self._of_scope.get(scope)
            if worker is None:
                worker = self._of_scope[scope] = self._workers[self._given % self._count]
                self._given += 1
                if len(self._of_scope) > MOST_SCOPES:
                    self._of_scope.popitem(last=False)
            self._of_scope.move_to_end(scope)
            return worker

    def begin_in_child(self) -> None:
        """In a forked child: leave the workers to the parent, and have some of one's own."""
        self.close.detach()
        for worker in self._workers:
            worker.abandon()
        self._begin()


def _packed(method: Method, asked: Question | Extent) -> bytes | None:
    """What a worker is sent; ``None`` where it cannot be, as with a scorer or a time zone of the caller's own."""
    if isinstance(asked, Question) and callable(asked.relevance):
        return None
    try:
        return frames.pack((method, asked))
    except (pickle.PicklingError, TypeError, AttributeError):
        return None


def _close_all(workers: list[_Worker]) -> None:
    for worker in workers:
        worker.close()


_all: WeakSet[Workers] = WeakSet()


def _begin_in_child() -> None:
    for workers in list(_all):
        workers.begin_in_child()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_in_child)
