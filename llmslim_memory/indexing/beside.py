"""Analyses turns in other processes beside this one, for writing so many that one core takes long.

The helpers are children that run this file. One that dies or cannot be started costs speed alone.
"""

from __future__ import annotations

import logging
import pickle
import sys
from collections import deque
from collections.abc import Iterator
from queue import SimpleQueue
from threading import Condition, Thread
from types import TracebackType
from typing import IO, Self

from llmslim_memory.children import Child, may_start, my_pipes, pipe, send, start_child
from llmslim_memory.indexing.turns import TurnAnalyser
from llmslim_memory.tokens import TokenCounter, make_counter
from llmslim_memory.types import Analysis

logger = logging.getLogger(__name__)

CHUNK = 8
"""Turns that a helper is given at a time: few, so that the last to finish is not waited for long."""

IN_FLIGHT = 2
"""Chunks that a helper has at a time, so that it need not wait for the next one."""

Job = tuple[str, str]
"""A turn's role and content."""


class Analysts:
    """This process and its helpers, who share the turns of a batch as each finds the time.

    Args:
        counter: What counts tokens; one that other processes cannot have is nobody's but this process'.
        helpers: How many processes to start.
    """

    def __init__(self, counter: TokenCounter, helpers: int) -> None:
        self._own = TurnAnalyser(counter)
        self._waiting: deque[Job] = deque()
        self._done: dict[Job, Analysis] = {}
        self._in_flight = 0
        self._changed = Condition()
        self._is_closed = False
        self._is_started = False
        self._threads = [Thread(target=self._employ, daemon=True) for _ in range(helpers if self._may_start() else 0)]

    def _may_start(self) -> bool:
        """Whether another process could do the same."""
        return self._own.is_shared and may_start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._changed:
            self._is_closed = True
            self._waiting.clear()
            self._changed.notify_all()
        for thread in self._threads if self._is_started else ():
            thread.join()

    def expect(self, role: str, content: str) -> None:
        """Say that the analysis of a turn will be asked for, so that it may be ready by then."""
        if not self._threads:
            return
        if not self._is_started:
            self._is_started = True
            for thread in self._threads:
                thread.start()
        with self._changed:
            self._waiting.append((role, content))
            self._changed.notify()

    def analyse(self, role: str, content: str) -> Analysis:
        """The analysis of a turn; whatever was expected with it is worked on until all is done."""
        self._help()
        return self._done.get((role, content)) or self._own.pack(role, content)

    def forget(self) -> None:
        """Begin a new batch: what was expected and not asked for is no longer wanted."""
        with self._changed:
            self._waiting.clear()
            self._changed.wait_for(lambda: not self._in_flight)
            self._done.clear()

    def _help(self) -> None:
        """Take on what is still waiting, the last first, and wait for what the helpers have begun."""
        while True:
            with self._changed:
                if not self._waiting:
                    self._changed.wait_for(lambda: not self._in_flight or self._waiting)
                if not self._waiting:
                    return
                job = self._waiting.pop()
            self._done[job] = self._own.pack(*job)

    def _employ(self) -> None:
        """Feed one helper until the end, or until it fails: then what it had is there for others."""
        given: deque[list[Job]] = deque()
        try:
            with start_child(__name__, self._own.encoding) as helper:
                while self._give(helper, given):
                    self._take(helper, given)
        except (OSError, EOFError, pickle.UnpicklingError, AttributeError, ValueError) as error:
            logger.warning("a helper of an import failed (%s): going on without it", type(error).__name__)
        finally:
            with self._changed:
                self._waiting.extend(job for jobs in given for job in jobs)
                self._in_flight -= len(given)
                self._changed.notify_all()

    def _give(self, helper: Child, given: deque[list[Job]]) -> bool:
        """Hand over as much as the helper may have; whether it has anything to do, which is waited for."""
        while len(given) < IN_FLIGHT:
            with self._changed:
                if not given:
                    self._changed.wait_for(lambda: self._waiting or self._is_closed)
                jobs = [self._waiting.popleft() for _ in range(min(CHUNK, len(self._waiting)))]
                if not jobs:
                    return bool(given)
                given.append(jobs)
                self._in_flight += 1
            send(pipe(helper.stdin), jobs)
        return True

    def _take(self, helper: Child, given: deque[list[Job]]) -> None:
        found = pickle.load(pipe(helper.stdout))  # noqa: S301  # what our own child wrote
        with self._changed:
            jobs = given.popleft()
            self._done.update(
                (job, analysis)
                for job, analysis in zip(jobs, found, strict=True)
                if (analysis.version, analysis.encoding) == (self._own.version, self._own.encoding)
            )
            self._in_flight -= 1
            self._changed.notify_all()


def main() -> None:
    """Answer every list of turns on stdin with their analyses on stdout."""
    source, target = my_pipes()
    analyser = TurnAnalyser(make_counter(sys.argv[1]))
    for jobs in _received(source):
        send(target, [analyser.pack(*job) for job in jobs])


def _received(source: IO[bytes]) -> Iterator[list[Job]]:
    """What comes in, read ahead, so that the parent never waits to hand something over."""
    queue: SimpleQueue[list[Job] | None] = SimpleQueue()

    def read() -> None:
        try:
            while True:
                queue.put(pickle.load(source))  # noqa: S301  # what our own parent wrote
        except (EOFError, pickle.UnpicklingError, OSError):
            queue.put(None)

    Thread(target=read, daemon=True).start()
    while (jobs := queue.get()) is not None:
        yield jobs


if __name__ == "__main__":
    main()
