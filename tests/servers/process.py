"""A server process that the tests own: started on a free port, killed, restarted, and removed with its files."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
import time
from abc import ABC, abstractmethod
from pathlib import Path

UNPRIVILEGED = "nobody"
"""The account that runs servers which refuse to run as root."""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class ServerProcess(ABC):
    """One server in a folder of its own. ``start`` after ``kill`` finds the same data on the same port."""

    account: str | None = None

    def __init__(self) -> None:
        self.port = free_port()
        self.folder = Path(tempfile.mkdtemp(prefix="llmslim-test-"))
        self._process: subprocess.Popen[bytes] | None = None
        if self.account is not None:
            shutil.chown(self.folder, self.account)

    @abstractmethod
    def command(self) -> list[str]:
        """What runs the server in the foreground."""

    @abstractmethod
    def answers(self) -> bool:
        """Whether a client gets an answer."""

    def start(self) -> None:
        with (self.folder / "server.log").open("ab") as log:
            self._process = subprocess.Popen(self.command(), stdout=log, stderr=log, cwd=self.folder, user=self.account)
        self._wait_until_it_answers()

    def _wait_until_it_answers(self) -> None:
        deadline = time.monotonic() + 60
        while not self.answers():
            if self._process is None or self._process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError("the server did not start:\n" + (self.folder / "server.log").read_text()[-2000:])
            time.sleep(0.05)

    def kill(self) -> None:
        """End it as a power cut would: SIGKILL, nothing flushed, nobody told."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def stop(self) -> None:
        """End it in order."""
        if self._process is not None:
            self._process.terminate()
            self._process.wait(timeout=60)
            self._process = None

    def remove(self) -> None:
        self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)


def account_when_root() -> str | None:
    return UNPRIVILEGED if hasattr(os, "geteuid") and os.geteuid() == 0 else None
