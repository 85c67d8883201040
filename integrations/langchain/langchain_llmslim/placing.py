"""Where a run's question stands, and how recalled text is put before it for the model alone to see."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage

from langchain_llmslim.recall import SOURCE
from langchain_llmslim.recording import was_said
from langchain_llmslim.text import message_text

M = TypeVar("M", bound=BaseMessage)


def find_question(messages: Sequence[BaseMessage]) -> int | None:
    """The position of the last message that the user typed."""
    asked = (n for n in range(len(messages) - 1, -1, -1) if _is_asked(messages[n]))
    return next(asked, None)


def find_turn_start(messages: Sequence[BaseMessage], question: int) -> int:
    """The position of the first message that the user typed since the last answer before ``question``."""
    start = question
    for n in range(question - 1, -1, -1):
        if isinstance(messages[n], AIMessage | ToolMessage):
            break
        start = n if _is_asked(messages[n]) else start
    return start


def as_human(text: str) -> HumanMessage:
    """Recalled text as a message of its own, marked as not typed by the user."""
    return HumanMessage(text, additional_kwargs={"lc_source": SOURCE})


def place(messages: Sequence[M], memory: M, anchor: str | None) -> list[M]:
    """``messages`` with ``memory`` before the one whose id is ``anchor``; before the question, where that is gone.

    It never comes between a tool call and its result.
    """
    places = [n for n, message in enumerate(messages) if anchor is not None and message.id == anchor]
    question = find_question(messages) or 0
    at = places[0] if places else find_turn_start(messages, question)
    return [*messages[:at], memory, *messages[at:]]


def append_to_system(system: SystemMessage | None, text: str) -> SystemMessage:
    """The system message with recalled text as a further block at its end."""
    if system is None:
        return SystemMessage(text)
    before = [{"type": "text", "text": system.content}] if isinstance(system.content, str) else system.content
    return system.model_copy(update={"content": [*before, {"type": "text", "text": text}]})


def _is_asked(message: BaseMessage) -> bool:
    return isinstance(message, HumanMessage) and was_said(message) and bool(message_text(message).strip())
