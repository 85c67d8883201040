"""Every file in examples/ runs by itself: no keys, no network, nothing left behind."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = sorted(Path(__file__).parent.parent.joinpath("examples").glob("*.py"))


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_the_example_runs_without_keys_and_network(example: Path, tmp_path: Path) -> None:
    kept = {name: os.environ[name] for name in ("PATH", "SYSTEMROOT", "VIRTUAL_ENV") if name in os.environ}
    settings = {"HOME": str(tmp_path), "LLMSLIM_OFFLINE": "1", "PYTHONWARNINGS": "default", "PYTHONUTF8": "1"}
    done = subprocess.run(
        [sys.executable, str(example)], cwd=tmp_path, env=kept | settings, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip(), "an example shows something"
