"""What of a content block may be recalled later, as text."""

from __future__ import annotations

import json
from typing import Any

from llama_index.core.base.llms.types import ChatMessage, TextBlock
from llama_index.memory.llmslim.jsonable import encode

from llmslim_memory import ContextEnvelope

_NOTICE = ContextEnvelope("text").to_text().partition("\n")[0]


def is_recalled(text: str) -> bool:
    """Whether ``text`` holds recalled history, which must not be remembered as if it had been said."""
    return _NOTICE in text


def without_recalled(message: ChatMessage) -> ChatMessage | None:
    """``message`` without the recalled history that was put into it; ``None`` if it held nothing else.

    A tool's answer stays as it is, since the model that asked for it must find it.
    """
    kept = [block for block in message.blocks if not (isinstance(block, TextBlock) and is_recalled(block.text))]
    if message.role.value in ("tool", "function") or len(kept) == len(message.blocks):
        return message
    return message.model_copy(update={"blocks": kept}) if kept else None


def block_text(block: Any) -> str:
    """The text of a content block that may be recalled; empty for reasoning, cache points and recalled history."""
    if isinstance(block, TextBlock):
        return "" if is_recalled(block.text) else block.text
    kind = block.block_type
    if kind == "tool_call":
        return _call(block.tool_name, block.tool_kwargs)
    if kind == "citable":
        return "\n".join([f"[document: {block.title}]", *map(block_text, block.content)])
    if kind in ("thinking", "cache", "citation"):
        return ""
    titled = kind == "document" and block.title != "input_document"
    return f"[{kind}: {block.title}]" if titled else f"[{kind}]"


def legacy_calls(message: ChatMessage) -> list[str]:
    """The tool calls of a message that keeps them in ``additional_kwargs``, as text."""
    calls = message.additional_kwargs.get("tool_calls")
    if not isinstance(calls, list) or any(block.block_type == "tool_call" for block in message.blocks):
        return []
    return [_call(*_name_and_arguments(call)) for call in calls]


def _name_and_arguments(call: Any) -> tuple[str, Any]:
    function = _field(call, "function") or call
    arguments = _field(function, "arguments") or _field(function, "input") or _field(function, "tool_kwargs") or ""
    return str(_field(function, "name") or _field(function, "tool_name") or "a tool"), arguments


def _field(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, dict) else getattr(value, name, None)


def _call(name: str, arguments: Any) -> str:
    shown = arguments if isinstance(arguments, str) else json.dumps(encode(arguments), ensure_ascii=False)
    return f"[calls {name}: {shown}]" if shown else f"[calls {name}]"
