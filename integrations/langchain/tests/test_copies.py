"""Copies share the memory; a pickle cannot take it along, and says so."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.runnables import Runnable
from langchain_llmslim import LLMSlimChatMessageHistory, LLMSlimRetriever, create_recall_tool, memory_context

from llmslim_memory import Memory


@pytest.fixture
def filled(memory: Memory) -> Memory:
    memory.add({"role": "user", "content": "My bike is red."}, user_id="ann", run_id="t0")
    return memory


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy])
@pytest.mark.parametrize(
    "make",
    [
        lambda memory: LLMSlimRetriever(memory=memory, user_id="ann"),
        lambda memory: create_recall_tool(memory, user_id="ann"),
        lambda memory: memory_context(memory, user_id="ann"),
    ],
    ids=["retriever", "tool", "runnable"],
)
def test_a_copy_finds_what_is_stored_after_it_was_made(memory: Memory, make: Any, copied: Any) -> None:
    again: Runnable[Any, Any] = copied(make(memory))
    memory.add({"role": "user", "content": "My bike is red."}, user_id="ann", run_id="t0")
    found = again.invoke({"query": "bike"} if "query" in getattr(again, "args", {}) else "bike")
    texts = [one.page_content if isinstance(one, Document) else one for one in found] if found else []
    assert "My bike is red." in "".join(texts)


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy])
def test_a_copied_history_is_the_same_session(memory: Memory, copied: Any) -> None:
    history = LLMSlimChatMessageHistory(memory, session_id="s1")
    copied(history).add_user_message("Hello")
    assert [message.content for message in history.messages] == ["Hello"]


def test_what_holds_an_open_memory_cannot_be_pickled_and_says_why(filled: Memory) -> None:
    for held in (LLMSlimRetriever(memory=filled, user_id="ann"), LLMSlimChatMessageHistory(filled, session_id="s1")):
        with pytest.raises(TypeError, match="open on its store and cannot be pickled"):
            pickle.dumps(held)
