"""Long-term memory for LlamaIndex: memory block, write-through memory, chat store, retriever, tool."""
