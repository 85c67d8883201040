"""The three distributions agree with one another, and say what an index and LlamaHub want to know."""

from __future__ import annotations

import re
import tomllib
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from llama_index.memory import llmslim

import llmslim_memory

ROOT = Path(__file__).parent.parent
FOLDERS = {"llmslim-memory": ROOT, "langchain-llmslim": ROOT / "integrations/langchain"}
FOLDERS["llama-index-memory-llmslim"] = ROOT / "integrations/llama-index"


def pyproject(name: str) -> dict[str, Any]:
    return tomllib.loads((FOLDERS[name] / "pyproject.toml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", FOLDERS)
def test_a_distribution_takes_its_version_from_one_file(name: str) -> None:
    described = pyproject(name)
    assert "version" in described["project"]["dynamic"]
    file = FOLDERS[name] / described["tool"]["hatch"]["version"]["path"]
    assert file.resolve() == ROOT / "llmslim_memory/_version.py"
    assert version(name) == llmslim_memory.__version__


@pytest.mark.parametrize("name", FOLDERS)
def test_a_distribution_brings_its_licence_and_describes_itself(name: str) -> None:
    project = pyproject(name)["project"]
    assert project["license"] == "MIT"
    assert all((FOLDERS[name] / file).is_file() for file in project["license-files"])
    assert "Typing :: Typed" in project["classifiers"]
    assert len(project["keywords"]) >= 5
    assert "urls" not in project


@pytest.mark.parametrize("name", FOLDERS)
def test_a_distribution_names_the_releases_of_python_that_the_workflow_runs(name: str) -> None:
    named = [c.rpartition(" ")[2] for c in pyproject(name)["project"]["classifiers"] if ":: 3." in c]
    workflow = (ROOT / ".github/workflows/ci.yml").read_text(encoding="utf-8")
    run = re.findall(r"python: \[(.*)\]", workflow)
    assert run
    assert {tuple(re.findall(r"[\d.]+", releases)) for releases in run} == {tuple(named)}


def test_the_licences_of_the_adapters_are_that_of_the_core() -> None:
    assert len({(folder / "LICENSE").read_text(encoding="utf-8") for folder in FOLDERS.values()}) == 1


def test_extras_of_the_core_name_the_adapters() -> None:
    extras = pyproject("llmslim-memory")["project"]["optional-dependencies"]
    assert extras["langchain"][0].startswith("langchain-llmslim")
    assert extras["llama-index"][0].startswith("llama-index-memory-llmslim")
    assert extras["all"] == ["llmslim-memory[postgres,mongodb,server,mcp,semantic]"]


def test_every_environment_of_the_matrix_has_a_job_in_the_workflow() -> None:
    labels = {
        f"{name}-{label}"
        for name, project in (("langchain", "langchain-llmslim"), ("llama-index", "llama-index-memory-llmslim"))
        for label in pyproject(project)["tool"]["llmslim"]["matrix"]
    }
    workflow = (ROOT / ".github/workflows/ci.yml").read_text(encoding="utf-8")
    listed = re.search(r"releases:.*\n((?: +- \S+\n)+)", workflow)
    assert listed is not None
    assert set(listed[1].split()) - {"-"} == labels


def test_llamahub_is_told_every_public_class_of_the_adapter() -> None:
    hub = pyproject("llama-index-memory-llmslim")["tool"]["llamahub"]
    classes = {name for name in llmslim.__all__ if name.startswith("LLMSlim")}
    assert hub["import_path"] == llmslim.__name__
    assert set(hub["class_authors"]) == classes
