"""Mem0's API over turns kept word for word: import from ``llmslim_memory.mem0`` instead of ``mem0``."""

from __future__ import annotations

import importlib
import sys

from llmslim_memory.mem0.client.main import AsyncMemoryClient, MemoryClient
from llmslim_memory.mem0.memory.main import AsyncMemory, Memory

__all__ = ["AsyncMemory", "AsyncMemoryClient", "Memory", "MemoryClient", "install"]

_SERVED = (
    "",
    ".client",
    ".client.main",
    ".client.types",
    ".client.utils",
    ".configs",
    ".configs.base",
    ".exceptions",
    ".memory",
    ".memory.main",
)


def install() -> None:
    """Let ``import mem0`` of other people's code find this package, in this process.

    Call it before anything imports Mem0 itself.

    Raises:
        RuntimeError: Mem0 is loaded already.
    """
    loaded = sys.modules.get("mem0")
    if loaded is not None and loaded is not sys.modules[__name__]:
        raise RuntimeError("mem0 is loaded already: call llmslim_memory.mem0.install() before it is imported")
    for name in _SERVED:
        sys.modules[f"mem0{name}"] = importlib.import_module(f"{__name__}{name}")
