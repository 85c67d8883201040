"""What Mem0's documentation shows, told anew, and how public programs call it: only the import differs."""

from __future__ import annotations

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from mem0_api.answers import texts

from llmslim_memory import import_history
from llmslim_memory.mem0 import AsyncMemory, Memory, MemoryClient
from llmslim_memory.mem0.configs.base import MemoryConfig
from llmslim_memory.mem0.memory.main import Memory as FromSubmodule

MOVIES = [
    {"role": "user", "content": "I want to watch a movie tonight. What do you suggest?"},
    {"role": "assistant", "content": "A thriller? They are exciting."},
    {"role": "user", "content": "I dislike thrillers, but I love science fiction."},
    {"role": "assistant", "content": "Then I suggest science fiction from now on."},
]


class TestQuickStarts:
    def test_store_a_conversation_search_it_list_it(self, memory: Memory) -> None:
        added = memory.add(MOVIES, user_id="alex", metadata={"category": "movies"})
        assert len(added["results"]) == 4
        related = memory.search(query="Does Alex love science fiction?", filters={"user_id": "alex"})
        assert "I dislike thrillers, but I love science fiction." in texts(related)
        assert texts(memory.get_all(filters={"user_id": "alex"})) == [message["content"] for message in MOVIES]

    def test_ids_at_top_level_do_the_same(self, memory: Memory) -> None:
        memory.add(MOVIES, user_id="alex", infer=False)
        assert len(texts(memory.get_all(user_id="alex"))) == 4
        assert "science fiction" in texts(memory.search("science fiction", user_id="alex", limit=1))[0]

    def test_get_update_history_delete_reset(self, memory: Memory) -> None:
        memory_id = memory.add("Likes to play cricket on weekends", user_id="alex")["results"][0]["id"]
        assert (memory.get(memory_id) or {})["memory"] == "Likes to play cricket on weekends"
        memory.update(memory_id=memory_id, data="Likes to play tennis on weekends")
        assert [row["event"] for row in memory.history(memory_id=memory_id)] == ["ADD", "UPDATE"]
        memory.delete(memory_id=memory_id)
        memory.add("Is busy", user_id="alex")
        memory.delete_all(user_id="alex")
        memory.reset()
        assert texts(memory.get_all(user_id="alex")) == []

    async def test_many_calls_at_once_are_answered_asynchronously(self) -> None:
        async with AsyncMemory(MemoryConfig(), db=":memory:") as memory:
            await asyncio.gather(*(memory.add(MOVIES, user_id=f"u{n}") for n in range(5)))
            found = await asyncio.gather(*(memory.search("thrillers", filters={"user_id": f"u{n}"}) for n in range(5)))
            assert all("I dislike thrillers, but I love science fiction." in texts(answer) for answer in found)

    def test_the_hosted_client_adds_finds_and_lists(self, client: MemoryClient) -> None:
        client.add(MOVIES, user_id="alex", output_format="v1.1", version="v2")
        filters = {"AND": [{"user_id": "alex"}, {"created_at": {"gte": "2020-01-01"}}]}
        assert isinstance(client.search("thrillers", version="v2", filters=filters), list)
        assert client.get_all(filters={"OR": [{"user_id": "alex"}, {"agent_id": "*"}], "user_id": "alex"})["count"] == 4

    def test_user_agent_and_session_memories_are_apart_and_join(self, memory: Memory) -> None:
        memory.add("Prefers a window seat", user_id="alex")
        memory.add("Answers in three sentences", agent_id="travel")
        memory.add("Flies to Porto on Friday", user_id="alex", agent_id="travel", run_id="trip")
        assert len(texts(memory.get_all(user_id="alex"))) == 2
        assert len(texts(memory.get_all(agent_id="travel"))) == 2
        assert texts(memory.get_all(user_id="alex", run_id="trip")) == ["Flies to Porto on Friday"]

    def test_filters_join_operators_on_metadata_by_and_or_and_not(self, memory: Memory) -> None:
        for text, category, priority in (("Pay rent", "home", 9), ("Call Noor", "family", 3), ("Fix tap", "home", 5)):
            memory.add(text, user_id="alex", metadata={"category": category, "priority": priority})
        filters = {"user_id": "alex", "AND": [{"category": "home"}, {"priority": {"gte": 6}}]}
        assert texts(memory.get_all(filters=filters)) == ["Pay rent"]
        filters = {"user_id": "alex", "NOT": [{"category": {"in": ["home"]}}]}
        assert texts(memory.get_all(filters=filters)) == ["Call Noor"]

    def test_a_memory_that_expires(self, memory: Memory) -> None:
        memory.add("Is in Rome this week", user_id="alex", expiration_date="2020-01-31")
        assert texts(memory.get_all(user_id="alex")) == []
        assert texts(memory.get_all(user_id="alex", show_expired=True)) == ["Is in Rome this week"]


class TestCallSites:
    """The ways in which public programs call Mem0, by what they call."""

    def test_the_class_is_imported_from_its_submodule(self) -> None:
        assert FromSubmodule is Memory

    def test_results_are_read_whether_a_dict_or_a_list_is_expected(self, memory: Memory, client: MemoryClient) -> None:
        memory.add("x", user_id="u")
        answers = [
            memory.search("x", user_id="u"),
            client.search("x", user_id="u", version="v1"),
            memory.get_all(user_id="u"),
        ]
        assert [texts(answer) for answer in answers] == [["x"]] * 3

    @pytest.mark.parametrize("scope", ["user_id", "agent_id", "run_id"])
    def test_any_one_id_stands_alone(self, memory: Memory, scope: str) -> None:
        memory.add("x", **{scope: "one"})
        assert texts(memory.search(query="x", **{scope: "one"}, limit=5)) == ["x"]

    def test_a_long_term_memory_saves_with_metadata_and_searches_with_a_threshold(self, memory: Memory) -> None:
        memory.add(
            [{"role": "assistant", "content": "The report is done"}],
            agent_id="crew",
            infer=False,
            metadata={"quality": 9},
        )
        found = memory.search(query="report", agent_id="crew", limit=3, threshold=0.35)["results"]
        assert [(hit["metadata"], hit["score"] >= 0.35) for hit in found] == [({"quality": 9}, True)]

    def test_calls_come_from_several_threads(self, memory: Memory) -> None:
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda n: memory.add(f"note {n}", user_id="u", infer=False), range(40)))
            found = list(pool.map(lambda _: len(texts(memory.search("note", user_id="u"))), range(4)))
        assert found == [40] * 4

    async def test_calls_come_through_to_thread(self, memory: Memory) -> None:
        await asyncio.to_thread(memory.add, "x", user_id="u")
        assert texts(await asyncio.to_thread(memory.get_all, user_id="u")) == ["x"]

    async def test_an_old_program_awaits_from_config(self, tmp_path: Path) -> None:
        memory = await AsyncMemory.from_config({"history_db_path": str(tmp_path / "h.db")})
        assert texts(await memory.add("x", user_id="u")) == ["x"]
        memory.close()


def test_memories_that_mem0_exported_are_read_through_its_api(tmp_path: Path) -> None:
    fact = {
        "id": "8f3f1c52-6a1e-4f0e-9d53-0a2f6c1b7e01",
        "memory": "Loves oolong tea",
        "user_id": "ann",
        "metadata": {"k": 1},
        "created_at": "2026-01-15T10:30:00Z",
        "attributed_to": "user",
        "expiration_date": "2999-01-01",
    }
    exported = tmp_path / "export.json"
    exported.write_text(json.dumps({"results": [fact]}), encoding="utf-8")
    with Memory(db=str(tmp_path / "m.db")) as memory:
        import_history(exported, memory._memory)
        (found,) = memory.search("oolong tea", user_id="ann")["results"]
        assert (found["memory"], found["role"], found["attributed_to"]) == ("Loves oolong tea", "memory", "user")
        assert found["expiration_date"] == "2999-01-01"
        assert found["created_at"] == "2026-01-15T10:30:00+00:00"
        assert found["metadata"]["k"] == 1
        assert [row["event"] for row in memory.history(found["id"])] == ["ADD"]
