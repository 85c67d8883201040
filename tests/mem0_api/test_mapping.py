"""How each feature of Mem0 is met by turns kept word for word: exactly, nearly, better, or with a clear error."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from hashlib import md5
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from mem0_api.answers import texts

from llmslim_memory import Memory as TurnMemory
from llmslim_memory import MemoryContext
from llmslim_memory.mem0 import AsyncMemory, AsyncMemoryClient, Memory, MemoryClient
from llmslim_memory.mem0 import __all__ as exported
from llmslim_memory.mem0 import exceptions as mem0_errors


def only(answer: dict[str, Any]) -> dict[str, Any]:
    [entry] = answer["results"]
    return dict(entry)


def test_the_four_classes_and_their_submodules_are_imported() -> None:
    program = (
        "from llmslim_memory.mem0 import install; install()\n"
        "from mem0 import Memory, AsyncMemory, MemoryClient, AsyncMemoryClient\n"
        "from mem0.memory.main import Memory as same; from mem0.configs.base import MemoryConfig\n"
        "import mem0.exceptions, mem0.client.types; assert same is Memory"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)
    assert {"Memory", "AsyncMemory", "MemoryClient", "AsyncMemoryClient", "install"} == {*exported}


def test_call_style_both_at_once_joined_by_and_and_strict_refuses_the_old_one(memory: Memory, strict: Memory) -> None:
    memory.add("tea", user_id="ann", run_id="r")
    memory.add("coffee", user_id="ann")
    assert texts(memory.get_all(user_id="ann", filters={"run_id": "r"})) == ["tea"]
    with pytest.raises(ValueError, match="given twice"):
        memory.get_all(user_id="ann", filters={"user_id": "bob"})
    with pytest.raises(ValueError, match="not supported"):
        strict.search("tea", user_id="ann")


def test_unknown_kwargs_are_named_and_retired_ones_pass_with_one_warning(memory: Memory) -> None:
    with pytest.raises(TypeError, match="usr"):
        memory.search("tea", user_id="ann", usr="x")
    with pytest.warns(DeprecationWarning, match="output_format") as told:
        memory.search("tea", user_id="ann", output_format="v1.1")
    assert len(told) == 1


def test_add_infer_false_is_a_row_a_message(memory: Memory) -> None:
    messages = [
        {"role": "system", "content": "be brief"},
        {"role": "user", "content": "I sail", "name": "Ann"},
        {"role": "assistant", "content": "Where?"},
    ]
    added = memory.add(messages, user_id="ann", infer=False)["results"]
    assert [(row["memory"], row["event"], row["actor_id"], row["role"]) for row in added] == [
        ("I sail", "ADD", "Ann", "user"),
        ("Where?", "ADD", None, "assistant"),
    ]
    assert all(UUID(row["id"]).version == 4 for row in added)
    stored = memory.get(added[0]["id"]) or {}
    assert stored["hash"] == md5(b"I sail", usedforsecurity=False).hexdigest()


def test_add_infer_true_stores_the_same_and_says_so_once(memory: Memory, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO):
        memory.add("I sail", user_id="ann", infer=True)
        added = memory.add("I sail", user_id="ann")
    assert [row["event"] for row in added["results"]] == ["ADD"]
    assert len([record for record in caplog.records if "infer has no effect" in record.message]) == 1


def test_exact_duplicate_turns_are_both_kept(memory: Memory) -> None:
    assert len({only(memory.add("I sail", user_id="ann"))["id"] for _ in range(2)}) == 2
    assert texts(memory.get_all(user_id="ann")) == ["I sail", "I sail"]


@pytest.mark.parametrize("nothing", [[], "", "  "])
def test_nothing_said_is_no_memory(memory: Memory, nothing: Any) -> None:
    assert memory.add(nothing, user_id="ann") == {"results": []}


@pytest.mark.parametrize("wrong", [None, 5, ("a",), ["a"]])
def test_what_is_no_message_is_validation_003(memory: Memory, wrong: Any) -> None:
    with pytest.raises(mem0_errors.ValidationError) as refused:
        memory.add(wrong, user_id="ann")
    assert refused.value.error_code == "VALIDATION_003"


def test_content_parts_are_joined_and_images_are_kept_beside_them(memory: Memory) -> None:
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}
    parts = [{"type": "text", "text": "my"}, {"type": "text", "text": "boat"}, image]
    added = only(memory.add([{"role": "user", "content": parts}], user_id="ann"))
    assert added["memory"] == "my boat"
    assert (memory.message(added["id"]) or {})["content"] == parts
    assert memory.add([{"role": "user", "content": [image]}], user_id="ann") == {"results": []}
    assert [kept["memory_id"] for kept in memory.messages(user_id="ann")] == [added["id"], None]


def test_tool_calls_without_content_are_no_memory_and_are_kept(memory: Memory) -> None:
    call = {"role": "assistant", "content": None, "tool_calls": [{"id": "c", "function": {"name": "sail"}}]}
    assert memory.add([call], user_id="ann") == {"results": []}
    assert [kept["message"]["tool_calls"] for kept in memory.messages(user_id="ann")] == [call["tool_calls"]]


def test_missing_scope_is_a_validation_error_that_is_a_value_error_too(memory: Memory) -> None:
    with pytest.raises(mem0_errors.ValidationError) as refused:
        memory.add("x")
    assert refused.value.error_code == "VALIDATION_001"
    assert isinstance(refused.value, ValueError)
    assert isinstance(refused.value, mem0_errors.MemoryError)


def test_scope_id_rules_trim_take_numbers_and_leave_inner_space_to_strict(memory: Memory, strict: Memory) -> None:
    memory.add("x", user_id=" Ann Lee ")
    memory.add("y", user_id=42)
    assert texts(memory.get_all(user_id="Ann Lee")) == ["x"]
    assert texts(memory.get_all(filters={"user_id": 42})) == texts(memory.get_all(user_id="42")) == ["y"]
    for blank in ("", "  "):
        with pytest.raises(ValueError, match="cannot be empty"):
            memory.add("x", user_id=blank)
    with pytest.raises(ValueError, match="whitespace"):
        strict.add("x", user_id="Ann Lee")


def test_a_star_as_id_is_any_value_beside_another_id_or_where_all_are_allowed(memory: Memory) -> None:
    memory.add("x", user_id="ann", agent_id="cook")
    memory.add("y", user_id="bob")
    assert texts(memory.get_all(filters={"user_id": "*", "agent_id": "cook"})) == ["x"]
    assert texts(memory.get_all(filters={"user_id": "*"}, allow_all=True)) == ["x", "y"]
    calls = (
        lambda: memory.get_all(filters={"user_id": "*"}),
        lambda: memory.add("z", user_id="*"),
        lambda: memory.delete_all("*"),
    )
    for call in calls:
        with pytest.raises(ValueError, match=r"\*"):
            call()
    assert len(memory.get_all(filters={"user_id": "*"}, allow_all=True)["results"]) == 2


def test_none_in_filters_is_as_if_not_written(memory: Memory) -> None:
    memory.add("x", user_id="ann")
    assert texts(memory.get_all(filters={"user_id": "ann", "agent_id": None})) == ["x"]


def test_metadata_is_copied_and_back_dates_and_cannot_say_whose(memory: Memory) -> None:
    given: dict[str, Any] = {"created_at": "2024-05-01T10:00:00+02:00", "user_id": "eve", "tags": ["a"]}
    item = memory.get(only(memory.add("x", user_id="ann", metadata=given))["id"]) or {}
    assert (item["created_at"], item["user_id"], item["metadata"]) == (given["created_at"], "ann", {"tags": ["a"]})
    given["tags"].append("b")
    assert (memory.get(item["id"]) or {})["metadata"] == {"tags": ["a"]}
    assert (memory.get(only(memory.add("y", user_id="ann"))["id"]) or {})["metadata"] is None


def test_an_expiration_date_hides_from_reads_but_not_from_get(memory: Memory) -> None:
    memory_id = only(memory.add("a trial", user_id="ann", expiration_date="2020-01-31"))["id"]
    assert memory.get_all(user_id="ann") == memory.search("trial", user_id="ann") == {"results": []}
    assert texts(memory.get_all(user_id="ann", show_expired=True)) == ["a trial"]
    assert (memory.get(memory_id) or {})["expiration_date"] == "2020-01-31"


def test_a_timestamp_is_honoured_and_so_is_a_reference_date(memory: Memory) -> None:
    said = only(memory.add("We sailed to Brest", user_id="ann", timestamp=1_700_000_000))
    assert (memory.get(said["id"]) or {})["created_at"] == datetime.fromtimestamp(1_700_000_000, UTC).isoformat()
    found = memory.search("What did we do yesterday?", user_id="ann", reference_date="2023-11-15")
    assert texts(found) == ["We sailed to Brest"]


def test_procedural_memory_is_not_implemented_and_says_what_to_do(memory: Memory) -> None:
    with pytest.raises(NotImplementedError, match="add the turns and read them back") as refused:
        memory.add("x", agent_id="a", memory_type="procedural_memory")
    assert isinstance(refused.value, ValueError)
    with pytest.raises(mem0_errors.ValidationError, match="episodic") as other:
        memory.add("x", user_id="ann", memory_type="episodic")
    assert other.value.error_code == "VALIDATION_002"


def test_prompts_models_and_graphs_have_no_effect_and_one_line_names_them(caplog: pytest.LogCaptureFixture) -> None:
    config = {"custom_instructions": "be brief", "reranker": {"provider": "x"}, "graph_store": {"provider": "neo4j"}}
    with caplog.at_level(logging.WARNING), Memory.from_config(config, db=":memory:") as memory:
        assert texts(memory.add("I sail", user_id="ann", prompt="extract")) == ["I sail"]
        assert memory.custom_instructions == "be brief"  # type: ignore[attr-defined]
    [line] = [record.message for record in caplog.records if "these settings" in record.message]
    assert all(name in line for name in config)


def test_from_config_chooses_the_file_and_needs_no_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    config = {
        "version": "v1.1",
        "vector_store": {
            "provider": "qdrant",
            "config": {"collection_name": "notes", "path": str(tmp_path), "on_disk": True, "embedding_model_dims": 384},
        },
        "llm": {"provider": "openai", "config": {"model": "gpt-4.1-mini", "temperature": 0}},
        "embedder": {"provider": "huggingface", "config": {"model": "all-MiniLM-L6-v2"}},
        "history_db_path": str(tmp_path / "elsewhere" / "history.db"),
    }
    with Memory.from_config(config) as memory:
        memory.add("I sail", user_id="ann")
    assert {path.name for path in tmp_path.iterdir()} <= {
        "notes.llmslim.db",
        "notes.llmslim.db-wal",
        "notes.llmslim.db-shm",
    }


def test_search_scores_fall_from_1_and_the_threshold_is_on_the_score_returned(memory: Memory) -> None:
    for said in ("I sail on the lake", "My boat is blue", "Tea please"):
        memory.add(said, user_id="ann")
    found = memory.search("Where do I sail my boat?", filters={"user_id": "ann"}, explain=True)["results"]
    scores = [hit["score"] for hit in found]
    assert scores == sorted(scores, reverse=True)
    assert all(0.1 <= score <= 1 for score in scores)
    assert len(found[0]["score_details"]) == 7
    assert len(memory.search("quantum", filters={"user_id": "ann"}, threshold=0.0, top_k=2)["results"]) == 2


def test_a_token_budget_returns_our_context_beside_the_results(memory: Memory) -> None:
    memory.add("I sail on the lake", user_id="ann")
    answer = memory.search("Where do I sail?", user_id="ann", token_budget=200)
    assert isinstance(answer["context"], MemoryContext)
    assert "I sail on the lake" in answer["context"].text
    assert answer["context"].tokens <= 200


def test_rerank_changes_nothing(memory: Memory) -> None:
    memory.add("I sail", user_id="ann")
    assert memory.search("sail", user_id="ann", rerank=True) == memory.search("sail", user_id="ann", rerank=False)


def test_get_all_is_chronological_and_a_count_of_zero_is_none(memory: Memory) -> None:
    for day in (3, 1, 2):
        memory.add(f"day {day}", user_id="ann", timestamp=f"2026-01-0{day}")
    assert texts(memory.get_all(user_id="ann")) == ["day 1", "day 2", "day 3"]
    assert texts(memory.get_all(user_id="ann", top_k=2)) == ["day 1", "day 2"]
    assert memory.get_all(user_id="ann", top_k=0) == {"results": []}


def test_get_update_delete_history_reset_and_close(memory: Memory) -> None:
    memory_id = only(memory.add("I sail", user_id="ann", metadata={"a": 1}))["id"]
    memory.update(memory_id, "I row", metadata={"b": 2})
    item = memory.get(memory_id) or {}
    assert (item["memory"], item["metadata"]) == ("I row", {"a": 1, "b": 2})
    assert item["hash"] == md5(b"I row", usedforsecurity=False).hexdigest()
    assert item["updated_at"] > item["created_at"]
    memory.delete(memory_id)
    rows = [(row["event"], row["old_memory"], row["new_memory"]) for row in memory.history(memory_id)]
    assert rows == [("ADD", None, "I sail"), ("UPDATE", "I sail", "I row"), ("DELETE", "I row", None)]
    gone = only(memory.add("secret", user_id="ann"))["id"]
    memory.delete(gone, purge=True)
    assert memory.history(gone) == []
    memory.reset()
    assert memory.history(memory_id) == []
    memory.close()
    memory.close()


def test_relations_are_absent_whatever_is_asked_for(memory: Memory) -> None:
    with pytest.warns(DeprecationWarning, match="enable_graph"):
        answer = memory.add("I sail", user_id="ann", enable_graph=True)
    assert {*answer, *memory.search("sail", user_id="ann"), *memory.get_all(user_id="ann")} == {"results"}


def test_filters_join_truly_and_never_leave_the_scope(memory: Memory) -> None:
    for name, cat in (("alice", "work"), ("alice", "home"), ("bob", "work")):
        memory.add(f"{name} {cat}", user_id=name, metadata={"cat": cat, "deep": {"k": cat}})
    memory.add("alice bare", user_id="alice")
    reads = {
        "alice home": {"cat": {"ne": "work"}},
        "alice home, alice bare": {"NOT": [{"cat": "work"}]},
        "alice work, alice home": {"cat": "*"},
        "": {"AND": [{"cat": "work"}, {"cat": "home"}]},
        "alice work": {"deep.k": {"icontains": "WOR"}, "metadata": {"cat": "work"}},
    }
    for expected, filters in reads.items():
        assert ", ".join(texts(memory.get_all(filters={"user_id": "alice", **filters}))) == expected
    assert texts(memory.get_all(filters={"user_id": "alice", "AND": [{"user_id": "bob"}]})) == []
    assert len(texts(memory.get_all(filters={"OR": [{"user_id": "alice"}, {"user_id": {"in": ["bob"]}}]}))) == 4


async def test_async_memory_is_made_with_and_without_await(tmp_path: Path) -> None:
    config = {"vector_store": {"config": {"path": str(tmp_path)}}}
    async with AsyncMemory.from_config(config) as plain:
        await plain.add("I sail", user_id="ann", llm=None)
    awaited = await AsyncMemory.from_config(config)
    assert texts(await awaited.get_all(user_id="ann")) == ["I sail"]
    awaited.close()


def test_threads_lose_nothing(tmp_path: Path) -> None:
    # Two processes of eight threads: test_promises.py.
    with Memory(db=tmp_path / "m.db") as memory, ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: memory.add(f"note {n}", user_id="ann"), range(80)))
        assert len(texts(memory.get_all(user_id="ann", limit=1000))) == 80


def test_timestamps_are_utc_with_an_offset_and_microseconds(memory: Memory) -> None:
    item = memory.get(only(memory.add("x", user_id="ann"))["id"]) or {}
    assert item["updated_at"] == item["created_at"]
    assert datetime.fromisoformat(item["created_at"]).utcoffset() == UTC.utcoffset(None)
    assert item["created_at"].endswith("+00:00")


def test_the_hosted_client_has_its_shapes_here_and_errors_for_the_rest(client: MemoryClient) -> None:
    client.add("I sail", user_id="ann", app_id="boats")
    page = client.get_all(filters={"app_id": "boats"}, page=1, page_size=1)
    assert (page["count"], page["next"], page["previous"], texts(page)) == (1, None, None, ["I sail"])
    assert isinstance(client.get_all(user_id="ann", version="v1"), list)
    for name in ("create_memory_export", "get_summary", "feedback", "get_webhooks", "get_profile"):
        with pytest.raises(NotImplementedError, match=name):
            getattr(client, name)()
    with pytest.raises(NotImplementedError, match="project"):
        client.project.update()


async def test_the_hosted_async_client_finds_what_it_added(turns: TurnMemory) -> None:
    async with AsyncMemoryClient(api_key="none", db=turns) as client:
        await client.add("I sail", user_id="ann")
        assert texts(await client.search("sail", user_id="ann")) == ["I sail"]


def test_telemetry_and_notices_are_absent(capfd: pytest.CaptureFixture[str], memory: Memory) -> None:
    # That nothing is sent or written: test_config.py.
    memory.add("I sail", user_id="ann")
    memory.search("sail", user_id="ann")
    assert capfd.readouterr() == ("", "")
    assert [name for name in sys.modules if name.startswith("posthog")] == []


def test_attributes_are_those_that_foreign_code_reads(memory: Memory) -> None:
    read = {name: getattr(memory, name) for name in ("api_version", "collection_name", "reranker", "enable_graph")}
    assert read == {"api_version": "v1.1", "collection_name": "mem0", "reranker": None, "enable_graph": False}
    assert json.loads(json.dumps(memory.config.model_dump()))["version"] == "v1.1"
    for name in ("vector_store", "embedding_model", "llm", "db"):
        getattr(memory, name).search = None
