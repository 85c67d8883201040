"""Importing the library is cheap: nothing is loaded that a first search does not need."""

from __future__ import annotations

import subprocess
import sys

import pytest

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
