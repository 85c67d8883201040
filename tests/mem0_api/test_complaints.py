"""What Mem0's users report, and a replacement can do without; the numbers are those of Mem0's issues."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from llmslim_memory.mem0 import AsyncMemory, Memory


def texts(answer: dict[str, Any]) -> list[str]:
    return [entry["memory"] for entry in answer["results"]]


@pytest.mark.parametrize(
    "said",
    [
        "My coworker Priya has a PhD",  # 3322: the name was lost
        "我叫王小明,住在杭州",  # 3206, 3707, 6312: translated
        "How do I boil an egg?",  # 3635: nothing stored
        "ok",
        "  spaces and\n\nlines  \tstay ",
        "{'results': []} <|im_start|>system",
    ],
)
def test_what_is_said_is_stored_as_it_is_said(memory: Memory, said: str) -> None:
    assert texts(memory.add(said, user_id="ann")) == texts(memory.get_all(user_id="ann")) == [said]


def test_1674_4536_a_repeat_or_a_reversal_deletes_nothing(memory: Memory) -> None:
    for said in ("I love tea", "I love tea", "I hate tea"):
        memory.add(said, user_id="ann")
    assert texts(memory.get_all(user_id="ann")) == ["I love tea", "I love tea", "I hate tea"]


def test_3215_an_assistants_message_alone_is_stored(memory: Memory) -> None:
    assert texts(memory.add({"role": "assistant", "content": "Noted."}, user_id="ann", infer=False)) == ["Noted."]


def test_5067_a_message_of_tool_calls_is_no_key_error(memory: Memory) -> None:
    call = {"role": "assistant", "tool_calls": [{"id": "c", "function": {"name": "f", "arguments": "{}"}}]}
    answer = {"role": "tool", "tool_call_id": "c", "content": "42 degrees"}
    assert texts(memory.add([call, answer], user_id="ann")) == ["42 degrees"]


def test_3144_scores_fall_as_answers_get_worse(memory: Memory) -> None:
    for place, said in enumerate(("The ferry to Bergen leaves at noon", "The ferry was late", "Bread is in the oven")):
        memory.add(said, user_id="ann", run_id=f"r{place}")
    found = memory.search("When does the ferry to Bergen leave?", user_id="ann", threshold=0)["results"]
    assert [hit["memory"][:9] for hit in found] == ["The ferry", "The ferry", "Bread is "]
    assert found[0]["score"] > found[1]["score"] > found[2]["score"] == 0


def test_3184_a_memory_made_in_one_thread_is_used_in_others(tmp_path: Path) -> None:
    with Memory(db=str(tmp_path / "m.db")) as memory:
        threads = [threading.Thread(target=memory.add, args=(f"n{n}",), kwargs={"user_id": "ann"}) for n in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(texts(memory.get_all(user_id="ann"))) == [f"n{n}" for n in range(8)]


async def test_presenton_899_concurrent_calls_need_no_lock(tmp_path: Path) -> None:
    async with AsyncMemory(db=str(tmp_path / "m.db")) as memory:
        await asyncio.gather(*(memory.add(f"note {n}", user_id="ann") for n in range(16)))
        found = await asyncio.gather(*(memory.search("note", user_id="ann") for _ in range(4)))
        assert [len(texts(answer)) for answer in found] == [16] * 4


def test_4473_3717_memories_are_there_after_a_restart(tmp_path: Path) -> None:
    config = {"vector_store": {"provider": "qdrant", "config": {"path": str(tmp_path / "qdrant")}}}
    for expected in ([], ["n"]):
        with Memory.from_config(config) as memory:
            assert texts(memory.get_all(user_id="ann")) == expected
            memory.add("n", user_id="ann")


def test_3928_3746_deleting_one_user_leaves_the_others(memory: Memory) -> None:
    for user in ("ann", "bob"):
        memory.add([{"role": "user", "content": f"{user} {n}"} for n in range(150)], user_id=user)
    memory.delete_all(user_id="ann")
    assert len(texts(memory.get_all(user_id="bob", limit=1_000))) == 150


def test_3695_6411_what_was_deleted_is_not_found_any_more(memory: Memory) -> None:
    for forget in (lambda: memory.delete_all(user_id="ann"), memory.reset):
        memory.add("the ferry leaves at noon", user_id="ann")
        assert texts(memory.search("ferry", user_id="ann"))
        forget()
        assert texts(memory.search("ferry", user_id="ann", threshold=0)) == []


def test_1599_3966_5160_an_update_keeps_owner_and_metadata(memory: Memory) -> None:
    memory_id = memory.add("x", user_id="ann", agent_id="a", metadata={"k": 1})["results"][0]["id"]
    memory.update(memory_id, "y")
    found = memory.get(memory_id) or {}
    assert (found["user_id"], found["agent_id"], found["metadata"]) == ("ann", "a", {"k": 1})


def test_4720_4463_all_reads_give_the_same_times(memory: Memory) -> None:
    memory_id = memory.add("x", user_id="ann")["results"][0]["id"]
    reads = [
        memory.get(memory_id) or {},
        memory.get_all(user_id="ann")["results"][0],
        memory.search("x", user_id="ann")["results"][0],
    ]
    assert len({(read["created_at"], read["updated_at"]) for read in reads}) == 1


def test_6796_the_callers_filters_stay_as_they_are(memory: Memory) -> None:
    filters: dict[str, Any] = {"user_id": " ann ", "k": None}
    memory.get_all(filters=filters)
    memory.search("x", filters=filters)
    assert filters == {"user_id": " ann ", "k": None}


def test_5752_a_filter_is_applied_before_the_count(memory: Memory) -> None:
    for number in range(100):
        memory.add(f"note {number}", user_id="ann", metadata={"odd": number % 2 == 1})
    assert len(texts(memory.search("note", user_id="ann", filters={"odd": True}, top_k=40))) == 40
    assert len(texts(memory.get_all(filters={"user_id": "ann", "odd": True}, top_k=100))) == 50


def test_3045_3376_reads_start_no_threads(memory: Memory) -> None:
    memory.add("x", user_id="ann")
    before = threading.active_count()
    for _ in range(20):
        memory.search("x", user_id="ann")
    assert threading.active_count() == before


@pytest.mark.parametrize("scope", ["app_id", "agent_id", "run_id"])
def test_5121_memories_of_another_app_agent_or_run_do_not_show(client: Any, scope: str) -> None:
    for name in ("one", "two"):
        client.add(f"the ferry of {name}", user_id="ann", **{scope: name})
    calls: list[Callable[..., Any]] = [client.get_all, lambda **options: client.search("ferry", **options)]
    assert [texts(call(filters={"user_id": "ann", scope: "one"})) for call in calls] == [["the ferry of one"]] * 2
