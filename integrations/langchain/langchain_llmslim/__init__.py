"""Long-term memory for LangChain: agent middleware, retriever, chat history, recall tool."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from langchain_llmslim.converters import messages_to_turns, turns_to_messages
from langchain_llmslim.history import LLMSlimChatMessageHistory
from langchain_llmslim.retriever import LLMSlimRetriever
from langchain_llmslim.runnable import memory_context
from langchain_llmslim.tool import create_recall_tool

if TYPE_CHECKING:
    from langchain_llmslim.middleware import LLMSlimMemoryMiddleware as LLMSlimMemoryMiddleware

# The middleware is left out: it needs the package langchain, which `import *` must not ask for.
__all__ = [
    "LLMSlimChatMessageHistory",
    "LLMSlimRetriever",
    "create_recall_tool",
    "memory_context",
    "messages_to_turns",
    "turns_to_messages",
]


def __getattr__(name: str) -> Any:
    if name == "LLMSlimMemoryMiddleware":
        from langchain_llmslim.middleware import LLMSlimMemoryMiddleware

        return LLMSlimMemoryMiddleware
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "LLMSlimMemoryMiddleware"]
