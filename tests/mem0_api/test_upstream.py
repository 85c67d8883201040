"""What Mem0's own tests demand of its public behaviour, said in our words."""

from __future__ import annotations

import logging
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest
from mem0_api.answers import add, texts

from llmslim_memory import Memory as TurnMemory
from llmslim_memory.mem0 import AsyncMemory, Memory
from llmslim_memory.mem0.configs.base import MemoryConfig
from llmslim_memory.mem0.memory.main import _validate_and_trim_entity_id

BLANK, INNER = "   ", "ann lee"


class TestEntityIds:
    @pytest.mark.parametrize("user_id", [BLANK, INNER, "ann\tlee"])
    def test_reads_writes_and_deletions_refuse_white_space_when_strict(self, strict: Memory, user_id: str) -> None:
        calls: list[Any] = [
            lambda: strict.search("query", filters={"user_id": user_id}),
            lambda: strict.get_all(filters={"user_id": user_id}),
            lambda: strict.add("text", user_id=user_id),
            lambda: strict.delete_all(user_id=user_id),
        ]
        for call in calls:
            with pytest.raises(ValueError, match="Invalid user_id"):
                call()

    @pytest.mark.parametrize(("given", "expected"), [(42, "42"), (" ann ", "ann"), (None, None), (True, "True")])
    def test_the_helper_trims_and_turns_into_text(self, given: Any, expected: Any) -> None:
        assert _validate_and_trim_entity_id(given, "user_id") == expected

    @pytest.mark.parametrize("given", [BLANK, "", INNER])
    def test_the_helper_refuses_what_is_blank_or_holds_white_space(self, given: str) -> None:
        with pytest.raises(ValueError, match="Invalid run_id"):
            _validate_and_trim_entity_id(given, "run_id")

    def test_delete_all_trims_and_turns_into_text(self, memory: Memory) -> None:
        add(memory, "x", user_id=7)
        memory.delete_all(user_id=" 7 ")
        assert memory.get_all(user_id=7) == {"results": []}


class TestSearchParameters:
    """Mem0's tests replace the vector store's methods; here they are attributes that nothing calls."""

    @pytest.fixture
    def poked(self, memory: Memory) -> Memory:
        memory.vector_store.search = memory.vector_store.list = lambda *_args, **_options: []
        memory.embedding_model.embed = lambda *_args: [0.1]
        memory.db = SimpleNamespace(get_history=list)
        add(memory, "the query itself")
        return memory

    @pytest.mark.parametrize("query", ["", "  ", None])
    def test_an_empty_query_is_refused(self, poked: Memory, query: Any) -> None:
        with pytest.raises(ValueError, match="Invalid query"):
            poked.search(query, filters={"user_id": "ann"})

    @pytest.mark.parametrize("threshold", [1.01, -0.01])
    def test_a_threshold_outside_0_to_1_is_refused(self, poked: Memory, threshold: float) -> None:
        with pytest.raises(ValueError, match="threshold"):
            poked.search("query", filters={"user_id": "ann"}, threshold=threshold)

    @pytest.mark.parametrize("threshold", [0, 0.0, 1, 1.0])
    def test_the_ends_of_the_range_are_taken(self, poked: Memory, threshold: float) -> None:
        assert isinstance(poked.search("query", filters={"user_id": "ann"}, threshold=threshold)["results"], list)

    def test_a_negative_count_is_refused_and_zero_is_none(self, poked: Memory) -> None:
        for call in (
            lambda count: poked.search("query", filters={"user_id": "ann"}, top_k=count),
            lambda count: poked.get_all(filters={"user_id": "ann"}, top_k=count),
        ):
            assert call(0) == {"results": []}
            with pytest.raises(ValueError, match="top_k"):
                call(-1)

    def test_the_query_is_trimmed(self, poked: Memory) -> None:
        assert poked.search("  query ", user_id="ann") == poked.search("query", user_id="ann")


class TestDeletions:
    def test_deleting_or_updating_what_is_not_there_is_an_error(self, memory: Memory) -> None:
        for call in (memory.delete, lambda memory_id: memory.update(memory_id, "x")):
            with pytest.raises(ValueError, match="not found"):
                call("no-such-id")

    async def test_so_it_is_asynchronously(self) -> None:
        async with AsyncMemory(db=":memory:") as memory:
            for call in (memory.delete, lambda memory_id: memory.update(memory_id, "x")):
                with pytest.raises(ValueError, match="not found"):
                    await call("no-such-id")

    def test_delete_all_goes_beyond_a_page_of_1000(self, memory: Memory) -> None:
        memory.add([{"role": "user", "content": f"n{number}"} for number in range(1_203)], user_id="ann")
        add(memory, "bob's", user_id="bob")
        memory.delete_all(user_id="ann")
        assert memory.get_all(user_id="ann", limit=10) == {"results": []}
        assert texts(memory.get_all(user_id="bob")) == ["bob's"]

    def test_the_end_of_a_history_has_times(self, memory: Memory) -> None:
        memory_id = add(memory, "x")
        memory.delete(memory_id)
        last = memory.history(memory_id)[-1]
        assert last["created_at"] <= last["updated_at"]

    def test_reset_forgets_messages_too_and_keeps_the_collections_name(self, memory: Memory) -> None:
        memory.add({"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:,"}}]}, user_id="ann")
        memory.reset()
        assert memory.messages(user_id="ann") == []
        assert (memory.collection_name, memory.enable_graph) == ("mem0", False)


class TestTimes:
    def test_creation_is_in_utc_and_both_times_are_the_same(self, memory: Memory) -> None:
        found = memory.get(add(memory, "x")) or {}
        assert datetime.fromisoformat(found["created_at"]).tzinfo == UTC
        assert found["created_at"] == found["updated_at"]

    def test_an_update_keeps_creation_and_moves_the_other(self, memory: Memory) -> None:
        memory_id = memory.add("x", user_id="ann", metadata={"created_at": "2024-01-01T08:00:00-08:00"})["results"][0][
            "id"
        ]
        memory.update(memory_id, "y")
        found = memory.get(memory_id) or {}
        assert found["created_at"] == "2024-01-01T08:00:00-08:00"
        assert datetime.fromisoformat(found["updated_at"]) > datetime(2026, 1, 1, tzinfo=UTC)
        listed, searched = memory.get_all(user_id="ann"), memory.search("y", user_id="ann")
        for entry in (listed["results"][0], searched["results"][0]):
            assert (entry["created_at"], entry["updated_at"]) == (found["created_at"], found["updated_at"])

    def test_naive_times_are_taken_as_utc(self, memory: Memory) -> None:
        memory.add("x", user_id="ann", timestamp="2024-01-01T08:00:00")
        assert memory.get_all(user_id="ann")["results"][0]["created_at"] == "2024-01-01T08:00:00+00:00"


class TestUpdates:
    def test_metadata_alone_may_change_and_so_may_the_expiry(self, memory: Memory) -> None:
        memory_id = add(memory, "x")
        memory.update(memory_id, metadata={"k": 1})
        memory.update(memory_id, expiration_date="2999-12-31")
        memory.update(memory_id, metadata={})
        found = memory.get(memory_id) or {}
        assert (found["memory"], found["metadata"], found["expiration_date"]) == ("x", {"k": 1}, "2999-12-31")
        assert [row["new_memory"] for row in memory.history(memory_id)] == ["x"] * 4

    def test_identity_cannot_be_changed(self, memory: Memory, caplog: pytest.LogCaptureFixture) -> None:
        memory_id = add(memory, "x", run_id="r")
        with caplog.at_level(logging.WARNING):
            memory.update(memory_id, "y", metadata={"user_id": "bob", "run_id": "other", "actor_id": "z"})
        found = memory.get(memory_id) or {}
        assert (found["user_id"], found["run_id"], "actor_id" in found, found["metadata"]) == ("ann", "r", False, None)

    def test_metadata_given_to_add_and_update_is_never_changed(self, memory: Memory) -> None:
        given: dict[str, Any] = {"a": {"b": [1]}, "created_at": "2024-01-01", "user_id": "bob", "data": "z"}
        before = {"a": {"b": [1]}, "created_at": "2024-01-01", "user_id": "bob", "data": "z"}
        memory_id = memory.add("x", user_id="ann", metadata=given)["results"][0]["id"]
        memory.update(memory_id, metadata=given)
        assert given == before

    def test_what_a_read_returns_is_the_callers_to_change(self, memory: Memory) -> None:
        memory.add("x", user_id="ann", metadata={"tags": ["a"]})
        memory.get_all(user_id="ann")["results"][0]["metadata"]["tags"].append("b")
        assert memory.get_all(user_id="ann")["results"][0]["metadata"] == {"tags": ["a"]}


class TestFieldsOfAnImport:
    def test_attributed_to_shows_on_every_read(self, memory: Memory, turns: TurnMemory) -> None:
        fact = {
            "role": "memory",
            "content": "Likes jazz",
            "metadata": {"attributed_to": "user", "actor_id": "Ann", "k": 1},
        }
        (item,) = turns.add(fact, user_id="ann")
        reads = [
            memory.get(item.id) or {},
            *memory.get_all(user_id="ann")["results"],
            *memory.search("jazz", user_id="ann")["results"],
        ]
        assert [(read["attributed_to"], read["actor_id"], read["metadata"]) for read in reads] == [
            ("user", "Ann", {"k": 1})
        ] * 3

    def test_its_history_begins_with_how_it_came_and_goes_on(self, memory: Memory, turns: TurnMemory) -> None:
        (item,) = turns.add({"role": "memory", "content": "Likes jazz"}, user_id="ann")
        assert [(row["event"], row["new_memory"]) for row in memory.history(item.id)] == [("ADD", "Likes jazz")]
        assert memory.history(item.id) == memory.history(item.id)
        memory.update(item.id, "Likes rock")
        memory.delete(item.id)
        rows = memory.history(item.id)
        assert [(row["event"], row["old_memory"], row["new_memory"]) for row in rows] == [
            ("ADD", None, "Likes jazz"),
            ("UPDATE", "Likes jazz", "Likes rock"),
            ("DELETE", "Likes rock", None),
        ]


def test_a_memory_is_built_without_environment_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with Memory(MemoryConfig(version="v1.1"), db=":memory:") as memory:
        assert memory.config.version == "v1.1"
