"""A short session by each way to remember, in a process of its own: `first.py FOLDER`."""

import asyncio
import sys
from pathlib import Path

from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.memory import Memory
from llama_index.memory.llmslim import LLMSlimChatStore, LLMSlimMemory, LLMSlimMemoryBlock

QUESTION = ChatMessage(role="user", content="My dog is called Bruno.")
ANSWER = ChatMessage(role="assistant", content="A fine name.")


async def main(folder: Path) -> None:
    written = LLMSlimMemory.from_defaults(memory=folder / "write-through.db", user_id="ann")
    with_block = Memory.from_defaults(memory_blocks=[LLMSlimMemoryBlock(folder / "block.db", user_id="ann")])
    for memory in (written, with_block):
        await memory.aput(QUESTION)
        await memory.aget()
        await memory.aput(ANSWER)
    await LLMSlimChatStore(folder / "chat-store.db", user_id="ann").add_messages("s1", [QUESTION, ANSWER])


asyncio.run(main(Path(sys.argv[1])))
