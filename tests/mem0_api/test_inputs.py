"""What may be passed to Mem0's calls, and which error says that it may not."""

from __future__ import annotations

import json
import logging
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from mem0_api.answers import texts

from llmslim_memory import LLMSlimError
from llmslim_memory import Memory as TurnMemory
from llmslim_memory.mem0 import Memory
from llmslim_memory.mem0.exceptions import MemoryError as Mem0Error
from llmslim_memory.mem0.exceptions import MemoryNotFoundError, UnsupportedFeatureError, ValidationError

IMAGE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}


class TestMessages:
    @pytest.mark.parametrize("nothing", [[], "", "  ", [{"role": "user", "content": ""}], {"role": "user"}])
    def test_nothing_said_is_nothing_stored(self, memory: Memory, turns: TurnMemory, nothing: Any) -> None:
        assert memory.add(nothing, user_id="ann") == {"results": []}
        assert turns.scopes() == []

    @pytest.mark.parametrize("wrong", [None, 5, ("a",), b"a", {1}])
    def test_what_is_no_message_is_refused(self, memory: Memory, wrong: Any) -> None:
        with pytest.raises(ValidationError) as error:
            memory.add(wrong, user_id="ann")
        assert error.value.error_code == "VALIDATION_003"
        assert error.value.suggestion

    def test_a_list_of_texts_is_refused_naming_the_place(self, memory: Memory) -> None:
        with pytest.raises(ValidationError, match=r"messages\[1\]") as error:
            memory.add([{"role": "user", "content": "a"}, "b"], user_id="ann")
        assert error.value.error_code == "VALIDATION_003"
        assert memory.get_all(user_id="ann") == {"results": []}

    def test_a_message_without_a_role_is_left_out_and_the_rest_is_stored(self, memory: Memory) -> None:
        assert texts(memory.add([{"content": "x"}, {"role": "user", "content": "y"}], user_id="ann")) == ["y"]

    def test_system_messages_are_left_out(self, memory: Memory) -> None:
        assert memory.add({"role": "system", "content": "Be brief."}, user_id="ann") == {"results": []}

    @pytest.mark.parametrize(
        ("role", "stored"), [("tool", "tool"), ("Narrator", "narrator"), ("7 of 9", "role-7-of-9")]
    )
    def test_any_other_role_is_stored_in_the_form_of_a_role(self, memory: Memory, role: str, stored: str) -> None:
        (made,) = memory.add({"role": role, "content": "x"}, user_id="ann")["results"]
        assert made["role"] == stored
        assert (memory.message(made["id"]) or {})["role"] == role

    def test_texts_of_a_list_are_joined_and_the_whole_message_is_kept(self, memory: Memory) -> None:
        message = {
            "role": "user",
            "content": [{"type": "text", "text": "look"}, IMAGE, {"type": "text", "text": "here"}],
        }
        (made,) = memory.add(message, user_id="ann")["results"]
        assert made["memory"] == "look here"
        assert memory.message(made["id"]) == message

    @pytest.mark.parametrize(
        "message",
        [
            {"role": "user", "content": [IMAGE]},
            {"role": "user", "content": IMAGE},
            {"role": "assistant", "content": None, "tool_calls": [{"id": "c1", "function": {"name": "look_up"}}]},
        ],
    )
    def test_a_message_without_text_is_no_memory_but_is_kept(self, memory: Memory, message: dict[str, Any]) -> None:
        assert memory.add(message, user_id="ann") == {"results": []}
        assert memory.messages(user_id="ann") == [{"message": message, "memory_id": None}]
        assert memory.messages(user_id="bob") == []

    def test_what_was_kept_of_a_scope_goes_with_it(self, memory: Memory) -> None:
        for purge in (False, True):
            memory.add({"role": "user", "content": [IMAGE]}, user_id="ann")
            memory.delete_all(user_id="ann", purge=purge)
            assert memory.messages(user_id="ann") == []

    @pytest.mark.parametrize(
        "odd", [float("nan"), datetime(2026, 1, 1, tzinfo=UTC), "\ud800", "\x00", {("a",): 1}, object()]
    )
    def test_a_message_may_hold_what_json_cannot(self, memory: Memory, odd: Any) -> None:
        message = {"role": "user", "content": "x", "extra": odd}
        (made,) = memory.add(message, user_id="ann")["results"]
        kept = memory.message(made["id"])
        assert json.loads(json.dumps(kept, allow_nan=False).encode()) == kept

    @pytest.mark.parametrize("content", [5, 2.5, True, b"x"])
    def test_content_that_is_no_text_is_refused(self, memory: Memory, content: Any) -> None:
        with pytest.raises(ValidationError, match=r"content of messages\[0\]"):
            memory.add({"role": "user", "content": content}, user_id="ann")


class TestScope:
    def test_a_write_without_scope_is_a_validation_error_and_a_value_error(self, memory: Memory) -> None:
        with pytest.raises(ValidationError) as error:
            memory.add("x")
        assert error.value.error_code == "VALIDATION_001"
        assert isinstance(error.value, ValueError | Mem0Error | LLMSlimError)

    @pytest.mark.parametrize("call", ["get_all", "search"])
    def test_a_read_without_scope_is_a_value_error(self, memory: Memory, call: str) -> None:
        arguments = ["x"] if call == "search" else []
        with pytest.raises(ValueError, match="must contain at least one of: user_id, agent_id, run_id"):
            getattr(memory, call)(*arguments)
        with pytest.raises(ValueError, match="must contain at least one of"):
            getattr(memory, call)(*arguments, filters={"topic": "x"})

    @pytest.mark.parametrize("blank", ["", " ", "\t"])
    def test_a_blank_id_is_refused_everywhere(self, memory: Memory, blank: str) -> None:
        calls: list[Any] = [
            lambda: memory.add("x", user_id=blank),
            lambda: memory.search("x", user_id=blank),
            lambda: memory.search("x", filters={"user_id": blank}),
            lambda: memory.get_all(filters={"run_id": "r", "user_id": blank}),
            lambda: memory.delete_all(user_id=blank),
        ]
        for call in calls:
            with pytest.raises(ValueError, match="Invalid user_id: cannot be empty or whitespace-only"):
                call()

    def test_ids_are_trimmed_and_numbers_are_text(self, memory: Memory) -> None:
        memory.add("x", user_id=" ann ")
        memory.add("y", user_id=42)
        assert texts(memory.get_all(user_id="ann")) == ["x"]
        for same in (42, "42", " 42 "):
            assert texts(memory.get_all(filters={"user_id": same})) == ["y"]
            assert texts(memory.get_all(filters={"AND": [{"user_id": same}]})) == ["y"]
            assert texts(memory.get_all(filters={"user_id": {"in": [same]}})) == ["y"]

    def test_an_id_with_white_space_is_taken_unless_strict(self, memory: Memory, strict: Memory) -> None:
        memory.add("x", user_id="Ann Lee")
        assert texts(memory.search("x", user_id="Ann Lee")) == ["x"]
        with pytest.raises(ValueError, match="Invalid user_id: cannot contain whitespace"):
            strict.add("x", user_id="Ann Lee")

    def test_two_ids_that_differ_are_refused(self, memory: Memory) -> None:
        with pytest.raises(ValueError, match="given twice"):
            memory.get_all(user_id="ann", filters={"user_id": "bob"})

    def test_an_id_that_is_none_counts_as_not_given(self, memory: Memory) -> None:
        memory.add("x", user_id="ann", agent_id=None)
        assert texts(memory.get_all(filters={"user_id": "ann", "agent_id": None})) == ["x"]
        with pytest.raises(ValueError, match="at least one"):
            memory.get_all(filters={"user_id": None})

    def test_a_star_is_never_written_nor_deleted(self, memory: Memory) -> None:
        memory.add("x", user_id="ann")
        for call in (lambda: memory.add("y", user_id="*"), lambda: memory.delete_all(user_id="*")):
            with pytest.raises(ValueError, match=r"cannot be '\*'"):
                call()
        assert texts(memory.get_all(user_id="ann")) == ["x"]

    def test_deleting_without_ids_points_to_reset(self, memory: Memory) -> None:
        with pytest.raises(ValueError, match="reset"):
            memory.delete_all()


class TestTimes:
    @pytest.mark.parametrize(
        "said", [1_700_000_000, "2023-11-14T22:13:20Z", datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)]
    )
    def test_a_timestamp_says_when_it_was_said(self, memory: Memory, said: Any) -> None:
        memory.add("x", user_id="ann", timestamp=said)
        assert memory.get_all(user_id="ann")["results"][0]["created_at"] == "2023-11-14T22:13:20+00:00"

    def test_a_bad_timestamp_is_a_value_error(self, memory: Memory) -> None:
        with pytest.raises(ValueError, match="timestamp"):
            memory.add("x", user_id="ann", timestamp="soon")

    def test_a_reference_date_moves_now(self, memory: Memory) -> None:
        memory.add("We went to the zoo", user_id="ann", timestamp="2024-05-04T10:00:00Z")
        memory.add("We went to the fair", user_id="ann", timestamp="2024-08-04T10:00:00Z")
        found = memory.search("Where did we go yesterday?", user_id="ann", reference_date="2024-05-05")["results"]
        assert found[0]["memory"] == "We went to the zoo"

    @pytest.mark.parametrize("day", ["31.01.2030", "2030-02-30", "soon", 5])
    def test_a_bad_expiry_is_a_value_error(self, memory: Memory, day: Any) -> None:
        with pytest.raises(ValueError, match="expiration_date must be a valid date in YYYY-MM-DD format"):
            memory.add("x", user_id="ann", expiration_date=day)

    @pytest.mark.parametrize("day", ["2030-01-31", date(2030, 1, 31), datetime(2030, 1, 31, 9, tzinfo=UTC)])
    def test_an_expiry_may_be_text_or_a_date(self, memory: Memory, day: Any) -> None:
        memory.add("x", user_id="ann", expiration_date=day)
        assert memory.get_all(user_id="ann")["results"][0]["expiration_date"] == "2030-01-31"

    def test_what_expired_is_hidden_from_reads_but_not_from_get(self, memory: Memory) -> None:
        today = datetime.now(UTC).date()
        for text, day in (("old offer", today - timedelta(days=1)), ("offer", today + timedelta(days=1))):
            memory.add(text, user_id="ann", expiration_date=day)
        reads: list[dict[str, Any]] = [
            memory.get_all(user_id="ann"),
            memory.search("offer", user_id="ann"),
            memory.search("offer", filters={"user_id": "ann", "role": "user"}),
            memory.search("offer", user_id="ann", threshold=0),
        ]
        assert [texts(read) for read in reads] == [["offer"]] * 4
        assert "old" not in memory.search("offer", user_id="ann", token_budget=200)["context"].text
        shown = memory.get_all(user_id="ann", show_expired=True)["results"]
        assert [entry["memory"] for entry in shown] == ["old offer", "offer"]
        assert len(memory.search("offer", user_id="ann", show_expired=True)["results"]) == 2
        assert memory.get(shown[0]["id"]) is not None

    def test_an_imported_expiry_holds_as_well_and_a_malformed_one_does_not(
        self, memory: Memory, turns: TurnMemory
    ) -> None:
        for text, day in (("old offer", "2020-01-01"), ("odd offer", "soon")):
            turns.add({"role": "user", "content": text}, user_id="ann", metadata={"expiration_date": day})
        assert texts(memory.search("offer", user_id="ann")) == ["odd offer"]
        assert "old" not in memory.search("offer", user_id="ann", token_budget=200)["context"].text


class TestMetadata:
    def test_it_cannot_say_whose_a_memory_is(self, memory: Memory, caplog: pytest.LogCaptureFixture) -> None:
        with caplog.at_level(logging.WARNING):
            memory.add(
                "x", user_id="ann", metadata={"user_id": "bob", "agent_id": "a", "run_id": "r", "actor_id": "z", "k": 1}
            )
        assert "metadata cannot set actor_id, agent_id, run_id, user_id" in caplog.text
        (found,) = memory.get_all(user_id="ann")["results"]
        assert (found["metadata"], "agent_id" in found) == ({"k": 1}, False)
        assert memory.get_all(user_id="bob") == {"results": []}

    def test_computed_fields_are_not_taken_from_it(self, memory: Memory) -> None:
        memory.add(
            "x", user_id="ann", metadata={"data": "y", "hash": "h", "role": "assistant", "updated_at": "t", "k": 1}
        )
        (found,) = memory.get_all(user_id="ann")["results"]
        assert (found["memory"], found["role"], found["metadata"]) == ("x", "user", {"k": 1})

    def test_created_at_in_it_back_dates_and_comes_back_as_given(self, memory: Memory) -> None:
        memory.add("x", user_id="ann", metadata={"created_at": "2023-05-05T10:00:00+02:00"})
        memory.add("older", user_id="ann", metadata={"created_at": "2022-05-05T10:00:00+02:00"})
        found = memory.get_all(user_id="ann")["results"]
        assert [entry["memory"] for entry in found] == ["older", "x"]
        assert found[1]["created_at"] == "2023-05-05T10:00:00+02:00"

    def test_the_callers_dict_is_neither_changed_nor_shared(self, memory: Memory) -> None:
        given: dict[str, Any] = {"tags": ["a"], "user_id": "bob"}
        memory.add("x", user_id="ann", metadata=given)
        assert given == {"tags": ["a"], "user_id": "bob"}
        given["tags"].append("b")
        assert memory.get_all(user_id="ann")["results"][0]["metadata"] == {"tags": ["a"]}

    def test_an_update_merges_it_and_keeps_what_is_not_named(self, memory: Memory) -> None:
        memory_id = memory.add("x", user_id="ann", metadata={"a": 1, "b": 1})["results"][0]["id"]
        memory.update(memory_id, metadata={"b": 2, "user_id": "bob"})
        memory.update(memory_id, "y")
        found = memory.get(memory_id)
        assert found is not None
        assert (found["memory"], found["metadata"], found["user_id"]) == ("y", {"a": 1, "b": 2}, "ann")
        assert found["created_at"] < found["updated_at"]


class TestOthers:
    def test_procedural_memory_needs_a_model(self, memory: Memory) -> None:
        with pytest.raises(NotImplementedError, match="model"):
            memory.add("x", agent_id="a", memory_type="procedural_memory")
        assert issubclass(UnsupportedFeatureError, ValueError)

    def test_other_memory_types_are_refused(self, memory: Memory) -> None:
        with pytest.raises(ValidationError) as error:
            memory.add("x", user_id="ann", memory_type="semantic")
        assert error.value.error_code == "VALIDATION_002"

    @pytest.mark.parametrize("unknown", ["nothing", "", " ", "x" * 600, "\x00", "8f3f1c52-6a1e-4f0e-9d53-0a2f6c1b7e01"])
    def test_an_unknown_id_is_none_to_get_and_an_error_to_change(self, memory: Memory, unknown: str) -> None:
        assert memory.get(unknown) is None
        assert memory.history(unknown) == []
        for call in (memory.update, lambda memory_id, _text: memory.delete(memory_id)):
            with pytest.raises(MemoryNotFoundError, match="not found") as error:
                call(unknown, "x")
            assert isinstance(error.value, ValueError)

    @pytest.mark.parametrize("call", ["get", "history", "delete", "update"])
    def test_an_id_that_is_no_text_is_a_type_error(self, memory: Memory, call: str) -> None:
        memory.add("x", user_id="ann")
        with pytest.raises(TypeError, match="memory_id"):
            getattr(memory, call)(*([None, "x"] if call == "update" else [None]))

    def test_an_update_of_nothing_is_refused_and_an_empty_text_is_taken(self, memory: Memory) -> None:
        memory_id = memory.add("x", user_id="ann")["results"][0]["id"]
        with pytest.raises(ValueError, match="At least one of text, metadata, or expiration_date"):
            memory.update(memory_id)
        memory.update(memory_id, "")
        assert (memory.get(memory_id) or {})["memory"] == ""

    @pytest.mark.parametrize("query", ["", "  ", None, 5])
    def test_an_empty_query_is_a_value_error(self, memory: Memory, query: Any) -> None:
        with pytest.raises(ValueError, match="Invalid query"):
            memory.search(query, user_id="ann")

    @pytest.mark.parametrize("count", [-1, True, 1.5, "3"])
    def test_a_count_is_a_whole_number_from_zero(self, memory: Memory, count: Any) -> None:
        for call in (
            lambda: memory.search("x", user_id="ann", top_k=count),
            lambda: memory.get_all(user_id="ann", top_k=count),
        ):
            with pytest.raises(ValueError, match="top_k"):
                call()

    @pytest.mark.parametrize("threshold", [-0.1, 1.5, True, "0.5", float("nan")])
    def test_a_threshold_lies_between_zero_and_one(self, memory: Memory, threshold: Any) -> None:
        with pytest.raises(ValueError, match="threshold"):
            memory.search("x", user_id="ann", threshold=threshold)

    def test_errors_never_hold_what_was_said(self, memory: Memory) -> None:
        with pytest.raises(ValidationError) as error:
            memory.add([{"role": "user", "content": "my secret"}, 5], user_id="ann")
        assert "secret" not in f"{error.value}{error.value.details}{error.value.debug_info}"
