"""Long-term memory for LlamaIndex: memory block, write-through memory, chat store, retriever, tool."""

from llama_index.memory.llmslim.block import LLMSlimMemoryBlock
from llama_index.memory.llmslim.chat_store import LLMSlimChatStore
from llama_index.memory.llmslim.memory import LLMSlimMemory
from llama_index.memory.llmslim.messages import chat_messages_to_turns, turns_to_chat_messages
from llama_index.memory.llmslim.retriever import LLMSlimRetriever, RecalledNode
from llama_index.memory.llmslim.tool import LLMSlimToolSpec, recall_tool

__all__ = [
    "LLMSlimChatStore",
    "LLMSlimMemory",
    "LLMSlimMemoryBlock",
    "LLMSlimRetriever",
    "LLMSlimToolSpec",
    "RecalledNode",
    "chat_messages_to_turns",
    "recall_tool",
    "turns_to_chat_messages",
]
