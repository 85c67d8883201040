"""Child processes that work for this one: this interpreter with a module of ours, fed through pipes.

They are plain children: unlike those of ``multiprocessing``, they run nothing of the caller's program again, so that
neither a notebook nor a script without a main guard has to care. They end with their parent, however it ends.
"""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
from pathlib import Path
from typing import IO, Any

Child = subprocess.Popen[bytes]
"""A child whose stdin and stdout are pipes; at the end of its input it ends."""


def may_start() -> bool:
    """Whether this interpreter can be started again; in a frozen program it is the program itself."""
    return not getattr(sys, "frozen", False)


def start_child(module: str, *arguments: str, buffered: bool = True) -> Child:
    """Start a process that runs a module of this package; pipes without a buffer have no lock that a fork could copy.

    Raises:
        OSError: It cannot be started.
    """
    roots = [str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
    return subprocess.Popen(  # noqa: S603  # this interpreter and this package
        [sys.executable, "-P", "-m", module, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        bufsize=-1 if buffered else 0,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, roots))},
    )


def pipe(end: IO[bytes] | None) -> IO[bytes]:
    """An end of a pipe that is there.

    Raises:
        EOFError: It is not.
    """
    if end is None:
        raise EOFError
    return end


def send(file: IO[bytes], value: Any) -> None:
    """Write a value for :func:`pickle.load` to read."""
    pickle.dump(value, file, pickle.HIGHEST_PROTOCOL)
    file.flush()


def my_pipes() -> tuple[IO[bytes], IO[bytes]]:
    """In a child: where the parent's values come from and where the answers go.

    What is printed goes elsewhere. Ctrl-C, which goes to the whole group, is the parent's: the end of input tells.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    source, target, sys.stdout = sys.stdin.buffer, sys.stdout.buffer, sys.stderr
    return source, target
