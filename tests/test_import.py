"""Importing the library is cheap: nothing is loaded that a first search does not need."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import llmslim_memory

HEAVY = {
    *("psycopg", "psycopg_pool", "pymongo", "bson"),
    *("fastapi", "starlette", "uvicorn", "pydantic", "prometheus_client", "mcp", "requests", "httpx"),
    *("langchain", "langchain_core", "llama_index.core", "mem0"),
    *("onnxruntime", "tokenizers", "tiktoken", "typer", "rich"),
}


def loaded_by(statement: str) -> set[str]:
    code = f"import sys; {statement}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_importing_the_library_loads_no_driver_framework_or_web_library() -> None:
    assert loaded_by("import llmslim_memory") & HEAVY == set()


@pytest.mark.parametrize("driver", ["psycopg", "pymongo"])
def test_a_memory_in_sqlite_loads_no_driver(driver: str) -> None:
    used = (
        "from llmslim_memory import Memory; memory = Memory(); "
        "memory.add({'role': 'user', 'content': 'hi'}, user_id='u'); memory.search('hi', user_id='u')"
    )
    assert driver not in loaded_by(used)


def test_importing_the_library_loads_nothing_of_its_own_before_it_is_used() -> None:
    assert loaded_by("import llmslim_memory") & {"numpy", "asyncio", "llmslim_memory.memory"} == set()


def test_every_public_name_can_be_imported_and_is_known_to_type_checkers() -> None:
    source = ast.parse(Path(llmslim_memory.__file__).read_text(encoding="utf-8"))
    (typed,) = [node for node in source.body if isinstance(node, ast.If)]
    declared = {alias.name for node in typed.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert declared == {*llmslim_memory.__all__, "PostgresStore", "MongoStore"} - {"__version__"}
    assert all(getattr(llmslim_memory, name) is not None for name in llmslim_memory.__all__)
    assert set(llmslim_memory.__all__) < set(dir(llmslim_memory))


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Memroy'"):
        llmslim_memory.Memroy  # noqa: B018
