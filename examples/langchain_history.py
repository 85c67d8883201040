"""A chain with a chat history: each session is kept whole, and every session of a user can be searched.

LangChain deprecates `RunnableWithMessageHistory`, which most code still uses; the loop at the end does without it.

In a clone, `pip install . "integrations/langchain[agents]"` brings what it needs.
"""

from __future__ import annotations

import warnings

from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import HumanMessage
from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder
from langchain_core.runnables.history import RunnableWithMessageHistory
from langchain_llmslim import LLMSlimChatMessageHistory

from llmslim_memory import ContextEnvelope, Memory

memory = Memory()  # Memory("memory.db") keeps it in a file


def history(session_id: str) -> LLMSlimChatMessageHistory:
    return LLMSlimChatMessageHistory(memory, session_id=session_id, user_id="ann")


model = FakeListChatModel(responses=["Hello Ann.", "Red, you said.", "With pleasure."])
prompt = ChatPromptTemplate([("system", "Be kind."), MessagesPlaceholder("history"), ("user", "{question}")])

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    chain = RunnableWithMessageHistory(
        prompt | model, history, input_messages_key="question", history_messages_key="history"
    )

config = {"configurable": {"session_id": "monday"}}
chain.invoke({"question": "I am Ann, and my bike is red."}, config)
chain.invoke({"question": "What colour is my bike?"}, config)
for message in history("monday").messages:
    print(f"{message.type}: {message.text}")

# The same by hand, in another session, with what an earlier one knows.
tuesday = history("tuesday")
tuesday.add_user_message("Paint my bike, please.")
found = tuesday.recall("What colour is the bike?", token_budget=200)
print("recalled:", [document.page_content for document in found])
quoted = ContextEnvelope("\n".join(document.page_content for document in found)).to_text()
tuesday.add_message(model.invoke([HumanMessage(quoted), *tuesday.messages]))
print("sessions:", [len(history(session).messages) for session in ("monday", "tuesday")])


def with_a_real_model() -> None:
    """The same with a provider: `pip install langchain langchain-openai`, and OPENAI_API_KEY set. Not run here."""
    from langchain.chat_models import init_chat_model

    real = RunnableWithMessageHistory(
        prompt | init_chat_model("openai:gpt-5.5"),
        history,
        input_messages_key="question",
        history_messages_key="history",
    )
    print(real.invoke({"question": "What colour is my bike?"}, config))
