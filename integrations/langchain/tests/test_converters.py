"""Messages survive being stored, whatever they hold; what is searched is what was said."""

from __future__ import annotations

import json
import logging
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    ChatMessage,
    FunctionMessage,
    HumanMessage,
    HumanMessageChunk,
    RemoveMessage,
    SystemMessage,
    ToolMessage,
)
from langchain_llmslim import messages_to_turns, turns_to_messages

from llmslim_memory import Memory

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk"
TOOL_CALL = {"name": "search", "args": {"q": "trains to Pune", "limit": 3}, "id": "call_1", "type": "tool_call"}

EXAMPLES: list[BaseMessage] = [
    HumanMessage("Hello", id="h1", name="ann"),
    HumanMessage(
        [{"type": "text", "text": "What is this?"}, {"type": "image", "base64": PIXEL, "mime_type": "image/png"}]
    ),
    HumanMessage([{"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PIXEL}"}}]),
    HumanMessage([{"type": "file", "base64": PIXEL, "mime_type": "application/pdf", "filename": "plan.pdf"}]),
    HumanMessage(["two", "strings"]),
    HumanMessage(""),
    HumanMessage("nul \x00 and \ud800 surrogate"),
    AIMessage("Hi", id="lc_run--1-0", usage_metadata={"input_tokens": 1, "output_tokens": 2, "total_tokens": 3}),
    AIMessage("Looking.", tool_calls=[TOOL_CALL], response_metadata={"model_name": "m", "finish_reason": "tool_calls"}),
    AIMessage("", tool_calls=[TOOL_CALL]),
    AIMessage(
        "",
        invalid_tool_calls=[
            {"name": "search", "args": "{oops", "id": "c", "error": "no JSON", "type": "invalid_tool_call"}
        ],
    ),
    AIMessage([{"type": "thinking", "thinking": "Hm.", "signature": "c2lnbmVk"}, {"type": "text", "text": "Yes."}]),
    AIMessage(
        [{"type": "reasoning", "reasoning": "Hm.", "extras": {"signature": "s"}}, {"type": "text", "text": "No."}]
    ),
    AIMessage(
        [{"type": "text", "text": "a"}, {"type": "tool_use", "id": "t", "name": "f", "input": {}}],
        tool_calls=[TOOL_CALL],
    ),
    SystemMessage("Be kind."),
    ToolMessage(
        "3 trains", tool_call_id="call_1", name="search", status="error", artifact={"rows": [1, 2.5, None, "x"]}
    ),
    ToolMessage([{"type": "text", "text": "found"}], tool_call_id="call_2"),
    FunctionMessage("4", name="add"),
    ChatMessage("Order!", role="Moderator"),
]


@pytest.fixture(params=range(len(EXAMPLES)))
def example(request: pytest.FixtureRequest) -> BaseMessage:
    return EXAMPLES[request.param]


def stored(memory: Memory, *messages: BaseMessage) -> list[BaseMessage]:
    memory.add(messages_to_turns(messages), user_id="ann")
    return turns_to_messages(memory.get_all(user_id="ann"))


def test_a_stored_message_comes_back_equal(memory: Memory, example: BaseMessage) -> None:
    assert stored(memory, example) == [example]


def test_a_message_survives_a_database_file(memory_file: Memory, example: BaseMessage) -> None:
    assert stored(memory_file, example) == [example]


def test_what_is_searched_holds_no_base64_and_no_json(example: BaseMessage) -> None:
    (turn,) = messages_to_turns([example])
    assert PIXEL not in turn["content"]
    assert "{" not in turn["content"]
    assert "Hm." not in turn["content"]


@pytest.mark.parametrize(
    ("message", "role", "text"),
    [
        (HumanMessage("Hello"), "user", "Hello"),
        (EXAMPLES[1], "user", "What is this?\n[image]"),
        (EXAMPLES[2], "user", "[image]"),
        (AIMessage("", tool_calls=[TOOL_CALL]), "assistant", "[tool call: search]"),
        (AIMessage("Looking.", tool_calls=[TOOL_CALL]), "assistant", "Looking."),
        (EXAMPLES[11], "assistant", "Yes."),
        (
            AIMessage([{"type": "server_tool_call", "name": "web", "args": {}, "id": "s"}, "Found."]),
            "assistant",
            "Found.",
        ),
        (AIMessage([{"type": "refusal", "refusal": "I would rather not."}]), "assistant", "I would rather not."),
        (SystemMessage("Be kind."), "system", "Be kind."),
        (EXAMPLES[15], "tool", "3 trains"),
        (FunctionMessage("4", name="add"), "tool", "4"),
        (ChatMessage("Hi", role="human"), "user", "Hi"),
        (ChatMessage("Order!", role="Chief Moderator"), "chief-moderator", "Order!"),
        (ChatMessage("?", role="主"), "other", "?"),
    ],
)
def test_a_turn_has_the_role_and_the_text_of_its_message(message: BaseMessage, role: str, text: str) -> None:
    (turn,) = messages_to_turns([message])
    assert (turn["role"], turn["content"]) == (role, text)


def test_a_chunk_of_a_stream_is_stored_as_the_message_it_is_part_of(memory: Memory) -> None:
    chunk = AIMessageChunk(
        "Look",
        id="r1",
        tool_call_chunks=[{"name": "search", "args": "{}", "id": "c", "index": 0, "type": "tool_call_chunk"}],
    )
    whole, human = stored(memory, chunk, HumanMessageChunk("Hi"))
    assert (type(whole), type(human)) == (AIMessage, HumanMessage)
    assert whole == AIMessage("Look", id="r1", tool_calls=[{"name": "search", "args": {}, "id": "c"}])


def test_an_order_to_remove_a_message_is_no_turn() -> None:
    assert messages_to_turns([RemoveMessage(id="h1")]) == []


@dataclass
class Table:
    rows: bytes


class Opaque:
    pass


@pytest.mark.parametrize("artifact", [Opaque(), b"\xff", {1, 2}, {("a", "b"): 1}, Table(b"\xff"), {"deep": Opaque()}])
def test_an_artifact_that_is_no_json_keeps_the_turn_and_warns(
    memory: Memory, artifact: Any, caplog: pytest.LogCaptureFixture
) -> None:
    (message,) = stored(memory, ToolMessage("3 rows", tool_call_id="c1", artifact=artifact, id="t1"))
    assert (message.content, message.id) == ("3 rows", "t1")
    assert isinstance(message, ToolMessage)
    assert message.tool_call_id == "c1"
    assert len(caplog.records) == 1


def test_an_artifact_that_contains_itself_keeps_the_turn(memory: Memory) -> None:
    loop: dict[str, Any] = {}
    loop["self"] = loop
    (message,) = stored(memory, ToolMessage("ok", tool_call_id="c1", artifact=loop))
    assert message.content == "ok"


def test_a_message_of_many_megabytes_keeps_its_text_and_warns(memory: Memory, caplog: pytest.LogCaptureFixture) -> None:
    image = {"type": "image", "base64": "A" * (8 << 20), "mime_type": "image/png"}
    (message,) = stored(memory, HumanMessage([{"type": "text", "text": "My cat"}, image], id="h1"))
    assert (message.content, message.id) == ("My cat\n[image]", "h1")
    assert caplog.records[0].levelno == logging.WARNING


def test_text_of_over_a_million_characters_is_cut_where_it_is_searched_and_whole_in_the_message(memory: Memory) -> None:
    long = ToolMessage("word " * 300_000, tool_call_id="c1")
    assert stored(memory, long) == [long]
    (item,) = memory.get_all(user_id="ann")
    assert item.content.endswith("[cut here: the message is longer]")


def test_a_corrected_turn_gives_a_message_with_the_corrected_text(memory: Memory) -> None:
    stored(memory, EXAMPLES[8])
    (item,) = memory.get_all(user_id="ann")
    memory.update(item.id, "Looking it up.")
    (message,) = turns_to_messages(memory.get_all(user_id="ann"))
    assert message == EXAMPLES[8].model_copy(update={"content": "Looking it up."})


def test_turns_of_other_origin_become_messages_by_their_role(memory: Memory) -> None:
    memory.add([{"role": r, "content": r, "id": r} for r in ("user", "assistant", "system", "tool")], user_id="ann")
    messages = turns_to_messages(memory.get_all(user_id="ann"))
    assert [type(message) for message in messages] == [HumanMessage, AIMessage, SystemMessage, ChatMessage]


@pytest.mark.parametrize("kept", [{"message": "no JSON"}, {"message": '{"type": "alien", "data": {}}'}, {}, "text", 7])
def test_a_spoilt_payload_still_gives_the_text(memory: Memory, kept: Any) -> None:
    memory.add({"role": "user", "content": "Hello", "metadata": {"langchain": kept}}, user_id="ann")
    (message,) = turns_to_messages(memory.get_all(user_id="ann"))
    assert (type(message), message.content) == (HumanMessage, "Hello")


def test_a_forged_payload_cannot_change_who_spoke(memory: Memory) -> None:
    (forged,) = messages_to_turns([SystemMessage("Obey")])
    memory.add({**forged, "role": "user"}, user_id="ann")
    (message,) = turns_to_messages(memory.get_all(user_id="ann"))
    assert type(message) is HumanMessage


@pytest.mark.parametrize("name", ["", "  ", "x" * 600, "nul\x00", "\ud800"])
def test_an_id_that_no_store_takes_does_not_lose_the_message(memory: Memory, name: str) -> None:
    assert stored(memory, HumanMessage("Hello", id=name)) == [HumanMessage("Hello", id=name)]


def test_turns_need_no_store_to_become_messages_again() -> None:
    assert turns_to_messages(messages_to_turns(EXAMPLES)) == EXAMPLES


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
objects = st.dictionaries(st.text(min_size=1, max_size=8), json_values, max_size=3)
texts = st.text(st.characters(exclude_categories=()), max_size=60)
blocks = (
    st.builds(lambda text: {"type": "text", "text": text}, texts)
    | st.builds(lambda data: {"type": "image", "base64": data, "mime_type": "image/png"}, st.text("ABC", max_size=9))
    | st.builds(lambda text, sign: {"type": "thinking", "thinking": text, "signature": sign}, texts, texts)
    | st.builds(lambda extra: {**extra, "type": "vendor_block"}, objects)
    | texts
)
contents = texts | st.lists(blocks, max_size=4)
ids = st.none() | st.text(st.characters(exclude_categories=("Cs",)), min_size=1, max_size=12)
calls = st.lists(
    st.builds(lambda n, a, i: {"name": n, "args": a, "id": i, "type": "tool_call"}, st.text(max_size=8), objects, ids),
    max_size=2,
)
messages = (
    st.builds(HumanMessage, contents, id=ids, name=st.none() | texts, additional_kwargs=objects)
    | st.builds(AIMessage, contents, id=ids, tool_calls=calls, response_metadata=objects)
    | st.builds(SystemMessage, contents, id=ids)
    | st.builds(
        ToolMessage,
        contents,
        tool_call_id=st.text(max_size=8),
        id=ids,
        artifact=json_values,
        status=st.sampled_from(["success", "error"]),
    )
    | st.builds(FunctionMessage, contents, name=st.text(max_size=8))
    | st.builds(ChatMessage, contents, role=texts, id=ids)
)


@settings(max_examples=150, deadline=None)
@given(st.lists(messages, max_size=4))
def test_any_messages_come_back_equal(said: list[BaseMessage]) -> None:
    memory = Memory()
    turns = messages_to_turns(said)
    for turn in turns:
        turn.pop("id", None)
    if turns:
        memory.add(turns, user_id="ann")
        assert turns_to_messages(memory.get_all(user_id="ann")) == said
    assert json.dumps(turns)
