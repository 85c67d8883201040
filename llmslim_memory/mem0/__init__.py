"""Mem0's API over turns kept word for word: import from ``llmslim_memory.mem0`` instead of ``mem0``."""

from __future__ import annotations

from llmslim_memory.mem0.client.main import AsyncMemoryClient, MemoryClient
from llmslim_memory.mem0.installing import install
from llmslim_memory.mem0.memory.main import AsyncMemory, Memory

__all__ = ["AsyncMemory", "AsyncMemoryClient", "Memory", "MemoryClient", "install"]

__version__ = "2.2.1"
"""The release of Mem0 whose API this is, for programs that ask."""
