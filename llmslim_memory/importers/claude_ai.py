"""Claude.ai data exports: an array of conversations, whose messages hold blocks, attachments and sometimes branches."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any, NoReturn

from llmslim_memory.errors import HistoryImportError
from llmslim_memory.importers.fields import digest, id_of, joined, list_of, object_of, text_of, word_of
from llmslim_memory.importers.moments import read_moment
from llmslim_memory.importers.outcomes import MALFORMED, Left, Outcomes, Session, Turn
from llmslim_memory.importers.records import Record, dumps

FORMAT = "claude-ai"

_ROLES = {"human": "user", "user": "user", "assistant": "assistant"}
_BLOCKS = {
    "thinking": "thinking",
    "redacted_thinking": "thinking",
    "tool_use": "tool_output",
    "tool_result": "tool_output",
    "injected_prompt_block": "meta",
    "image": "attachment",
    "voice_note": "attachment",
    "document": "attachment",
}
_SPOKEN = frozenset({"text", "voice_note"})
_PLACEHOLDER = "This block is not supported on your current device yet."
_THOUGHT = re.compile(r"<antThinking>.*?(?:</antThinking>|\Z)", re.DOTALL)
_ARTIFACT = re.compile(r"<antArtifact\b[^>]{0,500}>.*?(?:</antArtifact>|\Z)", re.DOTALL)


def is_record(value: Mapping[str, Any]) -> bool:
    """Whether this belongs to a Claude.ai export: a conversation, or one of its other files."""
    return isinstance(value.get("chat_messages"), list) or _other_file(value) is not None


def _other_file(value: Mapping[str, Any]) -> str | None:
    if "conversations_memory" in value:
        return "meta"
    is_project = "prompt_template" in value and "docs" in value
    if is_project or (isinstance(value.get("project"), dict) and "messages" in value):
        return "unsupported"
    return "manifest" if is_manifest(value) else None


def is_manifest(value: Mapping[str, Any]) -> bool:
    """Whether this is the list of files that the mailed link gives, which holds no conversations itself."""
    files = list_of(value, "data_files")
    return bool(files) and isinstance(files[0], dict) and "category" in files[0]


def refuse_manifest(value: Mapping[str, Any]) -> NoReturn:
    """Refuse a manifest that is the only file, saying what to fetch; never its links, for they are secrets.

    Raises:
        HistoryImportError: Always.
    """
    names = [name for file in list_of(value, "data_files") if isinstance(file, dict) and (name := _zip_name(file))]
    raise HistoryImportError(
        "this is the manifest of a Claude.ai export and holds no conversations: download the files it lists "
        f"({', '.join(names[:5]) or 'conversations-000.zip and so on'}) into one folder and import that folder"
    )


def _zip_name(file: Mapping[str, Any]) -> str | None:
    name = file.get("filename")
    wanted = file.get("category") == "conversations"
    return name if wanted and isinstance(name, str) and re.fullmatch(r"[\w.() -]{1,80}", name) else None


def read(record: Record, *, tools: bool) -> Outcomes:
    """Yield the outcome of every message of a conversation."""
    value = record.value
    if not isinstance(value, dict):
        yield Left(MALFORMED, record.where)
        return
    if not isinstance(value.get("chat_messages"), list):
        other = _other_file(value)
        yield Left("meta" if other == "manifest" else other or MALFORMED, record.where)
        return
    messages = [message for message in value["chat_messages"] if isinstance(message, dict)]
    for _ in range(len(value["chat_messages"]) - len(messages)):
        yield Left(MALFORMED, record.where)
    first = id_of(messages[0], "uuid") if messages else None
    session = Session(FORMAT, id_of(value, "uuid") or digest(FORMAT, first), text_of(value, "name"))
    branch = _branch(messages, value.get("current_leaf_message_uuid"))
    when = read_moment(value.get("created_at"))
    for position, message in enumerate(messages):
        if position not in branch:
            yield Left("other_branch")
            continue
        when = read_moment(message.get("created_at")) or when
        yield from _outcomes(message, session, when, tools, record.where)


def _branch(messages: list[dict[str, Any]], leaf: Any) -> set[int]:
    """Positions of the messages on the current branch: from the leaf (the last one, as a rule) up by parent.

    Old exports name no parents, and one that is named may be missing: then the array holds what was said, in order.
    """
    positions = {key: position for position, message in enumerate(messages) if (key := id_of(message, "uuid"))}
    parents = [id_of(message, "parent_message_uuid") for message in messages]
    known = [parent in positions for parent in parents]
    if not any(known) or any(not found and not _is_root(parent) for parent, found in zip(parents, known, strict=True)):
        return set(range(len(messages)))
    here = positions.get(leaf, len(messages) - 1) if isinstance(leaf, str) else len(messages) - 1
    path: set[int] = set()
    while here not in path:
        path.add(here)
        if (parent := parents[here]) in positions:
            here = positions[parent]
    return path


def _is_root(parent: str | None) -> bool:
    return parent is None or set(parent) <= set("0-48")


def _outcomes(message: Mapping[str, Any], session: Session, when: datetime | None, tools: bool, where: str) -> Outcomes:
    role = _ROLES.get(word_of(message, "sender"))
    if role is None:
        yield Left(MALFORMED, where)
        return
    texts, left, calls = _said(message)
    source_id = id_of(message, "uuid")
    if tools and calls:
        left = [reason for reason in left if reason != "tool_output"]
        yield Turn(session, "tool", joined(calls), source_id and f"{source_id}#tool", when)
    text = joined(texts)
    if text:
        yield Turn(session, role, text, source_id, when, parts=tuple(left))
    elif not (tools and calls):
        yield Left(left[0] if left else "empty")


def _said(message: Mapping[str, Any]) -> tuple[list[str], list[str], list[str]]:
    """What a message says, the reasons for which parts were left out, and what its tools were told and answered."""
    texts: list[str] = []
    left: list[str] = []
    calls: list[str] = []
    blocks = list_of(message, "content")
    for block in blocks:
        kind = word_of(block, "type") if isinstance(block, dict) else ""
        text = block if isinstance(block, str) else text_of(block, "text", "transcript") if kind in _SPOKEN else None
        if text is not None:
            texts.append(text)
        elif kind != "text":
            left.append(_BLOCKS.get(kind, "unsupported"))
            calls.extend([_call(block)] if left[-1] == "tool_output" else [])
    if not blocks and isinstance(message.get("text"), str):
        # The flat text of newer exports leaks thinking; it is all there is in old ones.
        texts.append(message["text"])
    texts = [_without_tags(text) for text in texts]
    for attachment in list_of(message, "attachments"):
        paste = text_of(attachment, "extracted_content") if isinstance(attachment, dict) else None
        if paste is not None and not text_of(attachment, "file_name"):
            texts.append(paste)
        else:
            left.append("attachment")
    left.extend("attachment" for _ in list_of(message, "files") or list_of(message, "files_v2"))
    return texts, left, calls


def _without_tags(text: str) -> str:
    """Old replies hold thinking and artifacts inline."""
    if "<ant" in text:
        text = _ARTIFACT.sub("", _THOUGHT.sub("", text))
    return text.replace(_PLACEHOLDER, "")


def _call(block: Mapping[str, Any]) -> str:
    if block.get("type") == "tool_use":
        return f"{text_of(block, 'name') or 'tool'} {dumps(object_of(block, 'input'))}"
    content = block.get("content")
    if isinstance(content, str):
        return content
    return joined(
        part["text"] for part in list_of(block, "content") if isinstance(part, dict) and text_of(part, "text")
    )
