"""What is known during a run and belongs neither into the agent's state nor into its stream of updates."""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass, field
from uuid import uuid4

_MOST_RUNS = 1024


@dataclass(slots=True)
class Run:
    """One run of an agent: what was recalled for it (``None``: not yet), the id of the message to put that before,
    and whether a failure was reported."""

    token: str = field(default_factory=lambda: uuid4().hex)
    text: str | None = None
    anchor: str | None = None
    warned: bool = False


class Runs:
    """Runs by their tokens, of which the state carries nothing else. Safe to share between threads.

    The least recently used are forgotten beyond 1,024; who then asks recalls again.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._runs: OrderedDict[str, Run] = OrderedDict()

    def start(self) -> Run:
        """A new run."""
        run = Run()
        with self._lock:
            self._runs[run.token] = run
            while len(self._runs) > _MOST_RUNS:
                self._runs.popitem(last=False)
        return run

    def get(self, token: str | None) -> Run | None:
        """The run of this token, if it is known in this process."""
        with self._lock:
            run = self._runs.get(token or "")
            if run is not None:
                self._runs.move_to_end(run.token)
            return run

    def end(self, token: str) -> None:
        """Forget a run."""
        with self._lock:
            self._runs.pop(token, None)
