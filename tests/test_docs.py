"""The pages name tests that exist, pictures that are there, and a reason for each block that is only shown."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from llmslim_memory import MemoryStore
from llmslim_memory.testing import StoreContract

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted(ROOT.glob("docs/*.md")), *sorted(ROOT.glob("integrations/*/README.md"))]
SKIP = "<!--- skip: next -->"
SHOWN = re.compile(r"<!--- shown only: \S.* -->")
RUN = ("```python", "```bash")


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_a_block_that_is_only_shown_says_why(page: Path) -> None:
    lines = page.read_text(encoding="utf-8").splitlines()
    skipped = [at for at, line in enumerate(lines) if line == SKIP]
    shown = [at for at in openings(lines) if not lines[at].lstrip().startswith((*RUN, "```{"))]
    assert [at + 1 for at in [*skipped, *shown] if not SHOWN.fullmatch(lines[at - 1].strip())] == []


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_a_block_that_runs_is_not_said_to_be_shown_only(page: Path) -> None:
    lines = page.read_text(encoding="utf-8").splitlines()
    running = [at for at in openings(lines) if lines[at].startswith(RUN) and lines[at - 1] != SKIP]
    assert [at + 1 for at in running if SHOWN.fullmatch(lines[at - 1])] == []


def test_a_block_without_a_reason_is_noticed() -> None:
    assert openings(["a", "```sh", "x", "```", " ~~~", "```", "y", " ~~~", "````json", "```", "````"]) == [1, 4, 8]
    assert not SHOWN.fullmatch("<!--- shown only:  -->")
    assert not SHOWN.fullmatch("")


def openings(lines: list[str]) -> list[int]:
    """Where the fenced blocks of a page begin."""
    found, fence = [], ""
    for at, line in enumerate(lines):
        [mark] = re.findall(r"^ *(`{3,}|~{3,}|)", line)
        if mark and not fence:
            found.append(at)
            fence = mark
        elif fence and mark.startswith(fence) and line.strip() == mark:
            fence = ""
    return found


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_pictures_and_files_linked_to_are_there(page: Path) -> None:
    linked = re.findall(r"\]\((?!https?:|#)([^)#\s]+)", page.read_text(encoding="utf-8"))
    assert [path for path in linked if not (page.parent / path).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_an_install_line_brings_what_the_agents_of_the_pages_need(page: Path) -> None:
    lines = [line for line in page.read_text(encoding="utf-8").splitlines() if line.startswith("pip install")]
    assert [line for line in lines if re.search(r"integrations/langchain(?!\[agents\])", line)] == []


def test_the_threat_model_names_tests_that_exist() -> None:
    page = (ROOT / "docs/threat-model.md").read_text(encoding="utf-8")
    sources = [path.read_text(encoding="utf-8") for path in [*ROOT.glob("tests/**/*.py"), *ROOT.glob("*/*/tests/*.py")]]
    sources += [path.read_text(encoding="utf-8") for path in ROOT.glob("llmslim_memory/testing/*.py")]
    known = {name for source in sources for name in re.findall(r"def (test_\w+)", source)}
    named = set(re.findall(r"`(test_\w+)`", page))
    assert len(named) > 30
    assert named - known == set()
    assert all((ROOT / path).is_file() for path in re.findall(r"`(tests/[\w/]+\.py)`", page))


def test_every_page_is_in_the_tables_of_contents() -> None:
    index = (ROOT / "docs/index.md").read_text(encoding="utf-8").splitlines()
    assert {path.stem for path in ROOT.glob("docs/*.md")} - {"index"} <= set(index)


class TestTheStoreOfThePage(StoreContract):
    """The store that docs/writing-a-store.md spells out."""

    @pytest.fixture
    def store(self) -> MemoryStore:
        page = (ROOT / "docs/writing-a-store.md").read_text(encoding="utf-8")
        namespace: dict[str, Any] = {}
        exec(re.findall(r"```python\n(.*?)```", page, re.DOTALL)[0], namespace)
        made: MemoryStore = namespace["DictStore"]()
        return made
