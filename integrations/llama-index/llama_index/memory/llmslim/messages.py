"""LlamaIndex's chat messages as turns, and turns as chat messages: text to recall beside what rebuilds the message."""

from __future__ import annotations

import json
import logging
from collections.abc import Collection, Mapping, Sequence
from hashlib import sha256
from typing import Any, get_args

from llama_index.core.base.llms.types import ChatMessage, ContentBlock, MessageRole, TextBlock
from llama_index.core.bridge.pydantic import BaseModel, TypeAdapter, ValidationError
from llama_index.memory.llmslim.jsonable import decode, encode
from llama_index.memory.llmslim.texts import block_text, legacy_calls

from llmslim_memory import MemoryItem

logger = logging.getLogger(__name__)

METADATA_KEY = "llama_index"
"""The metadata key of a turn that holds what its text cannot show."""

_ROLES = frozenset(role.value for role in MessageRole)
_MEDIA = frozenset({"image", "audio", "video", "document"})
_BLOCKS: TypeAdapter[Any] = TypeAdapter(ContentBlock)
_CLASSES: dict[str, type[BaseModel]] = {
    kind.model_fields["block_type"].default: kind for kind in get_args(get_args(ContentBlock)[0])
}


def chat_messages_to_turns(messages: Sequence[ChatMessage], *, hide: Collection[str] = ()) -> list[dict[str, Any]]:
    """Turn chat messages into what ``Memory.add`` takes.

    A turn's content is the text that may be recalled: text blocks as they are, tool calls as ``[calls name: {...}]``,
    media as ``[image]`` and the like. Reasoning, and text that was itself recalled, are left out of it. What the
    content does not show is kept in the turn's metadata under ``"llama_index"``, so that
    :func:`turns_to_chat_messages` gives an equal message. The messages given are only read.

    Args:
        messages: The messages, oldest first.
        hide: Roles whose text is kept in the metadata alone, so that it is never recalled.
    """
    return [_to_turn(message, hidden=message.role.value in hide) for message in messages]


def turns_to_chat_messages(turns: Sequence[MemoryItem | Mapping[str, Any]]) -> list[ChatMessage]:
    """Turn stored turns, or what :func:`chat_messages_to_turns` gave, into new chat messages.

    A turn whose content was corrected since (by ``Memory.update``) gives a message with the corrected text. A role that
    LlamaIndex does not know becomes ``user``, the one with the least authority.
    """
    return [_to_message(turn) for turn in turns]


def identity(message: ChatMessage) -> str:
    """A digest of what makes two messages the same saying: role, text, calls and media.

    Reasoning, usage data and other extras are left out, since clients that send a transcript back drop them.
    """
    texts = [block.text if isinstance(block, TextBlock) else block_text(block) for block in message.blocks]
    media = [encode(block.model_dump()) for block in message.blocks if block.block_type in _MEDIA]
    said = "\n".join(filter(None, [*texts, *legacy_calls(message)]))
    return sha256(json.dumps([message.role.value, said, media], sort_keys=True).encode()).hexdigest()


def _to_turn(message: ChatMessage, *, hidden: bool) -> dict[str, Any]:
    content, blocks = _dump(message, hidden)
    turn: dict[str, Any] = {"role": message.role.value, "content": content}
    if message.additional_kwargs or blocks != [{"block_type": "text", "span": [0, len(content)]}]:
        extras = {"blocks": blocks, "chars": len(content), "additional_kwargs": encode(message.additional_kwargs)}
        turn["metadata"] = {METADATA_KEY: extras}
    return turn


def _dump(message: ChatMessage, hidden: bool) -> tuple[str, list[dict[str, Any]]]:
    """The content of the turn, and the blocks as data, in which shown text is a span of the content."""
    content, dumped = "", []
    for block in message.blocks:
        text = "" if hidden else block_text(block)
        start = len(content) + 1 if content and text else len(content)
        content = f"{content}\n{text}" if content and text else content + text
        if isinstance(block, TextBlock) and text == block.text:
            dumped.append({"block_type": "text", "span": [start, start + len(text)]})
        else:
            dumped.append(encode(block.model_dump()))
    calls = [] if hidden else legacy_calls(message)
    return "\n".join(filter(None, [content, *calls])), dumped


def _to_message(turn: MemoryItem | Mapping[str, Any]) -> ChatMessage:
    data = turn.to_dict() if isinstance(turn, MemoryItem) else turn
    role = data["role"] if data["role"] in _ROLES else MessageRole.USER
    extras = (data.get("metadata") or {}).get(METADATA_KEY) or {}
    if "blocks" not in extras:
        return ChatMessage(role=role, blocks=[TextBlock(text=data["content"])])
    blocks = _load(extras["blocks"], data["content"], edited=len(data["content"]) != extras["chars"])
    message = ChatMessage(role=role, blocks=blocks)
    # Set afterwards: the constructor would make image blocks of the key "images" again.
    message.additional_kwargs = decode(extras["additional_kwargs"])
    return message


def _load(blocks: Sequence[Mapping[str, Any]], content: str, *, edited: bool) -> list[Any]:
    loaded: list[Any] = []
    unsaid = edited
    for data in blocks:
        if "span" not in data:
            loaded += _load_block(decode(data))
        elif not edited:
            start, end = data["span"]
            loaded.append(TextBlock(text=content[start:end]))
        elif unsaid:
            loaded.append(TextBlock(text=content))
            unsaid = False
    return [*loaded, TextBlock(text=content)] if unsaid else loaded


def _load_block(data: dict[str, Any]) -> list[Any]:
    try:
        return [_BLOCKS.validate_python(data)]
    except ValidationError:
        # A file that a block names may be gone, and a block may be of a kind that this llama-index-core does not know.
        kind = _CLASSES.get(data.get("block_type", ""))
        if kind is not None:
            return [kind.model_construct(**data)]
        logger.warning("a content block of a kind unknown to this llama-index-core is left out")
        return []
