"""A memory block: recalls what bears on the last user message, and sees every message of the session."""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Callable, Sequence
from threading import Lock
from typing import Any, Literal, NamedTuple, TypeVar

from llama_index.core.base.llms.types import ChatMessage, TextBlock
from llama_index.core.bridge.pydantic import Field, PrivateAttr
from llama_index.core.memory.memory import BaseMemoryBlock
from llama_index.core.utils import get_tokenizer
from llama_index.memory.llmslim.alignment import common_prefix
from llama_index.memory.llmslim.engine import Engine, MemoryLike, check_owner
from llama_index.memory.llmslim.recall import Recalled, recall
from llama_index.memory.llmslim.texts import is_recalled
from llama_index.memory.llmslim.transcript import ARCHIVED, Transcript, fingerprints, up_to_question

from llmslim_memory import InvalidTypeError, Memory, MemoryItem

logger = logging.getLogger(__name__)

_ATTEMPTS = 4
_TEXTS = 64
_SESSIONS = 1024

T = TypeVar("T")


class _Question(NamedTuple):
    """What a text was recalled for, so that less of it can be recalled."""

    query: str
    exclude: frozenset[str]
    budget: int


class _Given(NamedTuple):
    """A text that an agent was given, the version of what others said, and the turns of its own session in it."""

    text: str
    version: str
    own: tuple[MemoryItem, ...]


class _Recent(OrderedDict[Any, T]):
    """What was noted last, by any thread; not copied or pickled with the block."""

    def __init__(self) -> None:
        super().__init__()
        self._lock = Lock()

    def note(self, key: Any, value: T, *, most: int) -> None:
        with self._lock:
            self[key] = value
            self.move_to_end(key)
            while len(self) > most:
                self.popitem(last=False)

    def __reduce__(self) -> tuple[Any, ...]:
        return _Recent, ()


class LLMSlimMemoryBlock(BaseMemoryBlock[str]):
    """Recalls, within a token budget, what earlier sessions say about the last user message.

    The text is enclosed as untrusted data. An agent that asks several times about one message gets the same text,
    unless what it tells of was changed or erased since. With ``capture="seen"`` the block stores every message that it
    is shown, once, although messages have no ids; LlamaIndex itself hands a block only what no longer fits the window.

    Args:
        memory: The memory to recall from, or a store, path or URL to open one on.
        user_id: Whose memory; a user or an agent is required.
        agent_id: Whose memory, by agent.
        token_budget: Tokens that the text may take, envelope included, by the memory's counter.
        capture: ``"seen"`` stores every message shown, ``"flush"`` those that leave the window, ``"none"`` none, for
            where something else stores them.
        on_error: ``"warn"`` logs a failure to recall and goes on without memory; ``"raise"`` raises it.
        tokenizer_fn: The tokenizer of the ``Memory`` that holds the block, if it has one of its own.
        **fields: ``name``, ``description``, ``priority`` and ``accept_short_term_memory``, as of every block.

    Raises:
        ValueError, TypeError: No user and no agent is named, or an argument is unusable.
    """

    name: str = "llmslim_memory"
    priority: int = 1
    user_id: str | None = None
    agent_id: str | None = None
    token_budget: int = 1000
    capture: Literal["seen", "flush", "none"] = "seen"
    on_error: Literal["warn", "raise"] = "warn"
    tokenizer_fn: Callable[[str], list[Any]] | None = Field(default=None, exclude=True)

    _engine: Engine = PrivateAttr()
    _questions: _Recent[_Question] = PrivateAttr(default_factory=_Recent)
    _recalled: _Recent[_Given] = PrivateAttr(default_factory=_Recent)
    _windows: _Recent[tuple[str, ...]] = PrivateAttr(default_factory=_Recent)
    _failing: set[str] = PrivateAttr(default_factory=set)

    def __init__(
        self, memory: MemoryLike | Engine, *, user_id: str | None = None, agent_id: str | None = None, **fields: Any
    ) -> None:
        check_owner(user_id, agent_id)
        if unknown := sorted(set(fields) - set(type(self).model_fields)):
            raise InvalidTypeError(f"this memory block takes no {', '.join(unknown)}")
        super().__init__(**{"user_id": user_id, "agent_id": agent_id, **fields})
        self._engine = memory if isinstance(memory, Engine) else Engine(memory)

    def attach(self, memory: MemoryLike) -> None:
        """Give a block that was unpickled its memory again."""
        self._engine.attach(memory)

    async def aput(
        self, messages: list[ChatMessage], from_short_term_memory: bool = False, session_id: str | None = None
    ) -> None:
        """Store messages that left the window of a session, or that are put here; those seen before only once."""
        if from_short_term_memory and not self.accept_short_term_memory:
            return
        await self._put(messages, session_id, flushed=from_short_term_memory)

    async def atruncate(self, content: str, tokens_to_truncate: int) -> str | None:
        """Recall less: a text that is at least this many tokens shorter, or ``None`` if nothing is left.

        The turns that bear least on the question go first.
        """
        question = self._questions.get(hash(content)) if content else None
        if question is None:
            return None
        return await self._attempt(
            "shorten what was recalled",
            lambda memory: self._shorten(memory, content, question, tokens_to_truncate),
            None,
        )

    async def _aget(
        self,
        messages: list[ChatMessage] | None = None,
        session_id: str | None = None,
        **block_kwargs: Any,  # noqa: ARG002 - engines hand over what they like
    ) -> str:
        window = list(messages or [])
        seen: frozenset[str] = await self._attempt(
            "store the session", lambda memory: self._see(memory, window, session_id), frozenset()
        )
        question = _Question(last_question(window), seen, self.token_budget)
        whose = (session_id, self.user_id, self.agent_id, self.token_budget, self.name)
        asked = (*whose, *fingerprints(up_to_question(window), echo=True))
        return await self._attempt("recall", lambda memory: self._recall_once(memory, question, session_id, asked), "")

    async def _aput(self, messages: list[ChatMessage]) -> None:
        await self._put(messages, None, flushed=False)

    async def _put(self, messages: Sequence[ChatMessage], session_id: str | None, *, flushed: bool) -> None:
        if self.capture == "none":
            return
        said = [_without_session(message, session_id) for message in messages]

        def store(memory: Memory) -> None:
            session = self._session(memory, session_id)
            if not flushed or self.capture == "flush":
                session.append(said, status=ARCHIVED)
                return
            seen = self._windows.get(session_id, ())
            session.archive(said, seen=seen)
            left = common_prefix(seen, fingerprints(said, echo=True))
            self._windows.note(session_id, seen[left:], most=_SESSIONS)

        await self._engine.run(store)

    def _see(self, memory: Memory, window: Sequence[ChatMessage], session_id: str | None) -> frozenset[str]:
        """Store what is new in the window if that is asked for, and say which turns the window shows."""
        session = self._session(memory, session_id)
        if self.capture != "seen":
            return frozenset(item.id for item in session.known(window))
        items = session.record(window, seen=self._windows.get(session_id, ()))
        self._windows.note(session_id, fingerprints(window), most=_SESSIONS)
        return frozenset(item.id for item in items)

    def _recall_once(self, memory: Memory, question: _Question, session_id: str | None, asked: tuple[Any, ...]) -> str:
        """The text given before in this run, as long as nothing that others said, and nothing it quotes, changes."""
        version = memory.version(
            user_id=self.user_id,
            agent_id=self.agent_id,
            exclude=question.exclude,
            exclude_runs=() if session_id is None else (session_id,),
        )
        before = self._recalled.get(asked)
        if before is not None and before.version == version and all(map(_stands(memory), before.own)):
            return before.text
        recalled = self._recall(memory, question)
        if recalled.text:
            own = tuple(item for item in recalled.turns if item.run_id == session_id)
            self._recalled.note(asked, _Given(recalled.text, version, own), most=_SESSIONS)
        return recalled.text

    def _recall(self, memory: Memory, question: _Question) -> Recalled:
        recalled = recall(
            memory,
            question.query,
            user_id=self.user_id,
            agent_id=self.agent_id,
            budget=question.budget,
            exclude=question.exclude,
            tag=self.name,
        )
        if recalled.text:
            self._questions.note(hash(recalled.text), question, most=_TEXTS)
        return recalled

    def _shorten(self, memory: Memory, content: str, question: _Question, tokens: int) -> str | None:
        count = self.tokenizer_fn or get_tokenizer()
        most = len(count(content)) - tokens
        budget = min(question.budget, memory.counter(content)) - tokens
        for _ in range(_ATTEMPTS):
            text = self._recall(memory, question._replace(budget=budget)).text
            if not text or (over := len(count(text)) - most) <= 0:
                return text or None
            budget -= over
        return None

    def _session(self, memory: Memory, session_id: str | None) -> Transcript:
        return Transcript(memory, user_id=self.user_id, agent_id=self.agent_id, session_id=session_id)

    async def _attempt(self, stage: str, work: Callable[[Memory], T], otherwise: T) -> T:
        """Do some work; if it fails, go on without, with one warning until it works again."""
        try:
            done = await self._engine.run(work)
        except Exception as error:
            if self.on_error == "raise":
                raise
            if not self._failing:
                logger.warning("%s could not %s (%s); going on without", self.name, stage, type(error).__name__)
            self._failing.add(stage)
            return otherwise
        self._failing.discard(stage)
        return done


def _stands(memory: Memory) -> Callable[[MemoryItem], bool]:
    """Tells whether a turn is stored as it was."""

    def stands(item: MemoryItem) -> bool:
        stored = memory.get(item.id)
        return stored is not None and (stored.content, stored.role) == (item.content, item.role)

    return stands


def last_question(messages: Sequence[ChatMessage]) -> str:
    """The text of the last user message, without what was recalled into it."""
    for message in reversed(messages):
        if message.role.value == "user":
            texts = [block.text for block in message.blocks if isinstance(block, TextBlock)]
            return "\n".join(text for text in texts if not is_recalled(text))
    return ""


def _without_session(message: ChatMessage, session_id: str | None) -> ChatMessage:
    """``message`` without the session's id that other blocks write into the messages they share."""
    extras = message.additional_kwargs
    if "session_id" not in extras or extras["session_id"] != session_id:
        return message
    return message.model_copy(
        update={"additional_kwargs": {name: extra for name, extra in extras.items() if name != "session_id"}}
    )
