"""The command line ``llmslim-memory``: one module for each group of commands."""

from llmslim_memory.cli.app import main

__all__ = ["main"]
