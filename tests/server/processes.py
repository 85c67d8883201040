"""The real command, in a process of its own, as a user would start it."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

STARTED = re.compile(r"on (http://\S+)")


@dataclass
class Served:
    """A running server: where it answers, and what it has said on stderr."""

    process: subprocess.Popen[str]
    url: str = ""
    said: list[str] = field(default_factory=list)
    ready: threading.Event = field(default_factory=threading.Event)

    def follow(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.said.append(line)
            if (found := STARTED.search(line)) and not self.url:
                self.url = found[1]
                self.ready.set()
        self.ready.set()


@contextmanager
def serving(arguments: Sequence[str], **environment: str) -> Iterator[Served]:
    """`llmslim-memory` with ``arguments`` on a free port, stopped with SIGTERM at the end."""
    command = [sys.executable, "-m", "llmslim_memory", *arguments, "--port", "0"]
    process = subprocess.Popen(
        command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=os.environ | environment
    )
    served = Served(process)
    reader = threading.Thread(target=served.follow, daemon=True)
    reader.start()
    try:
        assert served.ready.wait(60)
        assert served.url, "".join(served.said)
        yield served
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
        process.wait(40)
        reader.join(10)
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        process.stderr.close()


def sqlite(folder: Path) -> list[str]:
    return ["serve", "--db", str(folder / "memory.db")]
