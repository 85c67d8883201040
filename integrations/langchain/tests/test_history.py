"""A chat history holds each message of its session once, in order, exactly as it was."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest
from langchain_core.chat_history import BaseChatMessageHistory
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, HumanMessage, RemoveMessage, ToolMessage
from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder
from langchain_core.runnables import ConfigurableFieldSpec, RunnableLambda
from langchain_core.runnables.history import RunnableWithMessageHistory
from langchain_llmslim import LLMSlimChatMessageHistory

from llmslim_memory import AsyncMemory, Memory, StoreClosedError

pytestmark = pytest.mark.filterwarnings("ignore:.*RunnableWithMessageHistory:DeprecationWarning")


def history(memory: Memory, session_id: str = "s1", **scope: Any) -> LLMSlimChatMessageHistory:
    return LLMSlimChatMessageHistory(memory, session_id=session_id, **scope)


def contents(messages: list[BaseMessage]) -> list[Any]:
    return [message.content for message in messages]


def with_history(runnable: Any, memory: Memory, **options: Any) -> Any:
    return RunnableWithMessageHistory(runnable, lambda session_id: history(memory, session_id), **options)


SESSION = {"configurable": {"session_id": "s1"}}


def test_messages_are_a_list_of_new_objects_each_time(memory: Memory) -> None:
    one = history(memory)
    one.add_messages([HumanMessage("Hello"), AIMessage("Hi")])
    first, second = one.messages, one.messages
    assert first == second == [HumanMessage("Hello"), AIMessage("Hi")]
    assert first[0] is not second[0]


def test_it_is_a_chat_message_history(memory: Memory) -> None:
    one = history(memory)
    assert isinstance(one, BaseChatMessageHistory)
    one.add_user_message("Hello")
    one.add_ai_message(AIMessage("Hi"))
    one.add_message(ToolMessage("ok", tool_call_id="c"))
    assert contents(one.messages) == ["Hello", "Hi", "ok"]
    assert str(one).splitlines() == ["Human: Hello", "AI: Hi", "Tool: ok"]


def test_setting_the_messages_replaces_them(memory: Memory) -> None:
    one = history(memory)
    one.add_messages([HumanMessage("old", id="1")])
    one.messages = [HumanMessage("old", id="1"), AIMessage("new", id="2")]
    assert contents(one.messages) == ["old", "new"]


async def test_the_async_methods_do_the_same(memory: Memory) -> None:
    one = history(memory)
    await one.aadd_messages([HumanMessage("Hello"), AIMessage("Hi")])
    assert contents(await one.aget_messages()) == ["Hello", "Hi"]
    await one.aclear()
    assert await one.aget_messages() == []


async def test_a_database_is_opened_off_the_event_loop_at_the_first_message(tmp_path: Any) -> None:
    memory = AsyncMemory(tmp_path / "memory.db")
    one = LLMSlimChatMessageHistory(memory, session_id="s1")
    await one.aadd_messages([HumanMessage("Hello")])
    assert contents(await one.aget_messages()) == ["Hello"]
    assert [doc.page_content for doc in await one.arecall("hello")] == ["Hello"]
    await memory.close()


def test_the_same_ids_again_change_nothing(memory: Memory) -> None:
    one = history(memory)
    said = [HumanMessage("Hello", id="1"), AIMessage("Hi", id="2")]
    one.add_messages(said)
    one.add_messages(said)
    assert one.messages == said


def test_other_words_under_a_known_id_are_an_edit(memory: Memory) -> None:
    one = history(memory)
    one.add_messages([HumanMessage("Helo", id="1"), AIMessage("Hi", id="2")])
    one.add_messages([HumanMessage("Hello", id="1")])
    assert contents(one.messages) == ["Hello", "Hi"]
    assert memory.get_all(run_id="s1")[0].updated_at is not None


def test_other_tool_calls_under_a_known_id_are_an_edit(memory: Memory) -> None:
    one = history(memory)
    one.add_messages([AIMessage("Looking.", id="1")])
    called = AIMessage("Looking.", id="1", tool_calls=[{"name": "search", "args": {"q": "x"}, "id": "c"}])
    one.add_messages([called])
    assert one.messages == [called]


def test_equal_texts_of_different_ids_are_both_kept(memory: Memory) -> None:
    one = history(memory)
    one.add_messages([HumanMessage("yes", id="1"), HumanMessage("yes", id="2")])
    assert contents(one.messages) == ["yes", "yes"]


def test_equal_texts_without_ids_are_both_kept(memory: Memory) -> None:
    one = history(memory)
    for _ in range(3):
        one.add_messages([HumanMessage("yes"), AIMessage("ok")])
    assert contents(one.messages) == ["yes", "ok"] * 3


def test_a_transcript_without_ids_given_again_adds_only_its_new_tail(memory: Memory) -> None:
    one = history(memory)
    said = [HumanMessage("a"), AIMessage("b"), HumanMessage("c"), AIMessage("d")]
    for length in (1, 2, 4):
        one.add_messages(said[:length])
    assert contents(one.messages) == ["a", "b", "c", "d"]


def test_orders_to_remove_messages_are_not_stored(memory: Memory) -> None:
    one = history(memory)
    one.add_messages([HumanMessage("Hello", id="1"), RemoveMessage(id="1")])
    assert contents(one.messages) == ["Hello"]


def test_sessions_users_and_agents_do_not_see_each_other(memory: Memory) -> None:
    scopes = [("s1", "u1", "a1"), ("s10", "u1", "a1"), ("s1", "u10", "a1"), ("s1", "u1", "a_1"), ("s1", "u1", "ax1")]
    for session, user, agent in scopes:
        history(memory, session, user_id=user, agent_id=agent).add_user_message(f"{session} {user} {agent}")
    for session, user, agent in scopes:
        one = history(memory, session, user_id=user, agent_id=agent)
        assert contents(one.messages) == [f"{session} {user} {agent}"]


@pytest.mark.parametrize("bad", ["", "  ", None, 7])
def test_a_session_without_a_name_is_refused(memory: Memory, bad: Any) -> None:
    with pytest.raises((ValueError, TypeError)):
        history(memory, bad)


def test_the_memory_must_be_a_memory() -> None:
    with pytest.raises(TypeError, match="must be a Memory"):
        LLMSlimChatMessageHistory("memory.db", session_id="s1")  # type: ignore[arg-type]


def test_recall_looks_in_all_sessions_of_the_user_and_in_no_other(memory: Memory) -> None:
    history(memory, "s1", user_id="ann").add_user_message("My bike is red.")
    history(memory, "s2", user_id="bob").add_user_message("My bike is blue.")
    assert [d.page_content for d in history(memory, "s3", user_id="ann").recall("bike")] == ["My bike is red."]
    assert history(memory, "s3").recall("bike") == []


def test_recall_stays_within_its_budget(memory: Memory) -> None:
    one = history(memory, user_id="ann")
    one.add_messages([HumanMessage(f"Bike number {n} is red and rather old.") for n in range(20)])
    docs = one.recall("bike", token_budget=40)
    assert 0 < sum(memory.counter(doc.page_content) for doc in docs) <= 40


def test_a_clock_set_back_does_not_change_the_order() -> None:
    times = iter(["2026-03-01T10:00:00Z", "2026-03-01T09:00:00Z", "2026-03-01T09:30:00Z"])
    with Memory(clock=lambda: next(times)) as memory:  # type: ignore[arg-type,return-value]
        one = history(memory)
        for text in ("a", "b", "c"):
            one.add_user_message(text)
        assert contents(one.messages) == ["a", "b", "c"]


def test_a_chain_with_a_list_input_stores_each_message_once(memory: Memory, model: Any) -> None:
    chain = with_history(model(*(f"answer {n}" for n in range(20))), memory)
    for n in range(20):
        chain.invoke([HumanMessage(f"question {n}")], SESSION)
    expected = [text for n in range(20) for text in (f"question {n}", f"answer {n}")]
    assert contents(history(memory).messages) == expected


def test_a_chain_sees_the_history_of_its_session_once(memory: Memory, model: Any) -> None:
    chat = model("b", "d")
    chain = with_history(chat, memory)
    chain.invoke([HumanMessage("a")], SESSION)
    chain.invoke([HumanMessage("c")], SESSION)
    assert contents(chat.seen[1]) == ["a", "b", "c"]


def test_a_chain_with_a_prompt_and_a_key_stores_each_message_once(memory: Memory, model: Any) -> None:
    prompt = ChatPromptTemplate([("system", "Be kind."), MessagesPlaceholder("history"), ("user", "{question}")])
    chain = with_history(
        prompt | model("Hi", "Red"), memory, input_messages_key="question", history_messages_key="history"
    )
    chain.invoke({"question": "Hello"}, SESSION)
    chain.invoke({"question": "Colour?"}, SESSION)
    assert contents(history(memory).messages) == ["Hello", "Hi", "Colour?", "Red"]


def test_a_factory_of_two_fields_gives_each_user_their_own_history(memory: Memory, model: Any) -> None:
    fields = [ConfigurableFieldSpec(id=name, annotation=str) for name in ("user_id", "session_id")]
    chain = RunnableWithMessageHistory(
        model("for ann", "for bob"),
        lambda user_id, session_id: history(memory, session_id, user_id=user_id),
        history_factory_config=fields,
    )
    for user in ("ann", "bob"):
        chain.invoke([HumanMessage(user)], {"configurable": {"user_id": user, "session_id": "s1"}})
    assert contents(history(memory, "s1", user_id="ann").messages) == ["ann", "for ann"]
    assert contents(history(memory, "s1", user_id="bob").messages) == ["bob", "for bob"]


def test_a_stream_is_stored_as_one_whole_message(memory: Memory, model: Any) -> None:
    chain = with_history(model("one two three"), memory)
    assert len(list(chain.stream([HumanMessage("Count")], SESSION))) > 1
    _, answer = history(memory).messages
    assert (type(answer), answer.content) == (AIMessage, "one two three")


async def test_an_async_stream_is_stored_as_one_whole_message(memory: Memory, model: Any) -> None:
    chain = with_history(model("one two three"), memory)
    assert len([chunk async for chunk in chain.astream([HumanMessage("Count")], SESSION)]) > 1
    _, answer = await history(memory).aget_messages()
    assert (type(answer), answer.content) == (AIMessage, "one two three")


async def test_twenty_async_calls_store_each_message_once(memory_file: Memory, model: Any) -> None:
    chain = with_history(model(*(f"answer {n}" for n in range(20))), memory_file)
    for n in range(20):
        await chain.ainvoke([HumanMessage(f"question {n}")], SESSION)
    assert len(await history(memory_file).aget_messages()) == 40


def test_the_synchronous_methods_work_inside_a_running_loop(memory: Memory, model: Any) -> None:
    async def main() -> list[str]:
        chain = with_history(model("Hi"), memory)
        chain.invoke([HumanMessage("Hello")], SESSION)
        return contents(history(memory).messages)

    assert asyncio.run(main()) == ["Hello", "Hi"]


@pytest.mark.parametrize("way", ["invoke", "stream"])
def test_an_answer_under_a_key_that_is_named_is_stored(memory: Memory, way: str) -> None:
    runnable = RunnableLambda(lambda given: {"answer": AIMessage(f"re: {given['question']}"), "sources": [1]})
    keys = {"input_messages_key": "question", "history_messages_key": "history", "output_messages_key": "answer"}
    chain = with_history(runnable, memory, **keys)
    for text in ("a", "b"):
        given = ({"question": text}, SESSION)
        assert chain.invoke(*given) if way == "invoke" else list(chain.stream(*given))
    assert contents(history(memory).messages) == ["a", "re: a", "b", "re: b"]


def test_calls_at_once_on_one_session_lose_nothing_where_the_history_has_a_key(memory_file: Memory) -> None:
    both_began = Barrier(2)

    def answer(given: Any) -> AIMessage:
        both_began.wait(timeout=30)
        return AIMessage(f"re: {given['question']}")

    chain = with_history(
        RunnableLambda(answer), memory_file, input_messages_key="question", history_messages_key="history"
    )
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda text: chain.invoke({"question": text}, SESSION), ["a", "b"]))
    assert sorted(contents(history(memory_file).messages)) == ["a", "b", "re: a", "re: b"]


def test_an_answer_of_blocks_is_stored_as_it_is(memory: Memory) -> None:
    blocks = [{"type": "thinking", "thinking": "Hm", "signature": "s"}, {"type": "text", "text": "Yes"}]
    chain = with_history(RunnableLambda(lambda _: AIMessage(blocks)), memory)  # type: ignore[arg-type]
    chain.invoke([HumanMessage("Sure?")], SESSION)
    assert history(memory).messages[1].content == blocks


def test_a_chain_that_gives_text_stores_every_repetition(memory: Memory) -> None:
    chain = with_history(RunnableLambda(lambda _: "hello"), memory)
    for _ in range(3):
        chain.invoke([HumanMessage("hi")], SESSION)
    assert contents(history(memory).messages) == ["hi", "hello"] * 3


def test_a_failed_write_is_logged_because_the_chain_swallows_it(
    memory_file: Memory, model: Any, caplog: pytest.LogCaptureFixture
) -> None:
    chain = with_history(RunnableLambda(lambda _: memory_file.close() or AIMessage("secret")), memory_file)
    assert chain.invoke([HumanMessage("secret")], SESSION).content == "secret"
    (record,) = [r for r in caplog.records if r.name.startswith("langchain_llmslim")]
    assert record.getMessage() == "the messages of session 's1' were not read: StoreClosedError"


def test_a_failed_write_is_raised_to_who_calls_it_and_logged_without_what_was_said(
    memory_file: Memory, caplog: pytest.LogCaptureFixture
) -> None:
    one = history(memory_file)
    memory_file.close()
    with pytest.raises(StoreClosedError):
        one.add_user_message("secret")
    assert caplog.messages == ["new messages of session 's1' were not stored: StoreClosedError"]


def test_a_chunk_added_by_hand_is_stored_as_a_message(memory: Memory) -> None:
    one = history(memory)
    one.add_message(AIMessageChunk("Hi"))
    assert one.messages == [AIMessage("Hi")]


def test_a_cleared_session_is_never_recalled(memory: Memory) -> None:
    history(memory, "s1", user_id="ann").add_user_message("My bike is red.")
    history(memory, "s2", user_id="ann").add_user_message("My bike has a bell.")
    history(memory, "s1", user_id="ann").clear()
    assert history(memory, "s1", user_id="ann").messages == []
    assert [d.page_content for d in history(memory, "s2", user_id="ann").recall("bike")] == ["My bike has a bell."]
