"""The settings of a model: kept, and without effect on what is found."""

from __future__ import annotations

from llmslim_memory.mem0.configs.base import LlmConfig

__all__ = ["LlmConfig"]
