"""Who computes when, among the threads of this process: a write goes first, and searches go one after the other.

Python's interpreter lock lets one thread compute at a time, whoever asks. A thread that gives it up for a moment, as
every statement of a database makes it do, waits up to 5 ms to get it back from one that computes, and threads that
compute side by side hand it over hundreds of times a search. So they agree: a search waits where no other thread is in
the middle of one, and holds still, at places between its steps, while a write is under way. Both are courtesies that
end after a while: nothing here can stop a search for good.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Condition, Lock, local
from time import monotonic

COMPUTING = 1
"""Searches that compute at the same time."""
LONGEST_QUEUE = 1.0
"""Seconds after which a search no longer waits for those that came before it."""
PATIENCE = 0.01
"""Seconds that one search holds still for writes, all in all."""


class _Search(local):
    """What this thread's search is doing."""

    has_place = False
    patience = 0.0


class Pace:
    """Says who goes on; safe to share between threads, and new in a child process."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Begin anew: the threads that were waited for do not exist here."""
        self._lock = Lock()
        self._places = COMPUTING
        self._queue: deque[Lock] = deque()
        self._writes = 0
        self._written = Condition()
        self._search = _Search()

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Have searches hold still for the time of a write."""
        with self._written:
            self._writes += 1
        try:
            yield
        finally:
            with self._written:
                self._writes -= 1
                self._written.notify_all()

    @contextmanager
    def computing(self) -> Iterator[None]:
        """Wait for the searches that came before, and compute; a search within another goes on at once."""
        search = self._search
        if search.has_place:
            yield
            return
        search.has_place, search.patience = self._take_place(), PATIENCE
        try:
            self.give_way()
            yield
        finally:
            self._leave_place()

    @contextmanager
    def elsewhere(self) -> Iterator[None]:
        """Let other searches compute while this one waits for a store or runs a scorer."""
        search = self._search
        if not search.has_place:
            yield
            return
        self._leave_place()
        try:
            yield
        finally:
            search.has_place = self._take_place()

    def give_way(self) -> None:
        """Hold still while a write is under way, as long as this search has patience."""
        search = self._search
        if not self._writes or search.patience <= 0:
            return
        start = monotonic()
        with self._written:
            self._written.wait_for(lambda: not self._writes, search.patience)
        search.patience -= monotonic() - start

    def _take_place(self) -> bool:
        """Whether a place among those that compute is this thread's; first come, first served."""
        with self._lock:
            if self._places:
                self._places -= 1
                return True
            mine = Lock()
            mine.acquire()
            self._queue.append(mine)
        if mine.acquire(timeout=LONGEST_QUEUE):
            return True
        with self._lock:
            if mine not in self._queue:  # it was handed over at the last moment
                return True
            self._queue.remove(mine)
            return False

    def _leave_place(self) -> None:
        if not self._search.has_place:
            return
        self._search.has_place = False
        with self._lock:
            if self._queue:
                self._queue.popleft().release()
            else:
                self._places += 1


pace = Pace()
"""Of this process, as the interpreter lock is."""

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=pace.reset)
