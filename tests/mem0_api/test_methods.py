"""The methods and attributes of `Memory` and `AsyncMemory`, one after the other."""

from __future__ import annotations

import logging
from datetime import date
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from mem0_api.answers import add, texts

from llmslim_memory import Memory as TurnMemory
from llmslim_memory import StoreClosedError
from llmslim_memory.mem0 import AsyncMemory, Memory
from llmslim_memory.mem0.configs.base import MemoryConfig
from llmslim_memory.mem0.exceptions import ValidationError


@pytest.mark.parametrize("config", [None, {}, MemoryConfig(), MemoryConfig(version="v1.1")])
def test_a_memory_takes_any_configuration_object(config: Any) -> None:
    with Memory(config, db=":memory:") as memory:
        assert texts(memory.add("hi there", user_id="u")) == ["hi there"]


def test_from_config_takes_a_dict_by_position_or_by_name(tmp_path: Path) -> None:
    config = {"vector_store": {"provider": "qdrant", "config": {"path": str(tmp_path)}}}
    with Memory.from_config(config) as memory:
        add(memory, "I sail at weekends")
    with Memory.from_config(config_dict=config) as again:
        assert texts(again.get_all(user_id="ann")) == ["I sail at weekends"]


def test_from_config_without_a_dict_is_a_type_error() -> None:
    with pytest.raises(TypeError, match="dict"):
        Memory.from_config(None)  # type: ignore[arg-type]


SAID = {"role": "user", "content": "I sail"}


@pytest.mark.parametrize("messages", ["I sail", SAID, [SAID]])
def test_add_takes_text_a_message_or_a_list(memory: Memory, messages: Any) -> None:
    assert texts(memory.add(messages, user_id="ann")) == ["I sail"]
    assert texts(memory.add(messages=messages, user_id="ann")) == ["I sail"]


def test_get_gives_a_memory_by_id_or_none(memory: Memory) -> None:
    found = memory.get(add(memory, "I sail"))
    assert found is not None
    assert found["memory"] == "I sail"
    assert memory.get("not there") is None


def test_get_all_lists_a_scope_oldest_first_up_to_top_k(memory: Memory) -> None:
    for number in range(25):
        add(memory, f"note {number}")
    assert texts(memory.get_all(filters={"user_id": "ann"})) == [f"note {number}" for number in range(20)]
    assert texts(memory.get_all(filters={"user_id": "ann"}, top_k=3)) == ["note 0", "note 1", "note 2"]
    assert memory.get_all(filters={"user_id": "ann"}, top_k=0) == {"results": []}


def test_search_gives_what_answers_best_first(memory: Memory) -> None:
    add(memory, "The kettle is broken")
    add(memory, "My sister Noor lives in Lisbon")
    found = memory.search("Where does my sister Noor live?", filters={"user_id": "ann"})["results"]
    assert found[0]["memory"] == "My sister Noor lives in Lisbon"
    assert [entry["score"] for entry in found] == sorted((entry["score"] for entry in found), reverse=True)


def test_a_token_budget_adds_the_text_to_show(memory: Memory) -> None:
    add(memory, "My sister Noor lives in Lisbon")
    answer = memory.search("Where does Noor live?", user_id="ann", token_budget=300)
    assert "Lisbon" in answer["context"].text
    assert answer["context"].tokens <= 300
    assert texts(answer) == ["My sister Noor lives in Lisbon"]


def test_update_replaces_the_text_by_position_or_by_either_name(
    memory: Memory, caplog: pytest.LogCaptureFixture
) -> None:
    memory_id = add(memory, "one")
    assert memory.update(memory_id, "two") == {"message": "Memory updated successfully!"}
    memory.update(memory_id=memory_id, text="three")
    with caplog.at_level(logging.WARNING):
        memory.update(memory_id, data="four")
    assert "deprecated" in caplog.text
    assert [row["new_memory"] for row in memory.history(memory_id)] == ["one", "two", "three", "four"]


def test_update_sets_and_clears_an_expiry(memory: Memory) -> None:
    memory_id = add(memory, "the offer stands")
    memory.update(memory_id, expiration_date=date(2020, 1, 31))
    assert texts(memory.get_all(user_id="ann")) == []
    memory.update(memory_id, expiration_date=None)
    assert texts(memory.get_all(user_id="ann")) == ["the offer stands"]


def test_delete_says_so_and_keeps_the_history(memory: Memory) -> None:
    memory_id = add(memory, "one")
    assert memory.delete(memory_id=memory_id) == {"message": "Memory deleted successfully!"}
    assert memory.get(memory_id) is None
    assert [row["event"] for row in memory.history(memory_id)] == ["ADD", "DELETE"]


@pytest.mark.parametrize("purge_at_once", [True, False])
def test_purge_erases_the_history_too_also_of_what_was_deleted_before(memory: Memory, purge_at_once: bool) -> None:
    memory_id = add(memory, "one")
    if not purge_at_once:
        memory.delete(memory_id)
    memory.delete(memory_id, purge=True)
    assert memory.history(memory_id) == []


def test_delete_all_joins_its_ids_by_and_and_takes_them_by_position(memory: Memory) -> None:
    for user, run in (("ann", "r1"), ("ann", "r2"), ("bob", "r1")):
        add(memory, f"{user} {run}", user_id=user, run_id=run)
    assert memory.delete_all("ann", run_id="r1") == {"message": "Memories deleted successfully!"}
    assert texts(memory.get_all(run_id="r1")) == ["bob r1"]
    assert memory.delete_all(user_id="nobody") == {"message": "Memories deleted successfully!"}
    assert texts(memory.get_all(user_id="ann")) == ["ann r2"]


def test_history_of_an_unknown_id_is_empty(memory: Memory) -> None:
    assert memory.history("nothing") == []


def test_reset_deletes_everything_and_the_memory_works_on(memory: Memory, turns: TurnMemory) -> None:
    memory_id = add(memory, "one")
    add(memory, "two", user_id="bob")
    memory.reset()
    assert (turns.scopes(), memory.history(memory_id)) == ([], [])
    assert add(memory, "three")


def test_close_may_be_called_twice_and_ends_the_use() -> None:
    memory = Memory(db=":memory:")
    memory.close()
    memory.close()
    with pytest.raises(StoreClosedError):
        memory.add("x", user_id="u")


def test_a_shared_memory_stays_open(turns: TurnMemory) -> None:
    with Memory(db=turns) as memory:
        add(memory, "one")
    assert len(turns.get_all(user_id="ann")) == 1


def test_projects_are_the_services_alone(memory: Memory) -> None:
    with pytest.raises(ValueError, match="not supported by the OSS Memory SDK"):
        memory.project.update(custom_instructions="be brief")


def test_chat_is_not_implemented(memory: Memory) -> None:
    with pytest.raises(NotImplementedError):
        memory.chat("hello")


def test_the_attributes_that_foreign_code_reads_are_there(memory: Memory) -> None:
    assert (memory.api_version, memory.collection_name, memory.enable_graph) == ("v1.1", "mem0", False)
    absent = (
        "reranker",
        "graph",
        "custom_instructions",
        "custom_fact_extraction_prompt",
        "custom_update_memory_prompt",
    )
    assert [getattr(memory, name) for name in absent] == [None] * 5
    for name in ("embedding_model", "vector_store", "entity_store", "llm", "db", "config"):
        assert getattr(memory, name) is not None
    memory.vector_store.search = list  # programs' tests set such things


class TestAsync:
    async def test_all_methods_are_coroutines_and_close_is_none(self) -> None:
        memory = AsyncMemory(db=":memory:")
        added = await memory.add("My sister Noor lives in Lisbon", user_id="ann", llm=None)
        memory_id = added["results"][0]["id"]
        assert UUID(memory_id).version == 4
        assert texts(await memory.search("Noor", user_id="ann")) == ["My sister Noor lives in Lisbon"]
        assert texts(await memory.get_all(filters={"user_id": "ann"})) == ["My sister Noor lives in Lisbon"]
        await memory.update(memory_id, "Noor lives in Porto")
        assert (await memory.get(memory_id))["memory"] == "Noor lives in Porto"  # type: ignore[index]
        assert (await memory.message(memory_id))["role"] == "user"  # type: ignore[index]
        await memory.delete(memory_id)
        assert len(await memory.history(memory_id)) == 3
        await memory.delete_all(user_id="ann")
        await memory.reset()
        memory.close()

    async def test_it_is_an_async_context_manager(self) -> None:
        async with AsyncMemory(db=":memory:") as memory:
            assert memory.api_version == "v1.1"

    async def test_from_config_may_be_awaited_or_not(self, tmp_path: Path) -> None:
        config = {"history_db_path": str(tmp_path / "history.db")}
        plain = AsyncMemory.from_config(config)
        awaited = await AsyncMemory.from_config(config)
        await plain.add("I sail", user_id="ann")
        assert texts(await awaited.get_all(user_id="ann")) == ["I sail"]
        plain.close()
        awaited.close()

    async def test_a_bad_memory_type_is_a_value_error_here_and_mem0s_there(self, memory: Memory) -> None:
        async with AsyncMemory(db=":memory:") as opened:
            with pytest.raises(ValueError, match="memory_type"):
                await opened.add("x", user_id="u", memory_type="x")
        with pytest.raises(ValidationError, match="memory_type"):
            memory.add("x", user_id="u", memory_type="x")
