"""Mem0's `Memory` and `AsyncMemory`: the same calls, over turns kept word for word."""

from __future__ import annotations

import logging
from collections.abc import Generator, Mapping
from types import SimpleNamespace
from typing import Any, Self

from llmslim_memory.errors import InvalidTypeError
from llmslim_memory.mem0.calls import check_memory_type, check_query, refuse_unknown, settle
from llmslim_memory.mem0.config import as_mapping, collection_name, note_ignored
from llmslim_memory.mem0.configs.base import MemoryConfig
from llmslim_memory.mem0.engine import UNSET, Found
from llmslim_memory.mem0.exceptions import UnsupportedFeatureError, ValidationError
from llmslim_memory.mem0.fronts import AsyncFront, Front, in_thread
from llmslim_memory.mem0.items import as_dict, own, read_messages
from llmslim_memory.mem0.scope import Asked, clean_id, ids_to_write
from llmslim_memory.types import MemoryItem

logger = logging.getLogger(__name__)

_INERT = ("embedding_model", "vector_store", "entity_store", "llm", "db")

_PROMPTS = ("custom_instructions", "custom_fact_extraction_prompt", "custom_update_memory_prompt")


def _validate_and_trim_entity_id(value: Any, name: str) -> str | None:
    # Imported by programs under this name.
    return clean_id(value, name, strict=True)


class Memory(Front):
    """Mem0's memory without a model: what is added is kept word for word, and found again by its words.

    Args:
        config: A Mem0 configuration (dict or ``MemoryConfig``); it only says where turns live.
        db: A path or URL, or a memory of ours to share, instead of what the configuration says.
        strict: Refuse what Mem0 2.x refuses: ids at top level of reads, ids with white space.

    Example:
        >>> from llmslim_memory.mem0 import Memory
        >>> memory = Memory(db=":memory:")
        >>> added = memory.add("I moved to Pune last month.", user_id="asha")
        >>> memory.search("Where do I live?", user_id="asha")["results"][0]["memory"]
        'I moved to Pune last month.'
    """

    api_version = "v1.1"
    enable_graph = False
    graph = None
    reranker = None

    def __init__(self, config: Any = None, *, db: Any = None, strict: bool = False) -> None:
        self.config = MemoryConfig() if config is None else config
        self.collection_name = collection_name(config)
        for name in _PROMPTS:
            setattr(self, name, as_mapping(config).get(name))
        self.strict = strict
        note_ignored(config)
        for name in _INERT:
            # Programs poke at these; here they hold nothing and do nothing.
            setattr(self, name, SimpleNamespace())
        super().__init__(config, db)
        self._told_infer = False

    @classmethod
    def from_config(cls, config_dict: Mapping[str, Any], **options: Any) -> Self:
        """A memory for a Mem0 configuration; nothing of it but the place has an effect."""
        if not isinstance(config_dict, Mapping):
            raise InvalidTypeError(f"from_config takes a dict, not {type(config_dict).__name__}")
        return cls(config_dict, **options)

    def add(
        self,
        /,
        messages: Any,
        *,
        user_id: Any = None,
        agent_id: Any = None,
        run_id: Any = None,
        metadata: Mapping[str, Any] | None = None,
        timestamp: Any = None,
        expiration_date: Any = None,
        infer: bool = True,
        memory_type: str | None = None,
        **extra: Any,
    ) -> dict[str, Any]:
        """Keep every message that has text as a memory of its own; ``infer`` changes nothing."""
        refuse_unknown("add", extra)
        check_memory_type(memory_type)
        ids = ids_to_write({"user_id": user_id, "agent_id": agent_id, "run_id": run_id}, strict=self.strict)
        if infer and not self._told_infer:
            self._told_infer = True
            logger.info("infer has no effect: turns are stored word for word, without a model")
        items = self._engine.add(
            read_messages(messages), ids, metadata=metadata, timestamp=timestamp, expiration_date=expiration_date
        )
        return {"results": [_added(item) for item in items]}

    def get(self, memory_id: str) -> dict[str, Any] | None:
        """A memory, or ``None``."""
        item = self._engine.get(memory_id)
        return None if item is None else as_dict(item, score=None)

    def get_all(
        self,
        /,
        *,
        filters: Mapping[str, Any] | None = None,
        top_k: int | None = None,
        show_expired: bool = False,
        allow_all: bool = False,
        **extra: Any,
    ) -> dict[str, Any]:
        """The memories of a scope that pass the filters, oldest first.

        ``allow_all`` is ours: with it ``"*"`` alone may name whose memories, which is everyone's.
        """
        reading = settle(
            "get_all", filters, top_k=top_k, threshold=None, extra=extra, strict=self.strict, allow_all=allow_all
        )
        found = self._engine.find(reading.asked, most=reading.most, show_expired=show_expired)
        return {"results": [as_dict(hit.item) for hit in found]}

    def search(
        self,
        /,
        query: str,
        *,
        top_k: int | None = None,
        filters: Mapping[str, Any] | None = None,
        threshold: float | None = None,
        rerank: bool = False,  # noqa: ARG002 - no reranker is configured, in Mem0 too
        explain: bool = False,
        show_expired: bool = False,
        reference_date: Any = None,
        token_budget: int | None = None,
        allow_all: bool = False,
        **extra: Any,
    ) -> dict[str, Any]:
        """The memories that answer best, scored 0 to 1.

        ``token_budget`` is ours: it adds ``"context"``, a :class:`~llmslim_memory.MemoryContext` with the text to show.
        So is ``allow_all``: with it ``"*"`` alone may name whose memories, which is everyone's.
        """
        asked_for = check_query(query)
        reading = settle(
            "search", filters, top_k=top_k, threshold=threshold, extra=extra, strict=self.strict, allow_all=allow_all
        )
        found = self._engine.search(
            asked_for,
            reading.asked,
            most=reading.most,
            threshold=reading.threshold,
            show_expired=show_expired,
            now=reference_date,
        )
        results = [_result(hit, reading.threshold, explain=explain) for hit in found]
        if token_budget is None:
            return {"results": results}
        context = self._engine.context(
            asked_for, reading.asked, budget=token_budget, show_expired=show_expired, now=reference_date
        )
        return {"results": results, "context": context}

    def update(
        self,
        memory_id: str,
        text: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        expiration_date: Any = UNSET,
        data: str | None = None,
    ) -> dict[str, str]:
        """Replace a memory's text, merge its metadata, set or clear its expiry."""
        if data is not None:
            logger.warning("update(data=...) is deprecated: pass text=")
        text = data if text is None else text
        self._engine.update(memory_id, text=text, metadata=metadata, expiration_date=expiration_date)
        return {"message": "Memory updated successfully!"}

    def delete(self, memory_id: str, *, purge: bool = False) -> dict[str, str]:
        """Delete a memory; with ``purge``, its history too."""
        self._engine.delete(memory_id, purge=purge)
        return {"message": "Memory deleted successfully!"}

    def delete_all(
        self, user_id: Any = None, agent_id: Any = None, run_id: Any = None, *, purge: bool = False
    ) -> dict[str, str]:
        """Delete all memories under these ids, joined by AND."""
        if user_id is None and agent_id is None and run_id is None:
            raise ValidationError(
                "At least one filter is required to delete all memories. If you want to delete all memories, "
                "use the `reset()` method.",
                "VALIDATION_001",
            )
        ids = ids_to_write({"user_id": user_id, "agent_id": agent_id, "run_id": run_id}, strict=self.strict)
        self._engine.delete_all(Asked(ids), purge=purge)
        return {"message": "Memories deleted successfully!"}

    def history(self, memory_id: str) -> list[dict[str, Any]]:
        """What happened to a memory, oldest first."""
        return self._engine.history(memory_id)

    def message(self, memory_id: str) -> dict[str, Any] | None:
        """The message that a memory was said in, as it was given: its images, tool calls and all. Ours, not Mem0's."""
        return self._engine.message(memory_id)

    def messages(self, *, user_id: Any = None, agent_id: Any = None, run_id: Any = None) -> list[dict[str, Any]]:
        """The messages of a scope that are more than their text, those without any text too, oldest first. Ours.

        Each comes as ``{"message": ..., "memory_id": ...}``; the id is ``None`` where there was no text.
        """
        ids = ids_to_write({"user_id": user_id, "agent_id": agent_id, "run_id": run_id}, strict=self.strict)
        return self._engine.wholes(ids)

    def reset(self) -> None:
        """Delete everything."""
        self._engine.reset()

    def chat(self, query: str) -> Any:  # noqa: ARG002 - Mem0's signature
        """Not in Mem0 either."""
        raise UnsupportedFeatureError("chat needs a model, and none is called here")

    @property
    def project(self) -> Any:
        """Mem0's service only."""
        return _Project()


class _Project:
    def update(self, **_settings: Any) -> Any:
        raise UnsupportedFeatureError("Project updates are not supported by the OSS Memory SDK.")


def _added(item: MemoryItem) -> dict[str, Any]:
    return {
        "id": item.id,
        "memory": item.content,
        "event": "ADD",
        "actor_id": own(item).get("actor_id"),
        "role": item.role,
    }


def _result(found: Found, threshold: float | None, *, explain: bool) -> dict[str, Any]:
    score = found.score
    if not explain:
        return as_dict(found.item, score=score)
    details = {
        "semantic_score": 0.0,
        "bm25_score": score,
        "entity_boost": 0.0,
        "raw_score": score,
        "max_possible_score": 1.0,
        "final_score": score,
        "threshold": threshold,
    }
    return as_dict(found.item, score=score, score_details=details)


class AsyncMemory(AsyncFront):
    """Mem0's `AsyncMemory`: the methods of `Memory` as coroutines, in worker threads."""

    api_version = Memory.api_version

    def __init__(self, config: Any = None, **options: Any) -> None:
        super().__init__(Memory(config, **options))

    @classmethod
    def from_config(cls, config_dict: Mapping[str, Any], **options: Any) -> Self:
        """A memory for a Mem0 configuration; may be awaited, as releases before 1.0.10 demanded."""
        if not isinstance(config_dict, Mapping):
            raise InvalidTypeError(f"from_config takes a dict, not {type(config_dict).__name__}")
        return cls(config_dict, **options)

    def __await__(self) -> Generator[Any, None, Self]:
        return self._itself().__await__()

    async def _itself(self) -> Self:
        return self

    add = in_thread(Memory.add)
    get = in_thread(Memory.get)
    get_all = in_thread(Memory.get_all)
    search = in_thread(Memory.search)
    update = in_thread(Memory.update)
    delete = in_thread(Memory.delete)
    delete_all = in_thread(Memory.delete_all)
    history = in_thread(Memory.history)
    message = in_thread(Memory.message)
    messages = in_thread(Memory.messages)
    reset = in_thread(Memory.reset)
