"""Every file in examples/ runs by itself: no keys, no network, nothing left behind."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = sorted(Path(__file__).parent.parent.joinpath("examples").glob("*.py"))


NOTEBOOKS = sorted(Path(__file__).parent.parent.joinpath("examples").glob("*.ipynb"))
RUN_NOTEBOOK = """
import sys, nbformat
from nbclient import NotebookClient
notebook = nbformat.read(sys.argv[1], as_version=4)
NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
print([output.output_type for cell in notebook.cells for output in cell.get("outputs", [])])
"""


def run_example(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    kept = {name: os.environ[name] for name in ("PATH", "SYSTEMROOT", "VIRTUAL_ENV") if name in os.environ}
    settings = {"HOME": str(folder), "LLMSLIM_OFFLINE": "1", "PYTHONWARNINGS": "default", "PYTHONUTF8": "1"}
    return subprocess.run(
        [sys.executable, *command], cwd=folder, env=kept | settings, capture_output=True, text=True, timeout=300
    )


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_the_example_runs_without_keys_and_network(example: Path, tmp_path: Path) -> None:
    done = run_example(tmp_path, str(example))
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip(), "an example shows something"


def test_the_example_of_an_import_replaces_the_key_that_it_holds(tmp_path: Path) -> None:
    [example] = [path for path in EXAMPLES if path.stem == "import_chatgpt"]
    done = run_example(tmp_path, str(example))
    assert "[REDACTED:openai]" in done.stdout
    assert "sk-" not in done.stdout


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_notebook_runs_and_draws(notebook: Path, tmp_path: Path) -> None:
    done = run_example(tmp_path, "-c", RUN_NOTEBOOK, str(notebook))
    assert done.returncode == 0, done.stderr
    assert "display_data" in done.stdout
    assert "error" not in done.stdout
