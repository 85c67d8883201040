"""Long-term memory for LlamaIndex: memory block, write-through memory, chat store, retriever, tool."""

from llama_index.memory.llmslim.chat_store import LLMSlimChatStore
from llama_index.memory.llmslim.messages import chat_messages_to_turns, turns_to_chat_messages

__all__ = ["LLMSlimChatStore", "chat_messages_to_turns", "turns_to_chat_messages"]
