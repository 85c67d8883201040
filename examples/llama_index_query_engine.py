"""Ask a LlamaIndex query engine about everything a user ever said.

In a clone, `pip install . integrations/llama-index` brings what it needs.
"""

from llama_index.core.llms import MockLLM
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.response_synthesizers import get_response_synthesizer
from llama_index.memory.llmslim import LLMSlimRetriever

from llmslim_memory import Memory

memory = Memory()
memory.add(
    [
        {"role": "user", "content": "We deploy on Fridays after the tests have passed."},
        {"role": "assistant", "content": "Noted: deployments on Fridays."},
        {"role": "user", "content": "Our mascot is a hedgehog."},
    ],
    user_id="ann",
    run_id="planning",
)

retriever = LLMSlimRetriever(memory, user_id="ann", similarity_top_k=2)
for found in retriever.retrieve("When do we deploy?"):
    print(f"{found.score:.2f}  {found.node.metadata['role']}: {found.get_content()}")

# The stand-in model says its prompt again: the passages come as untrusted data, each in an envelope.
engine = RetrieverQueryEngine(retriever, get_response_synthesizer(llm=MockLLM()))
print(engine.query("When do we deploy?"))
