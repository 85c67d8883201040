"""Readers of chat exports: each yields sessions and turns, and stores nothing."""
