"""Chat messages become turns and come back equal."""

from __future__ import annotations

import copy
import io
import json
import logging
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from llama_index.core.base.llms import types
from llama_index.core.base.llms.types import ChatMessage, ContentBlock, ImageBlock, TextBlock
from llama_index.memory.llmslim import chat_messages_to_turns, turns_to_chat_messages
from llama_index.memory.llmslim.jsonable import decode, encode

from llmslim_memory import ContextEnvelope, MemoryItem

from .strategies import BLOCKS, messages, values


def stored(message: ChatMessage, **options: Any) -> MemoryItem:
    """The turn that a store would give back."""
    [turn] = json.loads(json.dumps(chat_messages_to_turns([message], **options)))
    return MemoryItem(id="t1", created_at=datetime(2026, 11, 30, tzinfo=UTC), **turn)


def reread(message: ChatMessage) -> ChatMessage:
    [again] = turns_to_chat_messages([stored(message)])
    return again


def test_a_plain_message_is_a_plain_turn() -> None:
    [turn] = chat_messages_to_turns([ChatMessage(role="user", content="I moved to Pune.")])
    assert turn == {"role": "user", "content": "I moved to Pune."}


@given(messages)
def test_a_message_of_any_blocks_comes_back_equal(message: ChatMessage) -> None:
    assert reread(message) == message


@given(messages)
def test_converting_leaves_the_message_as_it_was(message: ChatMessage) -> None:
    before = copy.deepcopy(message)
    chat_messages_to_turns([message])
    assert message == before


@given(messages)
def test_a_message_that_comes_back_shares_nothing_with_the_turn(message: ChatMessage) -> None:
    turn = stored(message)
    [first] = turns_to_chat_messages([turn])
    first.blocks.append(TextBlock(text="changed by an agent"))
    first.additional_kwargs["state"] = "changed"
    [second] = turns_to_chat_messages([turn])
    assert second == message


def test_every_kind_of_block_is_among_those_tried() -> None:
    kinds = {kind.model_fields["block_type"].default for kind in get_args(get_args(ContentBlock)[0])}
    assert set(BLOCKS) == kinds


@given(values)
def test_a_value_that_json_lacks_comes_back_equal(value: Any) -> None:
    assert decode(json.loads(json.dumps(encode(value), allow_nan=False))) == value


@pytest.mark.parametrize("value", [float("inf"), float("-inf"), Path("a/b.png"), b"\xff\x00"])
def test_an_odd_value_comes_back_equal(value: Any) -> None:
    assert decode(encode({"$key": [value]})) == {"$key": [value]}


def test_an_object_that_cannot_be_stored_keeps_its_message_with_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    class Handle:
        secret = "not for the log"

    message = ChatMessage(role="tool", content="done", additional_kwargs={"tool_call_id": "c1", "handle": Handle()})
    again = reread(message)
    assert (again.content, again.additional_kwargs) == ("done", {"tool_call_id": "c1", "handle": "<Handle>"})
    assert [record.message for record in caplog.records] == [
        "a Handle cannot be stored with a message; its name is kept in its place"
    ]


def test_a_value_that_holds_itself_keeps_its_message() -> None:
    loop: dict[str, Any] = {"name": "loop"}
    loop["self"] = loop
    assert reread(ChatMessage(content="kept", additional_kwargs=loop)).content == "kept"


def test_text_is_stored_once_however_long_it_is() -> None:
    message = ChatMessage(role="tool", content="row " * 1000, additional_kwargs={"tool_call_id": "c1"})
    turn = stored(message)
    assert turn.content == message.content
    assert len(json.dumps(dict(turn.metadata))) < 200


def test_a_tool_call_can_be_recalled_by_its_name_and_arguments() -> None:
    call = {"id": "c1", "function": {"name": "weather", "arguments": '{"city": "Pune"}'}}
    legacy = ChatMessage(role="assistant", content="Let me look.", additional_kwargs={"tool_calls": [call]})
    assert stored(legacy).content == 'Let me look.\n[calls weather: {"city": "Pune"}]'
    assert reread(legacy) == legacy


@pytest.mark.skipif(not hasattr(types, "ToolCallBlock"), reason="this llama-index-core has no ToolCallBlock")
def test_a_tool_call_block_can_be_recalled_by_its_name_and_arguments() -> None:
    block = types.ToolCallBlock(tool_call_id="c1", tool_name="weather", tool_kwargs={"city": "पुणे"})
    assert stored(ChatMessage(role="assistant", blocks=[block])).content == '[calls weather: {"city": "पुणे"}]'


@pytest.mark.skipif(not hasattr(types, "ThinkingBlock"), reason="this llama-index-core has no ThinkingBlock")
def test_reasoning_is_never_recalled_and_keeps_its_signature() -> None:
    thought = types.ThinkingBlock(content="hm", additional_information={"signature": "c2ln"})
    message = ChatMessage(role="assistant", blocks=[thought, TextBlock(text="Pune.")])
    assert stored(message).content == "Pune."
    assert reread(message) == message


def test_recalled_history_is_never_recalled_again_and_comes_back_where_it_was() -> None:
    recalled = ContextEnvelope("user: I live in Pune.").to_text()
    message = ChatMessage(role="tool", content=recalled, additional_kwargs={"tool_call_id": "c1"})
    assert stored(message).content == ""
    assert reread(message) == message


def test_a_hidden_role_keeps_its_text_in_the_metadata_alone() -> None:
    message = ChatMessage(role="system", content="Answer briefly.")
    turn = stored(message, hide=("system",))
    assert turn.content == ""
    assert turns_to_chat_messages([turn]) == [message]


def test_a_corrected_turn_gives_the_corrected_text() -> None:
    message = ChatMessage(
        role="user",
        blocks=[TextBlock(text="I live in"), ImageBlock(url="https://example.org/a.png"), TextBlock(text="!")],
    )
    turn = replace(stored(message), content="[removed at the user's request]")
    [again] = turns_to_chat_messages([turn])
    assert again.content == "[removed at the user's request]"
    assert [block.block_type for block in again.blocks] == ["text", "image"]


def test_a_turn_of_another_program_becomes_a_message() -> None:
    turns = [{"role": "assistant", "content": "hello"}, {"role": "narrator", "content": "meanwhile"}]
    assert [(m.role.value, m.content) for m in turns_to_chat_messages(turns)] == [
        ("assistant", "hello"),
        ("user", "meanwhile"),
    ]


def test_a_block_whose_file_is_gone_still_comes_back(tmp_path: Path) -> None:
    path = tmp_path / "photo.png"
    path.write_bytes(b"\x89PNG")
    turn = stored(ChatMessage(blocks=[ImageBlock(path=path)]))
    path.unlink()
    [again] = turns_to_chat_messages([turn])
    assert again.blocks[0].path == path


@pytest.mark.skipif(
    "IOBase" not in str(ImageBlock.model_fields["image"]), reason="llama-index-core 0.14.0 takes no stream"
)
def test_a_stream_comes_back_as_its_bytes() -> None:
    again = reread(ChatMessage(blocks=[ImageBlock(image=io.BytesIO(b"\x89PNG\r\n\x1a\n"))]))
    assert again.blocks[0].resolve_image().read() == b"\x89PNG\r\n\x1a\n"


def test_a_block_of_a_later_release_is_left_out_with_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING)
    extras = {"blocks": [{"block_type": "hologram"}], "chars": 0, "additional_kwargs": {}}
    [message] = turns_to_chat_messages([{"role": "user", "content": "", "metadata": {"llama_index": extras}}])
    assert message.blocks == []
    assert "unknown" in caplog.text


@given(st.lists(messages, max_size=5))
def test_a_list_keeps_its_order_and_length(said: list[ChatMessage]) -> None:
    assert turns_to_chat_messages(chat_messages_to_turns(said)) == said
