"""What changed from release to release of Mem0: calls in every style work, where they do not contradict each other."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pytest
from mem0_api.answers import texts

from llmslim_memory import Memory as TurnMemory
from llmslim_memory.mem0 import Memory, MemoryClient
from llmslim_memory.mem0.calls import RETIRED


@pytest.fixture
def many(memory: Memory) -> Memory:
    for number in range(120):
        memory.add(f"note {number} on sailing", user_id="ann")
    memory.add("a note on sailing of bob's", user_id="bob")
    return memory


def test_the_scope_stands_at_top_level_or_in_filters_or_in_both(many: Memory) -> None:
    styles: list[dict[str, Any]] = [
        {"user_id": "ann", "limit": 5},
        {"filters": {"user_id": "ann"}, "top_k": 5},
        {"user_id": "ann", "filters": {"user_id": "ann"}, "top_k": 5},
        {"user_id": "ann", "filters": {"role": "user"}, "limit": 5},
    ]
    listed = [texts(many.get_all(**style)) for style in styles]
    assert listed == [[f"note {number} on sailing" for number in range(5)]] * 4
    found = [texts(many.search("sailing", **style)) for style in styles]
    assert len(found[0]) == 5
    assert found == [found[0]] * 4


def test_the_defaults_are_those_of_the_style_of_the_call(many: Memory) -> None:
    assert len(texts(many.get_all(user_id="ann"))) == 100
    assert len(texts(many.search("sailing", user_id="ann"))) == 100
    assert len(texts(many.get_all(filters={"user_id": "ann"}))) == 20
    assert len(texts(many.search("sailing", filters={"user_id": "ann"}))) == 20


def test_limit_counts_and_top_k_goes_before_it(many: Memory) -> None:
    assert len(texts(many.search("sailing", filters={"user_id": "ann"}, limit=3))) == 3
    assert len(texts(many.search("sailing", filters={"user_id": "ann"}, limit=3, top_k=4))) == 4


@pytest.mark.parametrize("call", ["search", "get_all"])
def test_strict_refuses_ids_at_top_level_as_2_x_does(strict: Memory, call: str) -> None:
    with pytest.raises(ValueError, match=rf"Top-level entity parameters frozenset.*are not supported in {call}\(\)"):
        getattr(strict, call)(*(["x"] if call == "search" else []), user_id="ann")


@pytest.mark.parametrize("name", sorted(RETIRED))
def test_retired_arguments_are_passed_over_with_a_warning(memory: Memory, name: str) -> None:
    with pytest.warns(DeprecationWarning, match=name):
        memory.search("x", user_id="ann", **{name: "v1.1"})


@pytest.mark.parametrize("call", ["add", "search", "get_all"])
def test_an_argument_that_no_release_knew_is_a_type_error_naming_it(memory: Memory, call: str) -> None:
    with pytest.raises(TypeError, match="usr_id"):
        getattr(memory, call)(*([] if call == "get_all" else ["x"]), user_id="ann", usr_id="bob")


def test_add_takes_no_filters_as_since_0_1_106(memory: Memory) -> None:
    with pytest.raises(TypeError, match="filters"):
        memory.add("x", user_id="ann", filters={"k": 1})


def test_what_only_a_model_would_read_is_passed_over(memory: Memory, caplog: pytest.LogCaptureFixture) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        added = memory.add("x", user_id="ann", prompt="extract", infer=True)
        assert texts(memory.search("x", user_id="ann", rerank=True)) == texts(added) == ["x"]


def test_events_are_only_ever_additions(memory: Memory) -> None:
    for text in ("I love tea", "I hate tea", "I love tea"):
        assert [entry["event"] for entry in memory.add(text, user_id="ann")["results"]] == ["ADD"]
    assert texts(memory.get_all(user_id="ann")) == ["I love tea", "I hate tea", "I love tea"]


def test_a_text_update_keeps_metadata(memory: Memory) -> None:
    memory_id = memory.add("x", user_id="ann", metadata={"k": 1})["results"][0]["id"]
    memory.update(memory_id, "y")
    assert (memory.get(memory_id) or {})["metadata"] == {"k": 1}


def test_delete_all_deletes_all_of_the_scope_and_nothing_else(many: Memory) -> None:
    many.delete_all(user_id="ann")
    assert texts(many.get_all(user_id="ann")) == []
    assert len(texts(many.get_all(user_id="bob"))) == 1


def test_output_is_always_a_dict_but_for_the_clients_old_formats(memory: Memory, client: MemoryClient) -> None:
    memory.add("x", user_id="ann")
    assert isinstance(memory.get_all(user_id="ann"), dict)
    assert isinstance(client.search("x", user_id="ann"), dict)
    assert isinstance(client.search("x", user_id="ann", version="v2"), list)
    assert isinstance(client.get_all(user_id="ann", output_format="v1.0"), list)
    assert isinstance(client.add("y", user_id="ann", output_format="v1.0"), list)


def test_a_store_that_keeps_no_records_is_refused_by_name(turns: TurnMemory) -> None:
    class Bare:
        add = get = list = update = delete = delete_scope = lambda self, *_: None

    with pytest.raises(TypeError, match="Bare keeps no side records"):
        Memory(db=TurnMemory(Bare()))  # type: ignore[arg-type]


def test_the_first_argument_of_add_is_messages_by_position_or_name(memory: Memory) -> None:
    assert texts(memory.add("x", user_id="ann")) == texts(memory.add(messages="x", user_id="ann")) == ["x"]
    with pytest.raises(ValueError, match="messages must be"):
        memory.add(None, user_id="ann")


@pytest.mark.parametrize("call", ["add", "search"])
def test_ids_are_keyword_only_as_since_0_1_106(memory: Memory, call: str) -> None:
    with pytest.raises(TypeError, match="positional"):
        getattr(memory, call)("x", "ann")


def test_a_threshold_is_0_1_in_the_new_style_and_none_in_the_old(memory: Memory) -> None:
    memory.add("On sailing: boats, tea and the weather at sea", user_id="ann")
    memory.add("We sailed in June and in July of that year", user_id="ann")
    old = memory.search("What about boats at sea?", user_id="ann")["results"]
    new = memory.search("What about boats at sea?", filters={"user_id": "ann"})["results"]
    assert [hit for hit in old if hit["score"] >= 0.1] == new


def test_procedural_memory_needs_a_model_in_every_release(memory: Memory) -> None:
    with pytest.raises(NotImplementedError):
        memory.add("x", agent_id="a", memory_type="procedural_memory")


def test_an_update_takes_text_data_metadata_and_expiry(memory: Memory) -> None:
    memory_id = memory.add("x", user_id="ann")["results"][0]["id"]
    memory.update(memory_id, "a")
    memory.update(memory_id=memory_id, data="b")
    memory.update(memory_id, text="c", metadata={"k": 1}, expiration_date="2999-01-01")
    found = memory.get(memory_id) or {}
    assert (found["memory"], found["metadata"], found["expiration_date"]) == ("c", {"k": 1}, "2999-01-01")


@pytest.mark.parametrize("call", ["delete", "update"])
def test_an_unknown_id_is_a_value_error_as_since_1_0_8(memory: Memory, call: str) -> None:
    with pytest.raises(ValueError, match="not found"):
        getattr(memory, call)("no such id", *(["x"] if call == "update" else []))


def test_ids_of_1_x_with_spaces_and_numbers_stay_reachable(memory: Memory) -> None:
    memory.add("x", user_id="Ann Lee")
    memory.add("y", user_id=42)
    assert texts(memory.get_all(filters={"user_id": "Ann Lee"})) == ["x"]
    assert texts(memory.search("y", user_id=42)) == texts(memory.search("y", filters={"user_id": "42"})) == ["y"]


def test_metadata_cannot_set_ids_as_since_2_0_16(memory: Memory) -> None:
    added = memory.add("x", user_id="ann", metadata={"user_id": "bob", "actor_id": "eve", "k": 1})["results"][0]
    found = memory.get(added["id"]) or {}
    assert (found["user_id"], found.get("actor_id"), found["metadata"]) == ("ann", None, {"k": 1})


@pytest.mark.parametrize("stated", ["2024-07-26T08:44:41.039788-07:00", "2025-12-02", "2026-03-29T06:00:00Z"])
def test_created_at_in_metadata_counts_and_comes_back_as_given_as_since_1_0_9(memory: Memory, stated: str) -> None:
    memory.add("x", user_id="ann", metadata={"created_at": stated})
    memory.add("y", user_id="ann")
    assert memory.get_all(user_id="ann")["results"][0]["created_at"] == stated
    assert texts(memory.get_all(user_id="ann", filters={"created_at": {"lte": stated}})) == ["x"]


def test_created_at_that_is_no_iso_time_comes_back_as_one(memory: Memory) -> None:
    memory.add("x", user_id="ann", metadata={"created_at": 1_700_000_000})
    assert memory.get_all(user_id="ann")["results"][0]["created_at"] == "2023-11-14T22:13:20+00:00"


def test_times_are_utc_as_since_1_0_7_and_updated_at_is_never_null(memory: Memory) -> None:
    added = memory.add("x", user_id="ann")["results"][0]
    found = memory.get(added["id"]) or {}
    assert found["created_at"].endswith("+00:00")
    assert found["updated_at"] == found["created_at"]


def test_expiry_explanation_and_attribution_of_2_x_are_there(memory: Memory, turns: TurnMemory) -> None:
    turns.add({"role": "memory", "content": "likes tea"}, user_id="ann", metadata={"attributed_to": "assistant"})
    memory.add("no tea today", user_id="ann", expiration_date="2020-01-01")
    shown = memory.search("tea", user_id="ann", show_expired=True, explain=True)["results"]
    assert {hit["memory"]: hit.get("attributed_to") for hit in shown} == {
        "likes tea": "assistant",
        "no tea today": None,
    }
    assert {hit["memory"]: hit.get("expiration_date") for hit in shown}["no tea today"] == "2020-01-01"
    assert all(hit["score_details"]["final_score"] == hit["score"] for hit in shown)


@pytest.mark.parametrize(
    "setting",
    ["custom_prompt", "custom_fact_extraction_prompt", "custom_update_memory_prompt", "graph_store", "version"],
)
def test_configuration_keys_of_every_release_are_taken(setting: str) -> None:
    with Memory.from_config({setting: "x"}, db=":memory:") as memory:
        assert texts(memory.add("y", user_id="ann")) == ["y"]


@pytest.mark.parametrize("on_disk", [True, False, None])
def test_the_folder_of_a_vector_store_is_never_deleted(tmp_path: Path, on_disk: bool | None) -> None:
    (tmp_path / "collection").mkdir()
    (tmp_path / "collection" / "storage.sqlite").write_bytes(b"of qdrant")
    config = {"vector_store": {"provider": "qdrant", "config": {"path": str(tmp_path), "on_disk": on_disk}}}
    for text in ("x", "y"):
        with Memory.from_config(config) as memory:
            memory.add(text, user_id="ann")
            kept = texts(memory.get_all(user_id="ann"))
    assert kept == ["x", "y"]
    assert (tmp_path / "collection" / "storage.sqlite").read_bytes() == b"of qdrant"


@pytest.mark.parametrize(
    "arguments",
    [
        {"api_key": "m0-x", "host": "https://api.mem0.ai"},
        {"api_key": "m0-x", "org_id": "o", "project_id": "p"},
        {"api_key": "m0-x", "organization": "o", "project": "p"},
        {"client": None},
    ],
)
def test_the_hosted_client_is_made_with_the_arguments_of_every_release(arguments: dict[str, Any]) -> None:
    with MemoryClient(**arguments, db=":memory:") as client:
        assert texts(client.get_all(user_id="ann")) == []
