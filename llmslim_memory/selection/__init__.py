"""Which ranked passages are shown within a token budget, and how."""

from llmslim_memory.selection.choose import select
from llmslim_memory.selection.options import SelectionOptions
from llmslim_memory.selection.statements import find_statements

__all__ = ["SelectionOptions", "find_statements", "select"]
