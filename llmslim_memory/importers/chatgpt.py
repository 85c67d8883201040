"""ChatGPT data exports: an array of conversations, each a tree of messages of which one branch is current."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Self

from llmslim_memory.importers.fields import digest, id_of, joined, list_of, object_of, short_id, text_of, word_of
from llmslim_memory.importers.moments import read_moment
from llmslim_memory.importers.outcomes import MALFORMED, Left, Outcome, Outcomes, Session, Turn
from llmslim_memory.importers.records import Record, dumps

FORMAT = "chatgpt"

_THINKING = frozenset({"thoughts", "reasoning_recap"})
_TOOLS = frozenset(
    """
    code execution_output tether_quote tether_browsing_display tether_browsing_code computer_output
    citable_code_output sonic_webpage system_error
    """.split()  # noqa: SIM905  # a word list reads better
)
_EDITABLE = frozenset({"user_editable_context", "model_editable_context"})
_SYSTEM = frozenset({"system_message", "system_content", "developer_content"})
# A span such as U+E200 cite U+E202 turn0search0 U+E201, its marks where they stand alone, and 【12†source】.
_CITATION = re.compile(
    "\ue200[^\ue200\ue201]{0,2000}\ue201|[\ue200-\ue2ff]|【\\d{1,6}(?::\\d{1,6})?†[^【】\n]{0,200}】"
)


def is_record(value: Mapping[str, Any]) -> bool:
    """Whether this is a conversation of a ChatGPT export."""
    return isinstance(value.get("mapping"), dict)


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation's id, its nodes by their keys, and the keys of its current branch from the root down."""

    id: str
    nodes: Mapping[str, dict[str, Any]]
    branch: Sequence[str]

    @classmethod
    def of(cls, value: Mapping[str, Any]) -> Self:
        """The conversation that a record holds."""
        nodes = {key: node for key, node in value["mapping"].items() if isinstance(node, dict)}
        name = id_of(value, "conversation_id", "id") or digest(FORMAT, *sorted(nodes)[:1])
        return cls(name, nodes, _branch(nodes, value.get("current_node")))

    def source_id(self, key: str) -> str:
        """The id of a node's message."""
        return id_of(object_of(self.nodes[key], "message"), "id") or short_id(key)


def read(record: Record, *, tools: bool, left: Callable[[str], AbstractSet[str]] = lambda _: frozenset()) -> Outcomes:
    """Yield the outcome of every message of a conversation.

    ``left`` tells, for the conversation's id, the ids of messages that a later copy of it has on another branch.
    """
    value = record.value
    if not isinstance(value, dict) or not is_record(value):
        yield Left(MALFORMED, record.where)
        return
    talk = Conversation.of(value)
    for _ in range(len(value["mapping"]) - len(talk.nodes)):
        yield Left(MALFORMED, record.where)
    session = Session(FORMAT, talk.id, text_of(value, "title"))
    forgotten = value.get("is_do_not_remember") is True
    current, passed_over = set(talk.branch), left(talk.id)
    when = read_moment(value.get("create_time"))
    for key in [*talk.branch, *(key for key in talk.nodes if key not in current)]:
        message = talk.nodes[key].get("message")
        if message is None:
            continue
        if not isinstance(message, dict):
            yield Left(MALFORMED, record.where)
            continue
        when = (read_moment(message.get("create_time")) or when) if key in current else when
        source_id = talk.source_id(key)
        if forgotten:
            yield Left("meta")
        elif key not in current or source_id in passed_over:
            yield Left("other_branch")
        else:
            yield _outcome(source_id, message, session, when, tools)


def _branch(nodes: Mapping[str, dict[str, Any]], current: Any) -> list[str]:
    """The keys from the root down to the current node; by parent alone, for newer exports list no children."""
    key = current if isinstance(current, str) and current in nodes else _latest_leaf(nodes)
    path: dict[str, None] = {}
    while isinstance(key, str) and key in nodes and key not in path:
        path[key] = None
        key = nodes[key].get("parent")
    return list(reversed(path))


def _latest_leaf(nodes: Mapping[str, dict[str, Any]]) -> str | None:
    parents = {parent for node in nodes.values() if isinstance(parent := node.get("parent"), str)}
    spoken = [key for key, node in nodes.items() if isinstance(node.get("message"), dict)]
    leaves = [key for key in spoken if key not in parents] or spoken
    if not leaves:
        return None
    return max(enumerate(leaves), key=lambda entry: (_seconds(nodes[entry[1]]["message"]), entry[0]))[1]


def _seconds(message: Mapping[str, Any]) -> float:
    when = read_moment(message.get("create_time"))
    return when.timestamp() if when else 0.0


def _outcome(
    source_id: str, message: Mapping[str, Any], session: Session, when: datetime | None, tools: bool
) -> Outcome:
    reason = _reason(message)
    if reason == "tool_output" and tools:
        text, parts, role = _tool_text(message), list[str](), "tool"
    elif reason is not None:
        return Left(reason)
    else:
        text, parts = _said(object_of(message, "content"))
        role = object_of(message, "author")["role"]
    if not text:
        return Left(parts[0] if parts else "empty")
    return Turn(session, role, text, source_id, when, parts=tuple(parts))


def _reason(message: Mapping[str, Any]) -> str | None:
    """Why a message on the current branch is nothing that the user or the assistant said; ``None`` if it is."""
    role, kind = word_of(object_of(message, "author"), "role"), word_of(object_of(message, "content"), "content_type")
    metadata, channel, recipient = object_of(message, "metadata"), word_of(message, "channel"), message.get("recipient")
    if kind in _THINKING or channel in ("analysis", "commentary") or _is_reasoning(metadata):
        return "thinking"
    if role in ("system", "developer") or kind in _SYSTEM:
        return "system"
    if role in ("tool", "function", "critic") or recipient not in (None, "", "all") or kind in _TOOLS:
        return "tool_output"
    hidden = metadata.get("is_visually_hidden_from_conversation") or metadata.get("is_user_system_message")
    if hidden or kind in _EDITABLE or message.get("weight") == 0:
        return "meta"
    if role not in ("user", "assistant") or not kind:
        return MALFORMED
    return None if kind in ("text", "multimodal_text") else "unsupported"


def _is_reasoning(metadata: Mapping[str, Any]) -> bool:
    return bool(metadata.get("is_thinking_preamble_message")) or metadata.get("reasoning_status") == "is_reasoning"


def _said(content: Mapping[str, Any]) -> tuple[str, list[str]]:
    """What a message says, and the reasons for which parts of it were left out."""
    texts: list[str] = []
    left: list[str] = []
    for part in list_of(content, "parts"):
        text = part if isinstance(part, str) else _transcript(part)
        if text is None:
            left.append("attachment" if isinstance(part, dict) else "unsupported")
        else:
            texts.append(text)
    if not texts and isinstance(content.get("text"), str):
        texts.append(content["text"])
    return clean(joined(texts)), left


def _transcript(part: Any) -> str | None:
    if isinstance(part, dict) and word_of(part, "content_type") in ("audio_transcription", "text"):
        return text_of(part, "text")
    return None


def clean(text: str) -> str:
    """``text`` without the marks that stand for citations in the web page."""
    return _CITATION.sub("", text).strip()


def _tool_text(message: Mapping[str, Any]) -> str:
    content = object_of(message, "content")
    texts = list(_tool_texts(content))
    return joined(texts) if texts else dumps(content) if content else ""


def _tool_texts(content: Mapping[str, Any]) -> Iterator[str]:
    for name in ("text", "result", "content"):
        if isinstance(content.get(name), str):
            yield content[name]
    yield from (part for part in list_of(content, "parts") if isinstance(part, str))
