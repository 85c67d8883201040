"""A command line to type into, with a memory of its own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from llmslim_memory.cli import main


@dataclass(frozen=True)
class Done:
    """What a command left: its exit code and what it wrote."""

    code: int
    out: str
    err: str


Command = Callable[..., Done]


@pytest.fixture
def db(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "memory.db"
    monkeypatch.setenv("LLMSLIM_MEMORY_DB", str(path))
    return path


@pytest.fixture
def command(db: Path, capsys: pytest.CaptureFixture[str]) -> Command:
    def run(*arguments: str) -> Done:
        with pytest.raises(SystemExit) as left:
            main(arguments)
        written = capsys.readouterr()
        return Done(int(left.value.code or 0), written.out, written.err)

    return run
