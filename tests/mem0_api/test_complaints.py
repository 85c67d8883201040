"""What Mem0's users report, and a replacement can do without; the numbers are those of Mem0's issues."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from blockbuster import BlockBuster
from mem0_api.answers import texts

from llmslim_memory.mem0 import AsyncMemory, Memory


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


LOST = {
    "1971, 1855: a list was empty after an add": "I moved to Bergen",
    "2344: a small model gave nothing": "My sister's name is Priya",
    "2386: a search gave nothing": "We meet at nine on Mondays",
    "2875: taken for known": "I am now a vegetarian",
    "3009: facts came back empty": "Order 1234 arrived damaged",
    "3490: many requests, no memory": "Remind me about the dentist",
    "3931: unknown ids of a model": "The ferry leaves at noon",
    "4801, 4985: another size of vectors": "I sail at weekends",
}


@pytest.mark.parametrize("said", LOST.values(), ids=LOST)
def test_what_was_added_is_listed_and_found_at_once(memory: Memory, said: str) -> None:
    memory.add(said, user_id="ann")
    assert texts(memory.get_all(user_id="ann")) == texts(memory.search(said, filters={"user_id": "ann"})) == [said]


def test_4573_reading_and_adding_store_nothing_that_nobody_said(memory: Memory) -> None:
    said = ["You are called Max.", "I sail.", "Where do I sail?"]
    for text in said:
        memory.add(text, user_id="ann")
        memory.search(text, user_id="ann", token_budget=100)
    assert texts(memory.get_all(user_id="ann")) == said


def test_4708_an_undefined_id_is_an_error_and_not_passed_over(memory: Memory) -> None:
    for call in (memory.delete, lambda wrong: memory.update(wrong, "x")):
        with pytest.raises(ValueError, match="not found"):
            call("undefined")
        with pytest.raises(TypeError, match="memory_id"):
            call(None)


def test_2820_a_context_says_what_it_costs(memory: Memory) -> None:
    memory.add("I sail on the lake", user_id="ann")
    context = memory.search("Where do I sail?", user_id="ann", token_budget=100)["context"]
    assert 0 < context.tokens <= context.budget == 100


def test_4721_5850_repeats_are_kept_and_shown_once(memory: Memory) -> None:
    for _ in range(5):
        memory.add("I am allergic to nuts", user_id="ann")
    memory.add("I like tea", user_id="ann")
    assert len(texts(memory.get_all(user_id="ann"))) == 6
    context = memory.search("What am I allergic to?", user_id="ann", token_budget=30)["context"]
    assert context.text.count("allergic to nuts") == 1


def test_4896_4904_4956_5576_of_two_statements_alike_the_later_comes_first(memory: Memory) -> None:
    for month, city in enumerate(("Oslo", "Bergen"), 1):
        memory.add(f"I live in {city} now.", user_id="ann", timestamp=f"2026-0{month}-01")
    found = memory.search("Where do I live now?", user_id="ann")
    assert texts(found) == ["I live in Bergen now.", "I live in Oslo now."]
    assert texts(memory.search("Where do I live now?", user_id="ann", limit=1)) == ["I live in Bergen now."]


def test_kai_320_what_an_assistant_said_can_be_left_out(memory: Memory) -> None:
    memory.add([{"role": "user", "content": "Do I sail?"}, {"role": "assistant", "content": "You fly."}], user_id="ann")
    assert texts(memory.get_all(user_id="ann", filters={"role": "user"})) == ["Do I sail?"]
    assert {entry["role"] for entry in memory.get_all(user_id="ann")["results"]} == {"user", "assistant"}


def test_hermes_58705_two_memories_share_one_file(tmp_path: Path) -> None:
    with Memory(db=tmp_path / "m.db") as one, Memory(db=tmp_path / "m.db") as other:
        one.add("I sail", user_id="ann")
        other.add("I row", user_id="ann")
        assert texts(one.get_all(user_id="ann")) == texts(other.get_all(user_id="ann")) == ["I sail", "I row"]


def test_4402_3137_times_are_utc_wherever_the_machine_is(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "US/Pacific")
    added = memory.add("x", user_id="ann")["results"][0]
    assert (memory.get(added["id"]) or {})["created_at"].endswith("+00:00")


@pytest.mark.parametrize("operator", ["eq", "ne", "gt", "gte", "lt", "lte", "in", "nin", "contains", "icontains"])
def test_3975_6424_6423_3284_7214_no_operator_is_passed_over(memory: Memory, operator: str) -> None:
    for level in ("a", "B", "c"):
        memory.add(level, user_id="ann", metadata={"level": level})
    wanted = ["B"] if operator in ("in", "nin") else "B"
    expected = {
        "eq": "B",
        "ne": "ac",
        "gt": "ac",
        "gte": "aBc",
        "lt": "",
        "lte": "B",
        "in": "B",
        "nin": "ac",
        "contains": "B",
        "icontains": "B",
    }
    found = memory.get_all(user_id="ann", filters={"level": {operator: wanted}})
    assert "".join(texts(found)) == expected[operator]


def test_6342_6277_metadata_moves_no_memory_to_another_tenant(memory: Memory) -> None:
    mine = memory.add("mine", user_id="ann", metadata={"user_id": "bob"})["results"][0]["id"]
    memory.update(mine, metadata={"user_id": "bob", "run_id": "r"})
    assert texts(memory.get_all(user_id="bob")) == texts(memory.get_all(filters={"run_id": "r"})) == []
    assert texts(memory.get_all(user_id="ann")) == ["mine"]


def test_6636_delete_all_leaves_nothing_behind_the_first_page(memory: Memory) -> None:
    for number in range(120):
        memory.add(f"note {number}", user_id="ann")
    memory.delete_all(user_id="ann")
    assert texts(memory.get_all(user_id="ann", limit=1000)) == []


async def test_4479_4634_6070_the_event_loop_never_waits(tmp_path: Path) -> None:
    buster = BlockBuster()
    buster.activate()
    try:
        memory = await asyncio.to_thread(AsyncMemory, db=tmp_path / "m.db")
        await memory.add("I sail", user_id="ann")
        assert texts(await memory.search("sail", user_id="ann")) == ["I sail"]
    finally:
        buster.deactivate()
        memory.close()


def test_agentscope_1511_strands_262_7288_both_styles_of_call_work(memory: Memory) -> None:
    memory.add("I sail", user_id="ann")
    assert memory.search("sail", user_id="ann", limit=5) == memory.search("sail", filters={"user_id": "ann"}, top_k=5)
    assert memory.get_all(user_id="ann") == memory.get_all(filters={"user_id": "ann"})


def test_deleting_everyone_by_a_star_is_refused(memory: Memory) -> None:
    memory.add("x", user_id="ann")
    with pytest.raises(ValueError, match=r"'\*'"):
        memory.delete_all(user_id="*")
    assert texts(memory.get_all(user_id="ann")) == ["x"]
