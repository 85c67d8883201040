"""Mem0's hosted client, answered by a memory on this machine: the same calls and shapes, no key, no network."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import uuid4

from llmslim_memory.errors import InvalidTypeError
from llmslim_memory.mem0.calls import IGNORED, RETIRED, check_query, count, settle
from llmslim_memory.mem0.client.types import as_arguments
from llmslim_memory.mem0.engine import UNSET
from llmslim_memory.mem0.exceptions import MemoryNotFoundError, UnsupportedFeatureError, ValidationError
from llmslim_memory.mem0.filters import ANY
from llmslim_memory.mem0.fronts import AsyncFront, Front, in_thread
from llmslim_memory.mem0.items import IDENTITY, as_dict, read_messages
from llmslim_memory.mem0.scope import HOSTED_IDS, Asked, ids_to_write, read_scope
from llmslim_memory.types import MemoryItem

logger = logging.getLogger(__name__)

SEARCH_COUNT = 10
PAGE_SIZE = 100
EVERYTHING = 10**9
_NO_EFFECT = (
    RETIRED
    | IGNORED
    | {
        "agent_custom_instructions",
        "fields",
        "immutable",
        "infer",
        "latest_only",
        "rerank",
        "structured_data_schema",
    }
)
_CLIENT_IDENTITY = IDENTITY | {"app_id"}
_SERVICE_ONLY = frozenset(
    {
        "create_memory_export",
        "get_memory_export",
        "get_summary",
        "get_profile",
        "get_profiles",
        "update_profile",
        "delete_profile",
        "feedback",
        "get_project",
        "update_project",
        "project",
        "get_webhooks",
        "create_webhook",
        "update_webhook",
        "delete_webhook",
        "chat",
    }
)


class MemoryClient(Front):
    """Mem0's `MemoryClient` over a local memory.

    Args:
        api_key: Ignored, as ``host`` and everything else that names a service.
        db: A path or URL, or a memory of ours to share.
    """

    def __init__(
        self,
        api_key: str | None = None,
        host: str | None = None,
        org_id: str | None = None,
        project_id: str | None = None,
        client: Any = None,
        *,
        organization: str | None = None,
        project: str | None = None,
        db: Any = None,
    ) -> None:
        given = (api_key, host, org_id, project_id, client, organization, project)
        if any(value is not None for value in given):
            logger.warning("the memory is on this machine: keys, hosts, organizations and projects have no effect")
        self.api_key = api_key
        self.host = host
        super().__init__(None, db)

    def __getattr__(self, name: str) -> Any:
        if name in _SERVICE_ONLY:
            return _ServiceOnly(name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def add(self, /, messages: Any, options: Any = None, **arguments: Any) -> Any:
        """Keep every message that has text; the answer has the shape of the service's."""
        given = as_arguments(options, arguments)
        filters = given.pop("filters", None) or {}
        ids = {name: given.pop(name, None) or filters.get(name) for name in HOSTED_IDS}
        metadata, timestamp, expires = (given.pop(n, None) for n in ("metadata", "timestamp", "expiration_date"))
        bare = _pop_bare(given)
        _refuse("add", given)
        items = self._engine.add(
            read_messages(messages),
            ids_to_write(ids),
            metadata=metadata,
            timestamp=timestamp,
            expiration_date=expires,
            identity=_CLIENT_IDENTITY,
        )
        results = [{"id": item.id, "memory": item.content, "event": "ADD"} for item in items]
        if bare:
            return results
        detailed = [{**result, "data": {"memory": result["memory"]}} for result in results]
        done = {"message": "Memories stored successfully", "status": "SUCCEEDED", "event_id": str(uuid4())}
        return {**done, "results": detailed}

    def search(self, /, query: str, options: Any = None, **arguments: Any) -> Any:
        """The memories that answer best."""
        given = as_arguments(options, arguments)
        filters = _with_metadata(given)
        show_expired, now = bool(given.pop("show_expired", False)), given.pop("reference_date", None)
        bare = _pop_bare(given)
        top_k, threshold = given.pop("top_k", given.pop("limit", None)), given.pop("threshold", None)
        allow_all = given.pop("allow_all", False)
        _drop_ineffective(given)
        wanted = SEARCH_COUNT if top_k is None else top_k
        reading = settle(
            "search", filters, top_k=wanted, threshold=threshold, extra=given, strict=False, allow_all=allow_all
        )
        found = self._engine.search(
            check_query(query),
            reading.asked,
            most=reading.most,
            threshold=reading.threshold,
            show_expired=show_expired,
            now=now,
        )
        results = [_hosted(hit.item, score=hit.score) for hit in found]
        return results if bare else {"results": results}

    def get_all(self, /, options: Any = None, **arguments: Any) -> Any:
        """The memories of a scope, a page at a time where ``page`` and ``page_size`` are given."""
        given = as_arguments(options, arguments)
        filters = _between(_with_metadata(given), given.pop("start_date", None), given.pop("end_date", None))
        page, size = (count(given.pop(name, None) or 0) for name in ("page", "page_size"))
        show_expired = bool(given.pop("show_expired", False))
        bare = _pop_bare(given)
        top_k = given.pop("top_k", given.pop("limit", None))
        allow_all = given.pop("allow_all", False)
        _drop_ineffective(given)
        reading = settle(
            "get_all", filters, top_k=EVERYTHING, threshold=None, extra=given, strict=False, allow_all=allow_all
        )
        found = [hit.item for hit in self._engine.find(reading.asked, most=EVERYTHING, show_expired=show_expired)]
        size = size or (PAGE_SIZE if top_k is None else count(top_k))
        place = page or 1
        start = (place - 1) * size
        shown = [_hosted(item) for item in found[start : start + size]]
        if bare and not page:
            return shown
        return {
            "count": len(found),
            "next": f"?page={place + 1}&page_size={size}" if start + size < len(found) else None,
            "previous": f"?page={place - 1}&page_size={size}" if place > 1 else None,
            "results": shown,
        }

    def get(self, memory_id: str) -> dict[str, Any]:
        """One memory."""
        item = self._engine.get(memory_id)
        if item is None:
            raise MemoryNotFoundError(f"Memory with id {memory_id} not found", "MEMORY_404")
        return _hosted(item)

    def update(self, /, memory_id: str, options: Any = None, **arguments: Any) -> dict[str, Any]:
        """Change a memory, and return it as it is now."""
        given = as_arguments({"text": options} if isinstance(options, str) else options, arguments)
        text, metadata = given.pop("text", given.pop("data", None)), given.pop("metadata", None)
        expires = given.pop("expiration_date", UNSET)
        given.pop("timestamp", None)
        _refuse("update", given)
        return _hosted(self._engine.update(memory_id, text=text, metadata=metadata, expiration_date=expires))

    def delete(
        self,
        memory_id: str,
        delete_linked: bool = False,  # noqa: ARG002 - nothing is linked
        *,
        purge: bool = False,
    ) -> dict[str, str]:
        """Delete one memory; with ``purge``, its history too."""
        self._engine.delete(memory_id, purge=purge)
        return {"message": "Memory deleted successfully!"}

    def delete_all(self, /, options: Any = None, **arguments: Any) -> dict[str, str]:
        """Delete the memories of a scope."""
        given = as_arguments(options, arguments)
        filters = given.pop("filters", None)
        ids = {name: given.pop(name) for name in HOSTED_IDS if name in given}
        purge = bool(given.pop("purge", False))
        _refuse("delete_all", given)
        asked = read_scope(ids, filters, "delete_all")
        if ANY in asked.conditions.values():
            raise ValidationError("'*' cannot be deleted: name whose memories go", "VALIDATION_001")
        self._engine.delete_all(asked, purge=purge)
        return {"message": "Memories deleted successfully!"}

    def history(self, memory_id: str) -> list[dict[str, Any]]:
        """What happened to a memory."""
        message = self._engine.message(memory_id)
        return [{**row, "input": [message] if message else []} for row in self._engine.history(memory_id)]

    def users(self) -> dict[str, Any]:
        """The users, agents, runs and apps that have memories."""
        results = [
            {"id": f"{kind}:{name}", "name": name, "type": kind, "total_memories": total}
            for (kind, name), total in self._engine.totals().items()
        ]
        return {"results": results, "count": len(results), "next": None, "previous": None}

    def delete_users(
        self,
        user_id: Any = None,
        agent_id: Any = None,
        app_id: Any = None,
        run_id: Any = None,
        *,
        purge: bool = False,
    ) -> dict[str, str]:
        """Delete all that belongs to one user, agent, app or run; to everyone, where none is named."""
        named = {"user_id": user_id, "agent_id": agent_id, "app_id": app_id, "run_id": run_id}
        if all(value is None for value in named.values()):
            self._engine.reset()
        else:
            self._engine.delete_all(Asked(ids_to_write(named)), purge=purge)
        return {"message": "Entity deleted successfully."}

    def reset(self) -> dict[str, str]:
        """Delete everything."""
        self._engine.reset()
        return {"message": "Client reset successful. All users and memories deleted."}

    def batch_update(self, memories: Sequence[Mapping[str, Any]]) -> dict[str, str]:
        """Change the text of several memories."""
        for memory in memories:
            self._engine.update(memory["memory_id"], text=memory.get("text"), metadata=memory.get("metadata"))
        return {"message": f"Successfully updated {len(memories)} memories"}

    def batch_delete(self, memories: Sequence[Mapping[str, Any]]) -> dict[str, str]:
        """Delete several memories."""
        for memory in memories:
            self._engine.delete(memory["memory_id"])
        return {"message": f"Successfully deleted {len(memories)} memories"}


class _ServiceOnly:
    """A part of Mem0's service: there to be asked for, and an error that says why once it is used."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __call__(self, *_args: Any, **_options: Any) -> Any:
        raise UnsupportedFeatureError(f"{self._name} is part of Mem0's service, and there is none here", "UNSUPPORTED")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _ServiceOnly(f"{self._name}.{name}")


def _pop_bare(given: dict[str, Any]) -> bool:
    """Whether the call asks for the lists that older releases returned."""
    return "v1.0" in (given.pop("output_format", None), given.pop("api_version", None)) or given.pop(
        "version", None
    ) in ("v1", "v2")


def _drop_ineffective(given: dict[str, Any]) -> None:
    for name in _NO_EFFECT & given.keys():
        logger.info("%s has no effect here", name)
        del given[name]


def _refuse(method: str, given: dict[str, Any]) -> None:
    _drop_ineffective(given)
    if given:
        raise InvalidTypeError(f"{method}() got an unexpected keyword argument {next(iter(given))!r}")


def _with_metadata(given: dict[str, Any]) -> dict[str, Any]:
    """The filters, with the conditions that stand beside them."""
    filters = dict(given.pop("filters", None) or {})
    metadata, categories = given.pop("metadata", None), given.pop("categories", None)
    more = [{"metadata": metadata}] if metadata else []
    more += [{"categories": {"in": categories}}] if categories else []
    return _and(filters, more)


def _and(filters: dict[str, Any], more: list[dict[str, Any]]) -> dict[str, Any]:
    return {**filters, "AND": [{"AND": filters.get("AND", [])}, *more]} if more else filters


def _between(filters: dict[str, Any], start: Any, end: Any) -> dict[str, Any]:
    window = {name: value for name, value in (("gte", start), ("lte", end)) if value is not None}
    return _and(filters, [{"created_at": window}] if window else [])


def _hosted(item: MemoryItem, **more: Any) -> dict[str, Any]:
    shown = as_dict(item, **more)
    return {
        **dict.fromkeys((*HOSTED_IDS, "categories", "expiration_date")),
        **shown,
        "session_id": shown.get("run_id"),
        "metadata": shown["metadata"] or {},
    }


class AsyncMemoryClient(AsyncFront):
    """Mem0's `AsyncMemoryClient`: the methods of `MemoryClient` as coroutines."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(MemoryClient(*args, **options))

    add = in_thread(MemoryClient.add)
    search = in_thread(MemoryClient.search)
    get_all = in_thread(MemoryClient.get_all)
    get = in_thread(MemoryClient.get)
    update = in_thread(MemoryClient.update)
    delete = in_thread(MemoryClient.delete)
    delete_all = in_thread(MemoryClient.delete_all)
    history = in_thread(MemoryClient.history)
    users = in_thread(MemoryClient.users)
    delete_users = in_thread(MemoryClient.delete_users)
    reset = in_thread(MemoryClient.reset)
    batch_update = in_thread(MemoryClient.batch_update)
    batch_delete = in_thread(MemoryClient.batch_delete)
