"""What only shows in a process of its own: a later process, no network, the other packages of the namespace."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
PROJECT = HERE.parent


def run(*command: object, **settings: str) -> str:
    done = subprocess.run(
        [str(part) for part in command],
        env={**os.environ, **settings},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_two_messages_are_recalled_in_a_later_process(tmp_path: Path) -> None:
    run(sys.executable, HERE / "programs/first.py", tmp_path)
    shown = json.loads(run(sys.executable, HERE / "programs/second.py", tmp_path))
    assert sorted(shown) == ["block", "chat-store", "write-through"]
    for prompt in shown.values():
        assert prompt.startswith("system: ")
        assert "user: My dog is called Bruno." in prompt
    # The block alone is asked before the answer is there, and never again.
    assert [way for way, prompt in sorted(shown.items()) if "assistant: A fine name." in prompt] == [
        "chat-store",
        "write-through",
    ]


def test_everything_works_without_a_network_and_without_a_stored_vocabulary(tmp_path: Path) -> None:
    empty = tmp_path / "vocabularies"
    empty.mkdir()
    done = run(sys.executable, HERE / "programs/offline.py", tmp_path / "memory.db", TIKTOKEN_CACHE_DIR=str(empty))
    assert done == "remembered\n"


def test_no_init_file_stands_above_the_package() -> None:
    assert [path.relative_to(PROJECT) for path in PROJECT.glob("llama_index/**/__init__.py")] == [
        Path("llama_index/memory/llmslim/__init__.py")
    ]


def test_the_other_packages_of_the_namespace_stay_importable(tmp_path: Path) -> None:
    """Three parts of `llama_index.memory` in three places: an installed one, ours as installed here, and one more."""
    other = tmp_path / "llama_index/memory/other"
    other.mkdir(parents=True)
    (other / "__init__.py").write_text("NAME = 'other'\n", encoding="utf-8")
    program = (
        "import llama_index.core, llama_index.memory.mem0, llama_index.memory.llmslim as ours\n"
        "from llama_index.memory import other\n"
        "from llama_index.memory.mem0 import Mem0Memory\n"
        "print(other.NAME, Mem0Memory.class_name(), ours.LLMSlimMemory.class_name())\n"
    )
    assert run(sys.executable, "-c", program, PYTHONPATH=str(tmp_path)) == "other Mem0Memory LLMSlimMemory\n"


def test_importing_the_core_imports_no_framework() -> None:
    program = "import sys, llmslim_memory; print(any(name.startswith('llama_index') for name in sys.modules))"
    assert run(sys.executable, "-c", program) == "False\n"
