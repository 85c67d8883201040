"""The command line with streams that whoever started it has closed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from llmslim_memory import Memory


@pytest.mark.parametrize(
    ("closed", "content"), [("<&-", ""), (">&-", "hello"), ("2>&-", "hello"), (">&- 2>&- <&-", "")]
)
def test_a_turn_is_added_whatever_streams_are_closed(tmp_path: Path, closed: str, content: str) -> None:
    db = tmp_path / "memory.db"
    command = f'"$0" -m llmslim_memory add - --db "$1" {closed}'
    done = subprocess.run(
        ["/bin/sh", "-c", command, sys.executable, str(db)], input="hello", capture_output=True, text=True, timeout=100
    )
    assert (done.returncode, done.stderr) == (0, "")
    with Memory(db) as memory:
        assert [item.content for item in memory.get_all(user_id="default")] == [content]
