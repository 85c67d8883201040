"""What of a content block may be recalled later, as text."""

from __future__ import annotations

import json
from typing import Any

from llama_index.core.base.llms.types import ChatMessage, TextBlock
from llama_index.memory.llmslim.jsonable import encode

from llmslim_memory import ContextEnvelope

# How every envelope begins and how its last line begins, whatever is in it.
_BEGIN, _, _REST = ContextEnvelope("text").to_text().partition(' id="')
_END = _REST.splitlines()[-1].partition(' id="')[0]
_PUT_INTO = frozenset({"system", "developer", "user"})


def is_recalled(text: str) -> bool:
    """Whether ``text`` holds recalled history, which must not be remembered as if it had been said."""
    return _BEGIN in text and _END in text


def without_recalled(message: ChatMessage) -> ChatMessage | None:
    """``message`` without the blocks of recalled history that a memory put into it; ``None`` if that was all of it.

    What a tool or the model answered stays as it is, and so does a message that only quotes recalled history.
    """
    kept = [block for block in message.blocks if not (isinstance(block, TextBlock) and _is_put_in(block.text))]
    if message.role.value not in _PUT_INTO or len(kept) == len(message.blocks):
        return message
    return message.model_copy(update={"blocks": kept}) if kept else None


def _is_put_in(text: str) -> bool:
    """Whether ``text`` is an envelope, or the memory block that holds one, and nothing beside it."""
    inside = text.strip()
    bare = inside.startswith(_BEGIN) and inside.rpartition("\n")[2].startswith(_END)
    return is_recalled(text) and (bare or (inside.startswith("<memory>") and inside.endswith("</memory>")))


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
