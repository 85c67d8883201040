"""The retriever gives remembered passages as documents."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import HumanMessage
from langchain_core.runnables import ConfigurableField
from langchain_llmslim import LLMSlimRetriever, messages_to_turns
from pydantic import ValidationError

from llmslim_memory import AsyncMemory, Memory

THINGS = ("bike", "car", "door", "hat", "kite")


@pytest.fixture
def filled(memory: Memory) -> Memory:
    memory.add([{"role": "user", "content": f"My {t} is red."} for t in THINGS], user_id="ann", run_id="s1")
    memory.add({"role": "assistant", "content": "Noted, the kite is red."}, user_id="ann", run_id="s2")
    memory.add({"role": "user", "content": "My kite is blue."}, user_id="bob", run_id="s3")
    return memory


def test_a_document_is_a_turn_word_for_word_with_its_origin(memory: Memory) -> None:
    turns = messages_to_turns([HumanMessage("My kite is  red!\n", id="h1")])
    (item,) = memory.add(turns, user_id="ann", run_id="s1", timestamp="2026-03-01T10:00:00Z")
    (doc,) = LLMSlimRetriever(memory=memory, user_id="ann").invoke("kite")
    assert (doc.id, doc.page_content) == (item.id, "My kite is  red!\n")
    why, score = doc.metadata.pop("why"), doc.metadata.pop("score")
    assert doc.metadata == {
        "role": "user",
        "session_id": "s1",
        "created_at": "2026-03-01T10:00:00+00:00",
        "seq": item.seq,
        "kind": "turn",
        "message_id": "h1",
        "untrusted": True,
    }
    assert 0 < score <= 1
    assert why.startswith("rank 1: the whole turn")


def test_a_document_of_a_long_turn_is_a_passage_of_it(memory: Memory) -> None:
    story = " ".join(f"On day {n} we walked past village number {n} and rested." for n in range(400))
    text = f"{story} The kite that Zoltan built got torn. {story}"
    memory.add({"role": "assistant", "content": text}, user_id="ann")
    doc = LLMSlimRetriever(memory=memory, user_id="ann", k=1).invoke("Which kite did Zoltan build?")[0]
    assert "Zoltan" in doc.page_content
    assert doc.page_content in text
    assert doc.metadata["kind"] == "window"


def test_documents_come_best_first(filled: Memory) -> None:
    docs = LLMSlimRetriever(memory=filled, user_id="ann").invoke("What colour is my kite?")
    scores = [doc.metadata["score"] for doc in docs]
    assert "kite" in docs[0].page_content
    assert scores == sorted(scores, reverse=True)


def test_a_call_can_ask_for_another_number(filled: Memory) -> None:
    retriever = LLMSlimRetriever(memory=filled, user_id="ann", k=2)
    assert len(retriever.invoke("red")) == 2
    assert len(retriever.invoke("red", k=4)) == 4


@pytest.mark.parametrize("budget", [1, 7, 20, 1000])
def test_documents_stay_within_a_token_budget(filled: Memory, budget: int) -> None:
    by_call = LLMSlimRetriever(memory=filled, user_id="ann").invoke("red", token_budget=budget)
    by_field = LLMSlimRetriever(memory=filled, user_id="ann", token_budget=budget).invoke("red")
    assert by_call == by_field
    assert sum(filled.counter(doc.page_content) for doc in by_call) <= budget


def test_a_passage_that_does_not_fit_leaves_room_for_a_shorter_one(memory: Memory) -> None:
    memory.add(
        {"role": "user", "content": "The zeppelin was kept in a very long hall by the blue lake."}, user_id="ann"
    )
    memory.add({"role": "user", "content": "A zeppelin, once."}, user_id="ann")
    memory.add([{"role": "user", "content": f"Day {n} was quiet."} for n in range(9)], user_id="ann")
    retriever = LLMSlimRetriever(memory=memory, user_id="ann")
    question = "Which zeppelin was kept in the long hall by the lake?"
    assert retriever.invoke(question)[0].page_content.startswith("The zeppelin")
    assert [doc.page_content for doc in retriever.invoke(question, token_budget=8)] == ["A zeppelin, once."]


def test_a_number_and_a_budget_both_hold(filled: Memory) -> None:
    retriever = LLMSlimRetriever(memory=filled, user_id="ann", k=3, token_budget=15)
    docs = retriever.invoke("red")
    assert 0 < len(docs) <= 3
    assert sum(filled.counter(doc.page_content) for doc in docs) <= 15


def test_nothing_of_another_user_session_or_agent_is_found(filled: Memory) -> None:
    assert [d.page_content for d in LLMSlimRetriever(memory=filled, user_id="bob").invoke("kite")] == [
        "My kite is blue."
    ]
    docs = LLMSlimRetriever(memory=filled, user_id="ann", session_id="s2").invoke("kite")
    assert [doc.metadata["session_id"] for doc in docs] == ["s2"]
    assert LLMSlimRetriever(memory=filled, user_id="ann", agent_id="a1").invoke("kite") == []


def test_a_question_that_nothing_answers_finds_nothing(filled: Memory) -> None:
    assert LLMSlimRetriever(memory=filled, user_id="ann").invoke("zeppelin") == []


@pytest.mark.parametrize("query", ["", "   ", "?!", "\x00", "word " * 20_000])
def test_any_text_is_a_question(filled: Memory, query: str) -> None:
    assert isinstance(LLMSlimRetriever(memory=filled, user_id="ann").invoke(query), list)


@pytest.mark.parametrize(
    "bad", [{}, {"user_id": " "}, {"user_id": "ann", "k": 0}, {"user_id": "ann", "token_budget": 0}]
)
def test_a_retriever_that_could_not_work_is_refused(memory: Memory, bad: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        LLMSlimRetriever(memory=memory, **bad)


async def test_the_async_retriever_finds_the_same_off_the_event_loop(tmp_path: Any) -> None:
    async with AsyncMemory(tmp_path / "memory.db") as memory:
        await memory.add({"role": "user", "content": "My kite is red."}, user_id="ann")
        retriever = LLMSlimRetriever(memory=memory, user_id="ann")
        docs = await retriever.ainvoke("kite", k=1)
        assert [doc.page_content for doc in docs] == ["My kite is red."]
        assert await retriever.abatch(["kite", "kite"]) == [docs, docs]


def test_batches_search_in_parallel(filled: Memory) -> None:
    retriever = LLMSlimRetriever(memory=filled, user_id="ann", k=1)
    found = retriever.batch([f"my {thing}" for thing in THINGS[:4]] * 4)
    assert [docs[0].page_content for docs in found[:4]] == [f"My {thing} is red." for thing in THINGS[:4]]
    assert found[:4] == found[4:8]


def test_the_user_can_be_given_by_the_config_of_a_chain(filled: Memory) -> None:
    fields = {"user_id": ConfigurableField(id="user_id")}
    chain = LLMSlimRetriever(memory=filled, user_id="nobody").configurable_fields(**fields)
    docs = chain.invoke("kite", {"configurable": {"user_id": "bob"}})
    assert [doc.page_content for doc in docs] == ["My kite is blue."]


def test_the_memory_shows_neither_in_the_repr_nor_in_a_dump(filled: Memory) -> None:
    retriever = LLMSlimRetriever(memory=filled, user_id="ann")
    assert "Memory" not in repr(retriever)
    assert "memory" not in retriever.model_dump()
