"""A client of the Model Context Protocol: starts the server, keeps something, and finds it in a second process.

In a clone, `pip install ".[mcp]"` brings what it needs.
"""

import asyncio
import sys
import tempfile
from pathlib import Path

from mcp import Client, StdioServerParameters


def server(folder: str) -> StdioServerParameters:
    """As in the configuration of an assistant: ``llmslim-memory mcp --db ... --user ann``."""
    arguments = ["-m", "llmslim_memory", "mcp", "--db", str(Path(folder) / "memory.db"), "--user", "ann"]
    return StdioServerParameters(command=sys.executable, args=arguments)


async def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        async with Client(server(folder)) as client:
            print("tools:", ", ".join(tool.name for tool in (await client.list_tools()).tools))
            kept = await client.call_tool("remember", {"content": "I park the van behind the mill."})
            print(kept.content[0].text)
        async with Client(server(folder)) as client:
            found = await client.call_tool("recall", {"query": "Where is the van?", "budget": 300})
            print(found.content[0].text)


asyncio.run(main())
