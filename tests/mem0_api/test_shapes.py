"""The shapes of what Mem0's calls return."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from hashlib import md5
from uuid import UUID

from llmslim_memory.mem0 import Memory

ROW = {
    "id",
    "memory_id",
    "old_memory",
    "new_memory",
    "event",
    "created_at",
    "updated_at",
    "is_deleted",
    "actor_id",
    "role",
}
DETAILS = {
    "semantic_score",
    "bm25_score",
    "entity_boost",
    "raw_score",
    "max_possible_score",
    "final_score",
    "threshold",
}


def test_add_returns_an_event_a_message_with_actor_and_role(memory: Memory) -> None:
    messages = [{"role": "user", "content": "I sail", "name": "Ann"}, {"role": "assistant", "content": "Where?"}]
    for infer in (False, True):
        first, second = memory.add(messages, user_id="ann", infer=infer)["results"]
        assert first == {"id": first["id"], "memory": "I sail", "event": "ADD", "actor_id": "Ann", "role": "user"}
        assert (second["actor_id"], second["role"]) == (None, "assistant")
        assert UUID(first["id"]).version == 4


def test_the_same_message_twice_is_two_memories(memory: Memory) -> None:
    first, second = (memory.add("Yes.", user_id="ann")["results"][0] for _ in range(2))
    assert first["event"] == second["event"] == "ADD"
    assert first["id"] != second["id"]


def test_get_has_all_fields_and_leaves_out_ids_that_are_not_set(memory: Memory) -> None:
    made = memory.add("I sail", user_id="ann", run_id="r", metadata={"topic": "sea"}, expiration_date="2999-01-31")
    found = memory.get(made["results"][0]["id"])
    assert found is not None
    assert found == {
        "id": made["results"][0]["id"],
        "memory": "I sail",
        "hash": md5(b"I sail", usedforsecurity=False).hexdigest(),
        "metadata": {"topic": "sea"},
        "score": None,
        "created_at": found["created_at"],
        "updated_at": found["created_at"],
        "user_id": "ann",
        "run_id": "r",
        "role": "user",
        "expiration_date": "2999-01-31",
    }


def test_times_are_utc_with_microseconds_and_an_offset(memory: Memory) -> None:
    made = memory.add("I sail", user_id="ann")["results"][0]
    created = (memory.get(made["id"]) or {})["created_at"]
    assert created.endswith("+00:00")
    assert abs(datetime.fromisoformat(created) - datetime.now(UTC)) < timedelta(minutes=5)


def test_metadata_that_was_not_given_is_none(memory: Memory) -> None:
    memory.add("I sail", user_id="ann")
    assert memory.get_all(user_id="ann")["results"][0]["metadata"] is None


def test_get_all_has_no_score_and_search_a_number(memory: Memory) -> None:
    memory.add("I sail", user_id="ann")
    assert "score" not in memory.get_all(user_id="ann")["results"][0]
    (found,) = memory.search("sail", user_id="ann")["results"]
    assert isinstance(found["score"], float)
    assert 0 <= found["score"] <= 1


def test_explain_adds_mem0s_seven_numbers(memory: Memory) -> None:
    memory.add("I sail", user_id="ann")
    (found,) = memory.search("sail", filters={"user_id": "ann"}, explain=True)["results"]
    assert found["score_details"].keys() == DETAILS
    assert found["score_details"]["final_score"] == found["score"]
    assert found["score_details"]["threshold"] == 0.1


def test_history_has_a_row_for_each_event_oldest_first(memory: Memory) -> None:
    memory_id = memory.add({"role": "user", "content": "one", "name": "Ann"}, user_id="ann")["results"][0]["id"]
    memory.update(memory_id, "two")
    memory.delete(memory_id)
    rows = memory.history(memory_id)
    assert all(row.keys() == ROW and row["memory_id"] == memory_id and row["actor_id"] == "Ann" for row in rows)
    assert [(row["event"], row["old_memory"], row["new_memory"], row["is_deleted"]) for row in rows] == [
        ("ADD", None, "one", False),
        ("UPDATE", "one", "two", False),
        ("DELETE", "two", None, True),
    ]
    assert [row["updated_at"] for row in rows] == sorted(row["updated_at"] for row in rows)
    assert len({row["id"] for row in rows}) == 3


def test_the_threshold_holds_for_the_score_that_is_returned(memory: Memory) -> None:
    for text in ("I sail to Bergen", "Bergen is rainy", "The kettle is broken"):
        memory.add(text, user_id="ann")
    every = memory.search("When do I sail to Bergen?", user_id="ann")["results"]
    cut = every[0]["score"]
    kept = memory.search("When do I sail to Bergen?", user_id="ann", threshold=cut)["results"]
    assert [hit["score"] for hit in kept] == [hit["score"] for hit in every if hit["score"] >= cut]
    assert 0 < len(kept) < len(every)


def test_the_default_threshold_keeps_every_memory_that_shares_a_word_with_the_query(memory: Memory) -> None:
    for number in range(30):
        memory.add(
            f"Remark {number} about the harbour, the weather and {number} other things of no weight", user_id="ann"
        )
    memory.add("harbour harbour pilots know the harbour mouth at night", user_id="ann")
    found = memory.search("harbour pilots at night", filters={"user_id": "ann"}, top_k=100)["results"]
    assert len(found) == 31
    assert min(hit["score"] for hit in found) >= 0.1


def test_a_threshold_of_zero_fills_up_to_top_k_with_the_newest(memory: Memory) -> None:
    for text in ("alpha", "beta", "gamma", "delta"):
        memory.add(text, user_id="ann", run_id=text)
    found = memory.search("alpha", filters={"user_id": "ann"}, threshold=0.0, top_k=3)["results"]
    assert [hit["memory"] for hit in found] == ["alpha", "delta", "gamma"]
    assert found[-1]["score"] == 0.0


def test_relations_are_never_there(memory: Memory) -> None:
    answers = [memory.add("I sail", user_id="ann"), memory.get_all(user_id="ann"), memory.search("sail", user_id="ann")]
    assert all(answer.keys() == {"results"} for answer in answers)
