"""Mem0's `Memory` and `AsyncMemory`, where programs import them from."""
