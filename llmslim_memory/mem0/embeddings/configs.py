"""The settings of an embedder: kept, and without effect on what is found."""

from __future__ import annotations

from llmslim_memory.mem0.configs.base import EmbedderConfig

__all__ = ["EmbedderConfig"]
