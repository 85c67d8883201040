"""Configurations from the wild, which file each means, and that nothing else is touched."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from llmslim_memory.mem0 import Memory
from llmslim_memory.mem0.config import database
from llmslim_memory.mem0.configs.base import MemoryConfig, VectorStoreConfig
from llmslim_memory.mem0.exceptions import ConfigurationError

OPENAI = {"provider": "openai", "config": {"model": "gpt-4.1-mini", "api_key": "none"}}
HOSTED = {
    "vector_store": {"provider": "pgvector", "config": {"host": "db", "port": 5432, "collection_name": "team one"}},
    "llm": OPENAI,
    "embedder": {"provider": "huggingface", "config": {"model": "all-MiniLM-L6-v2"}},
    "graph_store": {"provider": "neo4j", "config": {"username": "neo4j"}},
    "custom_fact_extraction_prompt": "Extract.",
    "version": "v1.1",
    "something": "unknown",
}


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(tmp_path))
    monkeypatch.delenv("LLMSLIM_MEMORY_DB", raising=False)
    return tmp_path


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        (None, "{home}/.llmslim/mem0.db"),
        ({}, "{home}/.llmslim/mem0.db"),
        (MemoryConfig(), "{home}/.llmslim/mem0.db"),
        ({"vector_store": None}, "{home}/.llmslim/mem0.db"),
        (HOSTED, "{home}/.llmslim/mem0-team_one.db"),
        ({"vector_store": {"config": {"path": "/data/qdrant"}}}, "/data/qdrant/mem0.llmslim.db"),
        ({"vector_store": {"config": {"path": "~/q", "collection_name": "../x"}}}, "{home}/q/_x.llmslim.db"),
        ({"vector_store": {"config": {"path": ":memory:"}}}, ":memory:"),
        ({"history_db_path": "/data/history.db"}, "/data/history.llmslim.db"),
        ({"history_db_path": ":memory:"}, ":memory:"),
        ({"llmslim": {"db": "postgresql://db/x"}, "history_db_path": "/h.db"}, "postgresql://db/x"),
        (SimpleNamespace(history_db_path="/data/h.db"), "/data/h.llmslim.db"),
        (MemoryConfig(vector_store=VectorStoreConfig("chroma", {"path": "/data"})), "/data/mem0.llmslim.db"),
        (MemoryConfig(vector_store=VectorStoreConfig(provider="faiss", config={"path": "/d"})), "/d/mem0.llmslim.db"),
    ],
)
def test_a_configuration_names_this_file(home: Path, config: Any, expected: str) -> None:
    assert database(config) == expected.format(home=home)


def test_the_environment_names_the_file_where_the_configuration_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LLMSLIM_MEMORY_DB", "/data/all.db")
    assert database(None) == database(HOSTED) == "/data/all.db"
    assert database({"history_db_path": "/h/x.db"}) == "/h/x.llmslim.db"


def test_a_vector_store_that_is_one_file_gets_ours_beside_it(tmp_path: Path) -> None:
    file = tmp_path / "milvus.db"
    file.write_bytes(b"theirs")
    with Memory.from_config({"vector_store": {"config": {"path": str(file)}}}) as memory:
        memory.add("x", user_id="u")
    assert file.read_bytes() == b"theirs"
    assert (tmp_path / "mem0.llmslim.db").is_file()


def test_two_collections_are_two_memories(tmp_path: Path) -> None:
    one, two = (
        Memory.from_config({"vector_store": {"config": {"path": str(tmp_path), "collection_name": name}}})
        for name in ("one", "two")
    )
    with one, two:
        one.add("x", user_id="u")
        assert two.get_all(user_id="u") == {"results": []}
        assert (one.collection_name, two.collection_name) == ("one", "two")


@pytest.mark.parametrize("config", [{"vector_store": "qdrant"}, {"llmslim": 5}, 5, "x"])
def test_a_part_of_the_wrong_type_is_a_configuration_error(config: Any) -> None:
    with pytest.raises(ConfigurationError, match="must be a dict"):
        database(config)


def test_what_has_no_effect_is_named_once(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO), Memory.from_config(HOSTED, db=":memory:"):
        pass
    told = {record.levelname: record.getMessage() for record in caplog.records if record.name.endswith("mem0.config")}
    assert told.keys() == {"INFO", "WARNING"}
    assert told["INFO"].endswith("llm, embedder")
    assert told["WARNING"].endswith("graph_store, custom_fact_extraction_prompt")


def test_a_configuration_can_be_read_back() -> None:
    config = MemoryConfig(vector_store=VectorStoreConfig("qdrant", {"collection_name": "c"}))
    assert config.vector_store.config.collection_name == "c"
    assert (config.embedder.config.model, config.reranker, config.version) == (None, None, "v1.1")
    assert config.model_dump()["vector_store"] == {"provider": "qdrant", "config": {"collection_name": "c"}}
    assert config.dict() == config.model_dump()


PROGRAM = """
import socket, sys

def no_network(*_args, **_options):
    raise AssertionError("the network was used")

socket.socket.connect = socket.getaddrinfo = no_network
from llmslim_memory.mem0 import Memory, MemoryClient

with Memory.from_config({config!r}) as memory:
    made = memory.add([{{"role": "user", "content": "I moved to Pune"}}], user_id="ann", infer=True)
    assert memory.search("Where do I live? Pune", user_id="ann")["results"]
    memory.update(made["results"][0]["id"], "I moved to Goa")
    memory.delete_all(user_id="ann")
with MemoryClient(api_key="m0-key") as client:
    client.add("x", user_id="ann")
for name in ("openai", "qdrant_client", "posthog", "torch", "mem0", "sqlalchemy"):
    assert name not in sys.modules, name
"""


@pytest.mark.parametrize("config", [{}, {**HOSTED, "llm": OPENAI}])
def test_nothing_is_written_outside_the_chosen_file_and_nothing_leaves_the_machine(tmp_path: Path, config: Any) -> None:
    home, data = tmp_path / "home", tmp_path / "data"
    home.mkdir()
    settings = {"HOME": str(home), "LLMSLIM_MEMORY_DB": str(data / "m.db"), "LLMSLIM_OFFLINE": "1"}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(config=config)],
        cwd=home,
        env={"PATH": os.environ["PATH"], "TMPDIR": str(home), "PYTHONUTF8": "1"} | settings,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
    assert list(home.iterdir()) == []
    assert {path.name for path in data.iterdir()} <= {"m.db", "m.db-wal", "m.db-shm"}


def test_without_any_setting_only_the_default_file_is_made(home: Path) -> None:
    with Memory() as memory:
        memory.add("x", user_id="u")
    assert [path.name for path in home.iterdir()] == [".llmslim"]
    assert {path.name for path in (home / ".llmslim").iterdir()} <= {"mem0.db", "mem0.db-wal", "mem0.db-shm"}
