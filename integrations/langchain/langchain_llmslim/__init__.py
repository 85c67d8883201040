"""Long-term memory for LangChain: agent middleware, retriever, chat history, recall tool."""
