"""The text of a message that is worth searching: what was said, without base64 data, JSON and reasoning."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage

MAX_TEXT_CHARS = 1 << 20
_CUT = "\n[cut here: the message is longer]"
_MEDIA = {"image_url": "image", "input_image": "image", "input_audio": "audio", "input_file": "file"}
_SILENT = frozenset({"reasoning", "thinking", "redacted_thinking", "tool_use", "non_standard", "cachePoint"})


def message_text(message: BaseMessage) -> str:
    """The text of ``message``, with a placeholder where there is none: ``[image]``, ``[tool call: search]``.

    Blocks of text are joined by a line break. Text of more than 1,048,576 characters is cut, and says so.
    """
    return _shorten(_storable(_said(message)))


def _said(message: BaseMessage) -> str:
    content = message.content
    text = content if isinstance(content, str) else "\n".join(filter(None, map(_block_text, content)))
    return text or "\n".join(_calls(message))


def _block_text(block: Any) -> str:
    if isinstance(block, str):
        return block
    if not isinstance(block, Mapping):
        return ""
    kind = str(block.get("type") or "")
    if kind in _SILENT or "tool" in kind:
        return ""
    text = block.get("text", block.get("refusal"))
    return text if isinstance(text, str) else f"[{_MEDIA.get(kind, kind)}]" if kind else ""


def _calls(message: BaseMessage) -> list[str]:
    if not isinstance(message, AIMessage):
        return []
    return [f"[tool call: {call.get('name')}]" for call in (*message.tool_calls, *message.invalid_tool_calls)]


def _storable(text: str) -> str:
    # What no database holds becomes U+FFFD here as in the core, so that the stored text can be compared with this.
    joined = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace") if not text.isascii() else text
    return joined.replace("\x00", "\N{REPLACEMENT CHARACTER}")


def _shorten(text: str) -> str:
    return text if len(text) <= MAX_TEXT_CHARS else text[: MAX_TEXT_CHARS - len(_CUT)] + _CUT
