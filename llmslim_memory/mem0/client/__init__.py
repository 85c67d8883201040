"""Mem0's `MemoryClient` and `AsyncMemoryClient`, where programs import them from."""
