"""Chat messages of every kind, for hypothesis."""

from __future__ import annotations

import base64
from typing import Any

from hypothesis import strategies as st
from llama_index.core.base.llms import types
from llama_index.core.base.llms.types import ChatMessage, ImageBlock, MessageRole, TextBlock

texts = st.text(max_size=40)
names = st.text("abcdefghij_", min_size=1, max_size=10)
data = st.binary(min_size=1, max_size=30)
numbers = st.integers() | st.floats(allow_nan=False)
leaves = st.none() | st.booleans() | numbers | texts | data
keys = texts | st.sampled_from(["$utf8", "$base64", "$dict", "$float", "$path", "span", "block_type"])
values = st.recursive(leaves, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3))
kwargs = st.dictionaries(keys.filter(lambda key: key not in ("images", "tool_calls")), values, max_size=3)
urls = st.sampled_from(["https://example.org/a.png", "https://example.org/b?c=d#e"])


def _media(kind: str, field: str) -> st.SearchStrategy[Any]:
    block = getattr(types, kind)
    return st.builds(block, **{field: data.map(base64.b64encode)}) | st.builds(block, url=urls)


text_blocks = st.builds(TextBlock, text=texts)
image_blocks = _media("ImageBlock", "image") | st.builds(
    ImageBlock, image=data.map(base64.b64encode), image_mimetype=st.just("image/png"), detail=st.just("low")
)
document_blocks = _media("DocumentBlock", "data") | st.builds(types.DocumentBlock, data=data, title=texts)

BLOCKS: dict[str, st.SearchStrategy[Any]] = {
    "text": text_blocks,
    "image": image_blocks,
    "audio": _media("AudioBlock", "audio"),
    "document": document_blocks,
    "cache": st.builds(types.CachePoint, cache_control=st.builds(types.CacheControl, type=names)),
    "citable": st.builds(
        types.CitableBlock,
        title=texts,
        source=texts,
        content=st.lists(text_blocks | image_blocks | document_blocks, max_size=3),
    ),
    "citation": st.builds(
        types.CitationBlock,
        title=texts,
        source=texts,
        cited_content=text_blocks | image_blocks,
        additional_location_info=st.dictionaries(names, st.integers(), max_size=2),
    ),
}
# Kinds that releases after 0.14.0 brought.
if hasattr(types, "VideoBlock"):
    BLOCKS["video"] = _media("VideoBlock", "video")
if hasattr(types, "ThinkingBlock"):
    BLOCKS["thinking"] = st.builds(
        types.ThinkingBlock,
        content=st.none() | texts,
        num_tokens=st.none() | st.integers(0, 9),
        additional_information=kwargs,
    )
if hasattr(types, "ToolCallBlock"):
    BLOCKS["tool_call"] = st.builds(
        types.ToolCallBlock, tool_call_id=st.none() | names, tool_name=names, tool_kwargs=kwargs | texts
    )

roles = st.sampled_from(MessageRole)
messages = st.builds(
    ChatMessage, role=roles, blocks=st.lists(st.one_of(*BLOCKS.values()), max_size=4), additional_kwargs=kwargs
)
