"""Runs the Python and bash blocks of README.md and docs/, each page in a folder of its own; sets up hypothesis."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Generator, Iterator
from typing import Any

import pytest
from hypothesis import settings
from sybil import Example, Sybil
from sybil.parsers.markdown import CodeBlockParser, PythonCodeBlockParser, SkipParser

# The same examples every time and no time limit, so that the suite passes or fails by the code alone. To look further:
# pytest --hypothesis-profile=explore
settings.register_profile("suite", deadline=None, derandomize=True)
settings.register_profile("explore", deadline=None, max_examples=2000, print_blob=True)
settings.load_profile("suite")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, Any, Any]:
    """With REQUIRE_ALL=1, as in the second command of the README, a skipped test fails: none hides a promise there.

    Only what needs a wheel that nobody has built for this Python is excused.
    """
    report = yield
    is_excused = sys.version_info >= (3, 14) and "there is no wheel" in str(report.longrepr)
    if report.skipped and not is_excused and os.environ.get("REQUIRE_ALL") == "1":
        report.outcome = "failed"
    return report


@pytest.fixture(scope="module")
def page_folder() -> Iterator[None]:
    """A folder that the blocks of one page may write into."""
    before = os.getcwd()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        os.chdir(folder)
        yield
        os.chdir(before)
    _close_event_loop()


def _close_event_loop() -> None:
    """Close the event loop that a framework's synchronous call opened in this thread and left for the next."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        try:
            loop = asyncio.get_event_loop_policy().get_event_loop()
        except RuntimeError:
            return
    loop.close()
    asyncio.set_event_loop(None)


def _close_what_is_open(namespace: dict[str, Any]) -> None:
    for value in list(namespace.values()):
        if not isinstance(value, type) and callable(getattr(value, "close", None)):
            value.close()


def _run_in_shell(example: Example) -> str | None:
    """Run a block in the folder of its page, which is its home too; give what it printed if it failed."""
    path = os.pathsep.join([os.path.dirname(sys.executable), os.environ["PATH"]])
    settings = {"PATH": path, "HOME": os.getcwd(), "LLMSLIM_OFFLINE": "1", "PYTHONWARNINGS": "default"}
    command = ["bash", "-euo", "pipefail", "-c", str(example.parsed)]
    environment = {**os.environ, **settings}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)  # noqa: S603
    return None if done.returncode == 0 else f"{done.stdout}{done.stderr}"


pytest_collect_file = Sybil(
    parsers=[PythonCodeBlockParser(), CodeBlockParser("bash", _run_in_shell), SkipParser()],
    patterns=["README.md", "docs/*.md", "integrations/*/README.md", "integrations/*/docs/*.md"],
    teardown=_close_what_is_open,
    fixtures=["page_folder"],
).pytest()
