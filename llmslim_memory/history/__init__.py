"""Chat history brought into a memory from other tools, and taken out of it: importers and Memory joined."""

from llmslim_memory.history.exporting import export_history
from llmslim_memory.history.importing import import_history

__all__ = ["export_history", "import_history"]
