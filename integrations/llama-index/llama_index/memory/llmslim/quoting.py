"""Recalled text that LlamaIndex's templates cannot take for messages, media or markup of their own."""

from __future__ import annotations

import re

# A line that is a JSON object is taken for a whole chat message by releases of `banks` before 2.5, which LlamaIndex
# renders its memory template with, and `<content_block>` for media.
_JSON_LINE = re.compile(r"^([ \t\r]*)(?=\{.*\}[ \t\r]*$)", flags=re.MULTILINE)


def neutral(text: str, *tags: str) -> str:
    """``text`` with a backslash wherever a line is a JSON object, or a tag of a memory template begins."""
    names = "|".join(map(re.escape, ("content_block", "memory", *tags)))
    marked = re.sub(rf"<(?=\s*/?\s*(?:{names})\b)", r"<\\", text, flags=re.IGNORECASE)
    return _JSON_LINE.sub(r"\1\\", marked)
