"""LlamaIndex's `Mem0Memory`, as it is published, works over our client once `install()` was called."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).parent / "programs/mem0_memory.py"


def run(way: str, folder: Path, task: str) -> list[str]:
    settings = {"LLMSLIM_MEMORY_DB": str(folder / "client.db"), "HOME": str(folder / "home")}
    command = [sys.executable, str(PROGRAM), way, str(folder), task]
    done = subprocess.run(command, env=os.environ | settings, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    answer: list[str] = json.loads(done.stdout.splitlines()[-1])
    return answer


@pytest.mark.parametrize("way", ["config", "client"])
def test_what_was_said_in_one_process_is_in_the_prompt_of_the_next(tmp_path: Path, way: str) -> None:
    (tmp_path / "home").mkdir()
    assert run(way, tmp_path, "tell") == ["My dog is called Bruno.", "A fine name.", "He likes the beach."]
    system, *conversation = run(way, tmp_path, "ask")
    assert system.startswith("system: ")
    assert "My dog is called Bruno." in system
    assert conversation == ["user: What is my dog called?"]
    assert list((tmp_path / "home").iterdir()) == []
