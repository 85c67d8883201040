"""Makes the pictures of README.md and docs/ from what the programs really show.

    .venv/bin/python scripts/make_pictures.py

docs/images/demo.svg is a terminal session, docs/images/inspector.png the inspector page over made-up turns. Needs the
environment of `python3 scripts/dev.py setup`, and a browser for the second.
"""

from __future__ import annotations

import io
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from dev import BROWSERS
from playwright.sync_api import expect, sync_playwright
from rich.console import Console
from rich.text import Text

ROOT = Path(__file__).resolve().parent.parent
IMAGES = ROOT / "docs" / "images"
COLUMNS = 104
SESSION = (["demo", "Where do I live now?", "What fixed the database is locked error?", "Have I ever used Docker?"],)
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]


def main() -> None:
    IMAGES.mkdir(exist_ok=True)
    (IMAGES / "demo.svg").write_text(terminal_session(), encoding="utf-8")
    inspector(IMAGES / "inspector.png")


def terminal_session() -> str:
    screen = Console(record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True, color_system="truecolor")
    with tempfile.TemporaryDirectory() as home:
        for command in SESSION:
            screen.print(Text(f"$ llmslim-memory {shlex.join(command)}", style="bold"))
            screen.print(Text.from_ansi(output_of(command, home)))
    drawn = screen.export_svg(title="llmslim-memory", unique_id="demo")
    return re.sub(r"\s*@font-face \{.*?\}", "", drawn, flags=re.DOTALL)  # a picture fetches nothing


def output_of(command: list[str], home: str) -> str:
    terminal = {"FORCE_COLOR": "1", "COLUMNS": str(COLUMNS), "TERM": "xterm-256color", "PYTHONUTF8": "1"}
    done = subprocess.run(
        [sys.executable, "-m", "llmslim_memory", *command],
        env={**os.environ, **terminal, "HOME": home, "LLMSLIM_OFFLINE": "1"},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return done.stdout


def inspector(picture: Path) -> None:
    sys.path.insert(0, str(ROOT))
    from llmslim_memory import Memory
    from llmslim_memory.cli.demo import example_turns
    from tests.server.processes import serving, sqlite

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with Memory(folder / "memory.db") as memory:
            for turn in example_turns():
                memory.add(turn, user_id="mira", run_id=turn["session_id"])
        with serving(sqlite(folder)) as server:
            photograph(f"{server.url}/ui", "Have I ever used Docker?", picture)


def photograph(address: str, question: str, picture: Path) -> None:
    path = os.environ.get("LLMSLIM_TEST_BROWSER") or next(filter(None, map(shutil.which, BROWSERS)), None)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        page = browser.new_page(viewport={"width": 1360, "height": 860})
        page.goto(address)
        page.locator("#sessions button").first.click()
        page.locator("#budget").fill("36")  # of 100 on the slider: some 400 tokens
        page.locator("#query").fill(question)
        page.locator("#query").press("Enter")
        expect(page.locator("#status")).to_contain_text("Answered", timeout=60_000)
        page.screenshot(path=picture)
        browser.close()


if __name__ == "__main__":
    main()
