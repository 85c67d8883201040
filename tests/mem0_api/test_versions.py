"""What changed from release to release of Mem0: calls in every style work, where they do not contradict each other."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

from llmslim_memory import Memory as TurnMemory
from llmslim_memory.mem0 import Memory, MemoryClient
from llmslim_memory.mem0.calls import RETIRED


def texts(answer: dict[str, Any]) -> list[str]:
    return [entry["memory"] for entry in answer["results"]]


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
