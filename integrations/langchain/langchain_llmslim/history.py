"""A chat history that keeps every message of a session, for `RunnableWithMessageHistory` and loops of one's own."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from langchain_core.documents import Document
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, get_buffer_string

from langchain_llmslim.converters import messages_to_turns, turns_to_messages
from langchain_llmslim.resend import in_order, new_tail
from langchain_llmslim.retriever import LLMSlimRetriever
from langchain_llmslim.scope import RunScope
from langchain_llmslim.sharing import share
from llmslim_memory import AsyncMemory, Memory, MemoryItem, Scope

if TYPE_CHECKING:
    from langchain_core.chat_history import BaseChatMessageHistory
else:
    try:
        from langchain_core.chat_history import BaseChatMessageHistory
    except ImportError:  # langchain-core 2.0 removes the class, and those who need it only use its methods
        BaseChatMessageHistory = object

logger = logging.getLogger(__name__)


class LLMSlimChatMessageHistory(BaseChatMessageHistory):
    """The messages of one session, each stored once, in order, exactly as they were.

    A message with an id that is stored already is not stored again; if it says something else now, that is an edit.
    Messages without ids are stored each time, except when all of a transcript is given again with more at its end:
    then only that is new.

    Args:
        memory: A ``Memory`` or ``AsyncMemory``, shared by all histories.
        session_id: The session. Name the user too where two users might use the same session id.
        user_id: The person.
        agent_id: The agent.

    Raises:
        ValueError, TypeError: An id is blank or no text.

    Example:
        >>> from llmslim_memory import Memory
        >>> from langchain_llmslim import LLMSlimChatMessageHistory
        >>> history = LLMSlimChatMessageHistory(Memory(), session_id="s1", user_id="ann")
        >>> history.add_user_message("My bike is red.")
        >>> history.messages[0].content
        'My bike is red.'
    """

    def __init__(
        self,
        memory: Memory | AsyncMemory,
        *,
        session_id: str,
        user_id: str | None = None,
        agent_id: str | None = None,
    ) -> None:
        super().__init__()
        self._memory = share(memory)
        self._scope = RunScope(user_id, agent_id, session_id)
        Scope(run_id=session_id)
        Scope(user_id, agent_id, session_id)

    @property
    def messages(self) -> list[BaseMessage]:
        """Every message of the session, oldest first, as new objects. Setting it clears the session first."""
        return self._read()

    @messages.setter
    def messages(self, messages: Sequence[BaseMessage]) -> None:
        self.clear()
        self.add_messages(messages)

    async def aget_messages(self) -> list[BaseMessage]:
        """The same as :attr:`messages`, off the event loop."""
        return await asyncio.to_thread(self._read)

    def add_messages(self, messages: Sequence[BaseMessage]) -> None:
        """Store messages: all of them, or none and the error is logged and raised."""
        self._write(messages)

    async def aadd_messages(self, messages: Sequence[BaseMessage]) -> None:
        """Store messages, off the event loop."""
        await asyncio.to_thread(self._write, messages)

    def add_message(self, message: BaseMessage) -> None:
        """Store one message."""
        self.add_messages([message])

    def add_user_message(self, message: HumanMessage | str) -> None:
        """Store what the user said."""
        self.add_message(HumanMessage(message) if isinstance(message, str) else message)

    def add_ai_message(self, message: AIMessage | str) -> None:
        """Store what the model said."""
        self.add_message(AIMessage(message) if isinstance(message, str) else message)

    def clear(self) -> None:
        """Delete every message of the session; nothing of it is recalled again."""
        self._memory.open().delete_all(**self._scope.own())

    async def aclear(self) -> None:
        """Delete every message of the session, off the event loop."""
        await self._memory.delete_all(**self._scope.own())

    def recall(self, query: str, *, token_budget: int = 1000) -> list[Document]:
        """What answers ``query`` in all sessions of this user (in this session, where no user is named)."""
        return self._retriever(token_budget).invoke(query)

    async def arecall(self, query: str, *, token_budget: int = 1000) -> list[Document]:
        """The same as :meth:`recall`, off the event loop."""
        return await self._retriever(token_budget).ainvoke(query)

    def __str__(self) -> str:
        return get_buffer_string(self.messages)

    def _read(self) -> list[BaseMessage]:
        with self._logged("the messages of session %r were not read: %s"):
            return turns_to_messages(self._items())

    def _items(self) -> list[MemoryItem]:
        return in_order(self._memory.open().get_all(**self._scope.own()))

    def _write(self, messages: Sequence[BaseMessage]) -> None:
        with self._logged("new messages of session %r were not stored: %s"):
            turns = messages_to_turns(messages)
            if len(turns) > 1 and not any("id" in turn for turn in turns):
                turns = new_tail(turns, self._items())
            if turns:
                self._memory.open().add(turns, **self._scope.own(), on_conflict="update")

    @contextmanager
    def _logged(self, what: str) -> Iterator[None]:
        try:
            yield
        except Exception as error:
            # RunnableWithMessageHistory swallows what is raised after the model answered; the log must tell.
            logger.error(what, self._scope.session_id, type(error).__name__)
            raise

    def _retriever(self, token_budget: int) -> LLMSlimRetriever:
        ids = self._scope.readable()
        return LLMSlimRetriever(
            memory=self._memory,
            user_id=ids["user_id"],
            agent_id=ids["agent_id"],
            session_id=ids["run_id"],
            token_budget=token_budget,
        )
