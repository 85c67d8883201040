"""``install()``: other people's ``import mem0`` finds this package, in a process of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

IMPORTS = """
import llmslim_memory.mem0 as ours
ours.install()
ours.install()
import mem0
from mem0 import AsyncMemory, AsyncMemoryClient, Memory, MemoryClient
from mem0.client.main import MemoryClient as same_client
from mem0.client.types import AddMemoryOptions, DeleteAllMemoryOptions, GetAllMemoryOptions, SearchMemoryOptions
from mem0.client.utils import APIError
from mem0.configs.base import MemoryConfig, MemoryItem
from mem0.configs.enums import MemoryType
from mem0.embeddings.configs import EmbedderConfig
from mem0.exceptions import MemoryError, MemoryNotFoundError, RateLimitError, ValidationError
from mem0.exceptions import HTTP_STATUS_TO_EXCEPTION, create_exception_from_response
from mem0.llms.configs import LlmConfig
from mem0.memory.main import Memory as same, _validate_and_trim_entity_id
from mem0.vector_stores.configs import VectorStoreConfig
import mem0.memory.main as module

assert mem0 is ours and same is Memory is ours.Memory and same_client is MemoryClient
assert module is __import__("llmslim_memory.mem0.memory.main", fromlist=["x"])
assert mem0.__version__.startswith("2.")
assert isinstance(create_exception_from_response(404, "gone"), MemoryNotFoundError)
assert isinstance(create_exception_from_response(429, ""), RateLimitError)
assert type(create_exception_from_response(418, "")) is MemoryError
assert _validate_and_trim_entity_id(" 42 ", "user_id") == "42" == _validate_and_trim_entity_id(42, "user_id")
with Memory(MemoryConfig(version="v1.1"), db=":memory:") as memory:
    assert memory.add("x", user_id="u")["results"]
"""

REFUSED = """
from llmslim_memory.mem0 import install
install()
for name in ("mem0.proxy.main", "mem0.llms.ollama", "mem0.utils.factory", "mem0.engine", "mem0.nothing"):
    try:
        __import__(name)
    except ModuleNotFoundError as error:
        assert "llmslim_memory.mem0 stands in for mem0" in str(error), error
        assert error.name == name.rpartition(".")[0] or error.name == name or name.startswith(error.name)
    else:
        raise AssertionError(name)
import json.decoder, xml.dom
"""

TOO_LATE = """
import sys, types
sys.modules["mem0"] = types.ModuleType("mem0")
from llmslim_memory.mem0 import install
try:
    install()
except RuntimeError as error:
    assert "before it is imported" in str(error)
else:
    raise AssertionError
"""


def run(program: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program], cwd=tmp_path, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr


def test_all_modules_that_people_import_from_are_served(tmp_path: Path) -> None:
    run(IMPORTS, tmp_path)


def test_a_part_that_calls_a_model_or_the_service_is_refused_by_name(tmp_path: Path) -> None:
    run(REFUSED, tmp_path)


def test_installing_after_mem0_was_imported_is_refused(tmp_path: Path) -> None:
    run(TOO_LATE, tmp_path)
