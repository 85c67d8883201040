"""A LlamaIndex chat engine whose second session knows what the first one said.

In a clone, `pip install . integrations/llama-index` brings what it needs.
"""

from llama_index.core.chat_engine import SimpleChatEngine
from llama_index.core.llms import MockLLM
from llama_index.memory.llmslim import LLMSlimMemory

from llmslim_memory import Memory

memory = Memory()  # or Memory("memory.db"), or the URL of a PostgreSQL or MongoDB server
llm = MockLLM()  # says its prompt again, so that you see what a model gets

first = LLMSlimMemory.from_defaults(memory=memory, user_id="ann", session_id="monday")
SimpleChatEngine.from_defaults(llm=llm, memory=first).chat("I am allergic to peanuts.")

second = LLMSlimMemory.from_defaults(memory=memory, user_id="ann", session_id="friday", token_budget=500)
print(SimpleChatEngine.from_defaults(llm=llm, memory=second).chat("Which snack may I eat?"))
