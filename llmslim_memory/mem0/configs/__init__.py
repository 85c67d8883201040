"""Mem0's configuration classes, by the names that people import."""
