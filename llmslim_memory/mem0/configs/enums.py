"""Mem0's kinds of memory. Those that are added here are turns, and have none."""

from __future__ import annotations

from enum import Enum


class MemoryType(Enum):
    """What ``memory_type`` may name; only a model could write a procedural memory."""

    SEMANTIC = "semantic_memory"
    EPISODIC = "episodic_memory"
    PROCEDURAL = "procedural_memory"
