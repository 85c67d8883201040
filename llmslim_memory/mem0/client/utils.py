"""The older error of Mem0's client."""

from __future__ import annotations

from llmslim_memory.mem0.exceptions import MemoryError as Mem0Error


class APIError(Mem0Error):
    """Never raised here: there is no service."""
