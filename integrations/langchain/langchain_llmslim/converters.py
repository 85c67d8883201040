"""LangChain messages as turns and back: the text to search beside the whole message, so that nothing is lost."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from hashlib import blake2b
from typing import Any

from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    BaseMessageChunk,
    ChatMessage,
    HumanMessage,
    RemoveMessage,
    SystemMessage,
    message_chunk_to_message,
)

from langchain_llmslim.payload import pack, unpack
from langchain_llmslim.text import message_text
from llmslim_memory import MemoryItem

METADATA_KEY = "langchain"
"""The metadata key of a turn under which its whole message is kept, as JSON text, with a digest of the turn's text."""

_ROLES = {"human": "user", "ai": "assistant", "system": "system", "tool": "tool", "function": "tool"}
_MESSAGES: dict[str, type[BaseMessage]] = {"user": HumanMessage, "assistant": AIMessage, "system": SystemMessage}
_MAX_ID_CHARS = 512


def messages_to_turns(messages: Iterable[BaseMessage]) -> list[dict[str, Any]]:
    """Turn messages into what ``Memory.add`` takes, keeping each whole message in the turn's metadata.

    The content of a turn is the message's text alone, without base64 data and JSON; a message without any text gets a
    short placeholder, such as ``[tool call: search]``. Chunks of a stream become the message they are part of.
    A ``RemoveMessage`` is an order to the agent's state and was never said, so it is left out.

    Returns:
        One dict a message with ``role``, ``content``, ``metadata`` and, if the message has an id, ``id``.
    """
    return [_to_turn(_whole(message)) for message in messages if not isinstance(message, RemoveMessage)]


def turns_to_messages(turns: Iterable[MemoryItem | Mapping[str, Any]]) -> list[BaseMessage]:
    """Turn stored turns, or what :func:`messages_to_turns` gave, back into new message objects.

    A turn that was stored from a message gives an equal message; where its text was corrected since (by
    ``Memory.update``), the message says the corrected text. Other turns become human, AI and system messages by their
    role, and a ``ChatMessage`` for any other role.
    """
    return [_to_message(turn) for turn in turns]


def message_role(message: BaseMessage) -> str:
    """Who says ``message``: ``"user"``, ``"assistant"``, ``"system"``, ``"tool"``, or the role of a ``ChatMessage``."""
    role = message.role if isinstance(message, ChatMessage) else message.type.removesuffix("MessageChunk")
    plain = re.sub(r"[^a-z0-9_-]+", "-", role.lower()).lstrip("-_0123456789").rstrip("-")[:32]
    return _ROLES.get(plain, plain) or "other"


def source_id(message: BaseMessage) -> str | None:
    """The id under which a message is stored once, or ``None`` if it has none."""
    given = message.id
    if given is None or not given.strip():
        return None
    if len(given) > _MAX_ID_CHARS or re.search("[\x00\ud800-\udfff]", given):
        return "blake2b:" + blake2b(given.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
    return given


def text_digest(text: str) -> str:
    """A short digest of a turn's text as it was said; it differs from that of the content once that was corrected."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()


def _whole(message: BaseMessage) -> BaseMessage:
    return message_chunk_to_message(message) if isinstance(message, BaseMessageChunk) else message


def _to_turn(message: BaseMessage) -> dict[str, Any]:
    text = message_text(message)
    turn: dict[str, Any] = {
        "role": message_role(message),
        "content": text,
        "metadata": {METADATA_KEY: {"message": pack(message, text), "digest": text_digest(text)}},
    }
    name = source_id(message)
    return turn if name is None else {**turn, "id": name}


def _to_message(turn: MemoryItem | Mapping[str, Any]) -> BaseMessage:
    data = turn.to_dict() if isinstance(turn, MemoryItem) else turn
    content = str(data["content"])
    kept = (data.get("metadata") or {}).get(METADATA_KEY)
    kept = kept if isinstance(kept, Mapping) else {}
    message = unpack(kept["message"], content) if "message" in kept else None
    # Whoever can write metadata must not be able to make a user's turn the system's.
    if message is None or message_role(message) != data["role"]:
        return _plain_message(str(data["role"]), content, data.get("id"))
    if kept.get("digest") != text_digest(content):
        return message.model_copy(update={"content": content})
    return message


def _plain_message(role: str, content: str, name: str | None) -> BaseMessage:
    kind = _MESSAGES.get(role)
    return ChatMessage(content=content, role=role, id=name) if kind is None else kind(content=content, id=name)
