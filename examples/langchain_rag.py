"""A RAG chain over what was said: the retriever's documents, wrapped as untrusted data, in a prompt with sources.

In a clone, `pip install . "integrations/langchain[agents]"` brings what it needs.
"""

from __future__ import annotations

from langchain_core.documents import Document
from langchain_core.language_models import FakeListChatModel
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnablePassthrough
from langchain_llmslim import LLMSlimRetriever

from llmslim_memory import ContextEnvelope, Memory

memory = Memory()
memory.add(
    [
        {"role": "user", "content": "The deploy key of the shop is kept in the blue safe."},
        {"role": "assistant", "content": "Noted: the deploy key is in the blue safe."},
        {"role": "user", "content": "Lunch is at noon."},
    ],
    user_id="ann",
    run_id="monday",
    timestamp="2026-11-02T09:00:00Z",
)

retriever = LLMSlimRetriever(memory=memory, user_id="ann", k=2, token_budget=400)


def quote(documents: list[Document]) -> str:
    lines = (f"[{d.metadata['created_at'][:10]}] {d.metadata['role']}: {d.page_content}" for d in documents)
    return ContextEnvelope("\n".join(lines)).to_text()


prompt = ChatPromptTemplate([("system", "Answer from this history.\n{history}"), ("user", "{question}")])
model = FakeListChatModel(responses=["In the blue safe."])
chain = {"history": retriever | quote, "question": RunnablePassthrough()} | prompt | model | StrOutputParser()

question = "Where is the deploy key?"
for document in retriever.invoke(question):
    print(f"{document.metadata['score']:.2f} {document.page_content}  ({document.metadata['why']})")
print(chain.invoke(question))


def with_a_real_model() -> None:
    """The same with a provider: `pip install langchain-openai`, and OPENAI_API_KEY set. Not run here."""
    from langchain.chat_models import init_chat_model

    real = init_chat_model("openai:gpt-5.5")
    chain = {"history": retriever | quote, "question": RunnablePassthrough()} | prompt | real | StrOutputParser()
    print(chain.invoke(question))
