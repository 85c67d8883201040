"""A chat store: the short-term memory of LlamaIndex kept durably, in the same turns as the long-term memory."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, TypeVar

from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.bridge.pydantic import PrivateAttr
from llama_index.core.storage.chat_store.base_db import AsyncDBChatStore, MessageStatus
from llama_index.memory.llmslim.engine import Engine, MemoryLike, check_owner
from llama_index.memory.llmslim.messages import turns_to_chat_messages
from llama_index.memory.llmslim.transcript import ACTIVE, ARCHIVED, ENDED, HIDDEN, Transcript, owner, status_of

from llmslim_memory import Memory, MemoryItem

T = TypeVar("T")


class LLMSlimChatStore(AsyncDBChatStore):
    """Keeps the messages of a user's sessions in a :class:`~llmslim_memory.Memory`, for ``Memory(chat_store=...)``.

    A message is stored once, at once, and stays recallable for ever: what LlamaIndex archives or deletes leaves the
    session and not the long-term memory, unless ``forget`` says so. The key of a session is its ``run_id``. Messages
    given back are new objects.

    Args:
        memory: The memory to keep them in, or a store, path or URL to open one on.
        user_id: Whose sessions; a user or an agent is required.
        agent_id: Whose sessions, by agent. Without it, sessions that were stored under an agent are not seen.
        forget: Whether deleting messages erases them from the long-term memory too.
        keep_instructions: Whether system and developer messages stay in the window when older messages leave it.

    Raises:
        ValueError, TypeError: No user and no agent is named, or one is unusable.
    """

    user_id: str | None = None
    agent_id: str | None = None
    forget: bool = False
    keep_instructions: bool = False

    _engine: Engine = PrivateAttr()

    def __init__(
        self,
        memory: MemoryLike | Engine,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        forget: bool = False,
        keep_instructions: bool = False,
    ) -> None:
        check_owner(user_id, agent_id)
        fields: dict[str, Any] = {
            "user_id": user_id,
            "agent_id": agent_id,
            "forget": forget,
            "keep_instructions": keep_instructions,
        }
        super().__init__(**fields)
        self._engine = memory if isinstance(memory, Engine) else Engine(memory)

    @classmethod
    def class_name(cls) -> str:
        """The name of the class, for LlamaIndex."""
        return "LLMSlimChatStore"

    def attach(self, memory: MemoryLike) -> None:
        """Give a store that was unpickled its memory again."""
        self._engine.attach(memory)

    def one_at_a_time(self) -> asyncio.Lock:
        """A lock for what the coroutines of the running event loop must not do at once, such as emptying a window."""
        return self._engine.one_at_a_time()

    async def get_messages(
        self,
        key: str,
        status: MessageStatus | None = MessageStatus.ACTIVE,
        limit: int | None = None,
        offset: int | None = None,
    ) -> list[ChatMessage]:
        """The messages of a session that have this status, or any, in the order of the conversation."""
        start = offset or 0
        stop = None if limit is None else start + limit
        return await self._run(key, lambda session: turns_to_chat_messages(_of(session, status)[start:stop]))

    async def count_messages(self, key: str, status: MessageStatus | None = MessageStatus.ACTIVE) -> int:
        """How many messages of a session have this status, or any."""
        return await self._run(key, lambda session: len(_of(session, status)))

    async def add_message(self, key: str, message: ChatMessage, status: MessageStatus = MessageStatus.ACTIVE) -> None:
        """Store a message at the end of a session."""
        await self.add_messages(key, [message], status)

    async def add_messages(
        self, key: str, messages: list[ChatMessage], status: MessageStatus = MessageStatus.ACTIVE
    ) -> None:
        """Store messages at the end of a session, all or none."""
        await self._run(key, lambda session: session.append(messages, status=status.value))

    async def set_messages(
        self, key: str, messages: list[ChatMessage], status: MessageStatus = MessageStatus.ACTIVE
    ) -> None:
        """Make a session consist of these messages; those that were said in it already are not stored again."""
        await self._run(key, lambda session: session.replace(messages, status=status.value))

    async def delete_message(self, key: str, idx: int, *, forget: bool | None = None) -> ChatMessage | None:
        """Delete the message at this position (from 0) of a session, and return it; ``None`` if there is none."""
        removed = await self._remove(key, lambda session: _of(session, None)[max(idx, 0) : idx + 1], forget)
        return removed[0] if removed else None

    async def delete_messages(
        self, key: str, status: MessageStatus | None = None, *, forget: bool | None = None
    ) -> None:
        """Delete the messages of a session that have this status, or all of them."""
        if self._forgets(forget) and status is None:
            await self._remove(key, lambda session: session.turns(), True)
        else:
            await self._remove(key, lambda session: _of(session, status), forget)

    async def delete_oldest_messages(self, key: str, n: int, *, forget: bool | None = None) -> list[ChatMessage]:
        """Delete the oldest ``n`` messages in the window of a session, and return them."""
        return await self._remove(key, lambda session: session.turns(ACTIVE)[: max(n, 0)], forget)

    async def archive_oldest_messages(self, key: str, n: int) -> list[ChatMessage]:
        """Move the oldest ``n`` messages out of the window of a session, and return them."""
        stay = HIDDEN if self.keep_instructions else ()

        def archive(session: Transcript) -> list[ChatMessage]:
            oldest = [item for item in session.turns(ACTIVE) if item.role not in stay][: max(n, 0)]
            session.mark(oldest, ARCHIVED)
            return turns_to_chat_messages(oldest)

        return await self._run(key, archive)

    async def get_keys(self) -> list[str]:
        """The sessions that hold messages, in the order in which they began."""

        def keys(memory: Memory) -> list[str]:
            items = memory.get_all(user_id=self.user_id, agent_id=self.agent_id)
            return list(dict.fromkeys(item.run_id for item in items if item.run_id and self._holds(item)))

        return await self._engine.run(keys)

    def _holds(self, item: MemoryItem) -> bool:
        mine = {"user_id": self.user_id, "agent_id": self.agent_id, "run_id": item.run_id}
        return owner(item) == mine and status_of(item) != ENDED

    def _forgets(self, forget: bool | None) -> bool:
        return self.forget if forget is None else forget

    async def _remove(
        self, key: str, choose: Callable[[Transcript], list[MemoryItem]], forget: bool | None
    ) -> list[ChatMessage]:
        def remove(session: Transcript) -> list[ChatMessage]:
            chosen = choose(session)
            if self._forgets(forget):
                session.forget(chosen)
            else:
                session.mark(chosen, ENDED)
            return turns_to_chat_messages(chosen)

        return await self._run(key, remove)

    async def _run(self, key: str, work: Callable[[Transcript], T]) -> T:
        return await self._engine.run(
            lambda memory: work(Transcript(memory, user_id=self.user_id, agent_id=self.agent_id, session_id=key))
        )


def _of(session: Transcript, status: Any) -> list[MemoryItem]:
    return session.turns(ACTIVE, ARCHIVED) if status is None else session.turns(MessageStatus(status).value)
