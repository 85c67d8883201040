"""The memory over HTTP and the Model Context Protocol, and a page to inspect it; extras ``server`` and ``mcp``."""
