"""Everything at work while no socket can be opened: `offline.py DATABASE`."""

import asyncio
import socket
import sys
from typing import Any


class NoSocket(socket.socket):
    def connect(self, *arguments: Any) -> None:
        raise OSError("this test has no network")

    connect_ex = connect  # type: ignore[assignment]


def no_name(*arguments: Any, **named: Any) -> Any:
    raise OSError("this test has no network")


socket.socket = NoSocket  # type: ignore[misc]
socket.getaddrinfo = no_name

from llama_index.core.base.llms.types import ChatMessage  # noqa: E402
from llama_index.memory.llmslim import LLMSlimMemory, LLMSlimRetriever, recall_tool  # noqa: E402


async def main(path: str) -> None:
    first = LLMSlimMemory.from_defaults(memory=path, user_id="ann")
    await first.aput(ChatMessage(role="user", content="My dog is called Bruno."))
    second = LLMSlimMemory.from_defaults(memory=path, user_id="ann")
    shown = await second.aget(input="What is my dog called?")
    found = await LLMSlimRetriever(path, user_id="ann").aretrieve("What is my dog called?")
    answer = await recall_tool(path, user_id="ann").acall(query="dog called")
    assert all("Bruno" in str(text) for text in (shown[0].content, found[0].get_content(), answer.content))
    print("remembered")


asyncio.run(main(sys.argv[1]))
