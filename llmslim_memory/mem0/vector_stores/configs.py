"""The settings of a vector store: kept, and without effect on what is found."""

from __future__ import annotations

from llmslim_memory.mem0.configs.base import VectorStoreConfig

__all__ = ["VectorStoreConfig"]
