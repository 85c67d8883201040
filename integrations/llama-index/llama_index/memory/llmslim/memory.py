"""A memory for agents and chat engines that remembers for ever what is put into it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Self

from llama_index.core.async_utils import asyncio_run
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.bridge.pydantic import Field
from llama_index.core.memory.memory import (
    DEFAULT_TOKEN_LIMIT,
    BaseMemoryBlock,
    Memory,
    generate_chat_store_key,
)
from llama_index.core.storage.chat_store.base_db import AsyncDBChatStore, MessageStatus
from llama_index.memory.llmslim.block import LLMSlimMemoryBlock
from llama_index.memory.llmslim.chat_store import LLMSlimChatStore
from llama_index.memory.llmslim.engine import Engine, MemoryLike
from llama_index.memory.llmslim.transcript import HIDDEN

from llmslim_memory import InvalidTypeError

_NOT_DUMPED = ("class_name", "memory_blocks", "memory_blocks_template", "sql_store", "tokenizer_fn")


class LLMSlimMemory(Memory):
    """LlamaIndex's ``Memory`` with every message stored for good as it is put, and recalled in later sessions.

    The session's messages and the long-term memory are the same turns, written at once: a conversation of two messages
    is remembered, and so is one whose process dies. Make one with :meth:`from_defaults`, and pass it as ``memory=`` to
    agents and chat engines. It is used as any ``Memory``; the differences are ``forget`` of :meth:`areset`, and that
    copies share the memory while pickles and dumps leave it out (see :meth:`attach` and :meth:`from_dict`).
    """

    user_id: str | None = None
    agent_id: str | None = None
    token_budget: int = 1000
    on_error: Literal["warn", "raise"] = "warn"
    forget: bool = False
    # Declared again, since llama-index-core 0.14.0 admits only its own class.
    sql_store: AsyncDBChatStore = Field(exclude=True)

    @classmethod
    def class_name(cls) -> str:
        """The name of the class, for LlamaIndex."""
        return "LLMSlimMemory"

    @classmethod
    def from_defaults(  # type: ignore[override]
        cls,
        *,
        memory: MemoryLike,
        user_id: str | None = None,
        agent_id: str | None = None,
        session_id: str | None = None,
        token_budget: int = 1000,
        chat_history: Sequence[ChatMessage] | None = None,
        memory_blocks: Sequence[BaseMemoryBlock[Any]] | None = None,
        on_error: Literal["warn", "raise"] = "warn",
        forget: bool = False,
        **memory_kwargs: Any,
    ) -> Self:
        """Make a memory for one session of one user.

        Args:
            memory: The :class:`~llmslim_memory.Memory` to keep turns in, or a store, path or URL to open one on.
            user_id: Whose memory; a user or an agent is required.
            agent_id: Whose memory, by agent.
            session_id: Names the session, to go on with it later; a new one unless given.
            token_budget: Tokens that recalled history may take in the prompt, by the memory's counter.
            chat_history: What the session consists of to begin with.
            memory_blocks: Further blocks.
            on_error: ``"warn"`` goes on without recalled history when recalling fails; ``"raise"`` raises.
            forget: Whether resetting the session erases its turns from the long-term memory too.
            **memory_kwargs: ``token_limit``, ``insert_method`` and the other fields of ``Memory``.

        Raises:
            ValueError, TypeError: No user and no agent is named, or an argument is unusable.
        """
        _check(memory_kwargs)
        engine = Engine(memory)
        tokenizer = memory_kwargs.pop("tokenizer_fn", None) or engine.tokenize
        store = LLMSlimChatStore(engine, user_id=user_id, agent_id=agent_id, forget=forget, keep_instructions=True)
        block = LLMSlimMemoryBlock(
            engine,
            user_id=user_id,
            agent_id=agent_id,
            token_budget=token_budget,
            capture="none",
            on_error=on_error,
            tokenizer_fn=tokenizer,
        )
        made = cls(
            user_id=user_id,
            agent_id=agent_id,
            token_budget=token_budget,
            on_error=on_error,
            forget=forget,
            sql_store=store,
            session_id=session_id or generate_chat_store_key(),
            memory_blocks=[block, *(memory_blocks or ())],
            tokenizer_fn=tokenizer,
            **{"token_limit": DEFAULT_TOKEN_LIMIT, **memory_kwargs},
        )
        if chat_history is not None:
            made.set(list(chat_history))
        return made

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], **kwargs: Any) -> Self:
        """The memory that ``to_dict()`` described, on the ``memory`` given: the same session, with all its turns.

        Args:
            data: What ``to_dict()`` gave. It holds neither turns nor the memory, nor what further blocks keep.
            **kwargs: ``memory``, and what else :meth:`from_defaults` takes, such as ``memory_blocks``.
        """
        return cls.from_defaults(**{name: data[name] for name in data if name not in _NOT_DUMPED} | kwargs)

    def attach(self, memory: MemoryLike) -> None:
        """Give a memory that was unpickled its turns again."""
        self._store().attach(memory)

    async def aget(self, input: str | ChatMessage | None = None, **block_kwargs: Any) -> list[ChatMessage]:  # noqa: A002
        """The session's messages, with what earlier sessions say about the last user message or ``input``."""
        question = (input.content or None) if isinstance(input, ChatMessage) else input
        return await super().aget(input=question, **block_kwargs)

    async def areset(self, status: MessageStatus | None = None, *, forget: bool | None = None) -> None:
        """End the session's messages.

        Args:
            status: Only those of this status.
            forget: Whether to erase them from the long-term memory too; as ``from_defaults`` said, unless given.
        """
        await self._store().delete_messages(self.session_id, status=status, forget=forget)

    def reset(self, status: MessageStatus | None = None, *, forget: bool | None = None) -> None:
        """End the session's messages; as :meth:`areset`."""
        asyncio_run(self.areset(status, forget=forget))

    async def _manage_queue(self) -> None:
        # Puts at the same time would each see the same full window, and empty it several times over.
        store = self._store()
        async with store.one_at_a_time():
            await Memory._manage_queue(await self._of_what_was_said(store))

    async def _of_what_was_said(self, store: LLMSlimChatStore) -> Memory:
        """This memory as if its window held no instructions: they stay in it, and take their tokens of the limit."""
        active = await store.get_messages(self.session_id)
        taken = sum(self._estimate_token_count(message) for message in active if message.role.value in HIDDEN)
        if not taken:
            return self
        limit = int(self.token_limit - taken / max(self.chat_history_token_ratio, 0.01))
        return self.model_copy(update={"sql_store": _WhatWasSaid(store), "token_limit": max(0, limit)})

    def _store(self) -> LLMSlimChatStore:
        if not isinstance(self.sql_store, LLMSlimChatStore):
            raise InvalidTypeError("make this memory with LLMSlimMemory.from_defaults(memory=..., user_id=...)")
        return self.sql_store


class _WhatWasSaid:
    """The messages of a window that can leave it: all but instructions to the model."""

    def __init__(self, store: LLMSlimChatStore) -> None:
        self._store = store

    async def get_messages(self, key: str, status: MessageStatus | None = MessageStatus.ACTIVE) -> list[ChatMessage]:
        messages = await self._store.get_messages(key, status)
        return [message for message in messages if message.role.value not in HIDDEN]

    async def archive_oldest_messages(self, key: str, n: int) -> list[ChatMessage]:
        return await self._store.archive_oldest_messages(key, n)


def _check(memory_kwargs: Mapping[str, Any]) -> None:
    unknown = sorted(set(memory_kwargs) - (set(Memory.model_fields) - {"sql_store"}))
    if unknown:
        raise InvalidTypeError(
            f"LLMSlimMemory takes no {', '.join(unknown)}: messages live in `memory`. To keep them elsewhere, use "
            "llama_index.core.memory.Memory with memory_blocks=[LLMSlimMemoryBlock(...)]"
        )
