"""A LlamaIndex agent that remembers in one process what was said in another.

The model is a stand-in that needs no key: it says what a real one would read in its prompt.

In a clone, `pip install . integrations/llama-index` brings what it needs.
"""

import asyncio
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from typing import Any

from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.llms.mock import MockFunctionCallingLLM
from llama_index.memory.llmslim import LLMSlimMemory


def answer(messages: Sequence[ChatMessage], **_: Any) -> ChatMessage:
    remembered = any("Bruno" in str(message.content) for message in messages[:-1])
    return ChatMessage(role="assistant", content="Your dog is called Bruno." if remembered else "Nice to meet you.")


async def session(path: str, question: str) -> None:
    memory = LLMSlimMemory.from_defaults(memory=path, user_id="ann")
    agent = FunctionAgent(llm=MockFunctionCallingLLM(response_generator=answer))
    print("user:     ", question)
    print("assistant:", await agent.run(user_msg=question, memory=memory))


def main() -> None:
    if len(sys.argv) == 3:
        asyncio.run(session(*sys.argv[1:]))
        return
    with tempfile.TemporaryDirectory() as folder:
        for question in ("Hello! My dog is called Bruno.", "What is my dog called?"):
            subprocess.run([sys.executable, __file__, f"{folder}/memory.db", question], check=True)


main()
