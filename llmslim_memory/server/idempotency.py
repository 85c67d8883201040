"""Idempotency keys: the same request under the same key is done once, another one under it is refused."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import Any

from llmslim_memory.errors import DuplicateIdError, LLMSlimError
from llmslim_memory.types import Batch, MemoryStore, Record, ScopeIds, SupportsRecords

KIND = "http.idempotency"


class IdempotencyConflictError(LLMSlimError):
    """The key was used for another request."""


def claim(store: MemoryStore, key: str, scope: ScopeIds, request: str) -> None:
    """Bind ``key`` to this request in this scope, in the store, for every process; a store without records binds none.

    Raises:
        IdempotencyConflictError: It is bound to another request.
    """
    if not isinstance(store, SupportsRecords):
        return
    record = Record(KIND, _digest([*scope.values(), key]), {"request": _digest([request])}, **scope)
    try:
        store.apply(Batch(claim=[record]))
    except DuplicateIdError:
        bound = store.records(KIND, keys=[record.key])
        if bound and bound[0].value != record.value:
            raise IdempotencyConflictError("this Idempotency-Key was used for another request") from None


def named(messages: Sequence[Mapping[str, Any]], key: str, request: str) -> list[dict[str, Any]]:
    """The messages with ids that follow from key and request, where they have none: so the store keeps them single."""
    return [{"id": _digest([KIND, key, request, str(place)]), **message} for place, message in enumerate(messages)]


def _digest(parts: Sequence[object]) -> str:
    return blake2b(json.dumps(list(parts)).encode(), digest_size=16).hexdigest()
