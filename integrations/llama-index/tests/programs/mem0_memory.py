"""LlamaIndex's own `Mem0Memory` over our client: ``mem0_memory.py WAY FOLDER tell|ask``."""

import json
import sys
from pathlib import Path

from llmslim_memory.mem0 import install

install()

import mem0  # noqa: E402
from llama_index.core.chat_engine import SimpleChatEngine  # noqa: E402
from llama_index.core.llms import ChatMessage  # noqa: E402
from llama_index.memory.mem0 import Mem0Memory  # noqa: E402

sys.path.insert(0, str(Path(__file__).parent.parent))
from llms import ScriptedLLM  # noqa: E402

CONTEXT = {"user_id": "ann", "run_id": "s1"}


def open_memory(way: str, folder: str) -> Mem0Memory:
    if way == "config":
        config = {
            "vector_store": {"provider": "qdrant", "config": {"path": folder, "embedding_model_dims": 1536}},
            "llm": {"provider": "openai", "config": {"model": "gpt-4.1-mini"}},
            "version": "v1.1",
        }
        return Mem0Memory.from_config(context=CONTEXT, config=config, search_msg_limit=4)
    return Mem0Memory.from_client(context=CONTEXT, api_key="not-needed", search_msg_limit=4)


def tell(memory: Mem0Memory) -> list[str]:
    llm = ScriptedLLM("A fine name.")
    engine = SimpleChatEngine.from_defaults(llm=llm, memory=memory)
    engine.chat("My dog is called Bruno.")
    memory.set([*memory.get_all(), ChatMessage(role="user", content="He likes the beach.")])
    return [message.content or "" for message in memory.get_all()]


def ask(memory: Mem0Memory) -> list[str]:
    llm = ScriptedLLM("Bruno.")
    engine = SimpleChatEngine.from_defaults(llm=llm, memory=memory)
    engine.chat("What is my dog called?")
    return [f"{message.role.value}: {message.content}" for message in llm.seen[0]]


way, folder, task = sys.argv[1:]
memory = open_memory(way, folder)
assert type(memory._client) is (mem0.Memory if way == "config" else mem0.MemoryClient)
print(json.dumps({"tell": tell, "ask": ask}[task](memory)))
memory._client.close()
