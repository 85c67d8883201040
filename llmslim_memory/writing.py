"""How drafts become stored turns: ids, conflicts, and one transaction for all that belongs together."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from hashlib import blake2b
from typing import Any
from uuid import uuid4

from llmslim_memory.errors import DuplicateIdError
from llmslim_memory.messages import Draft
from llmslim_memory.types import (
    Analysis,
    Batch,
    Edit,
    MemoryItem,
    MemoryStore,
    Scope,
    SupportsAnalysis,
    SupportsChanges,
    SupportsRecords,
)

ATTEMPTS = 5


def derive_id(source_id: str, scope: Scope) -> str:
    """The stored id of a message with an id of its own: the same for the same scope and source id, and for no other.

    Two users who use the same source id neither collide nor learn of each other.
    """
    named = json.dumps([scope.user_id, scope.agent_id, scope.run_id, source_id])
    return blake2b(named.encode(), digest_size=16).hexdigest()


def to_items(drafts: Sequence[Draft], scope: Scope, *, now: datetime, metadata: Mapping[str, Any]) -> list[MemoryItem]:
    """The turns that ``drafts`` become in ``scope``."""
    return [
        MemoryItem(
            id=uuid4().hex if draft.source_id is None else derive_id(draft.source_id, scope),
            role=draft.role,
            content=draft.content,
            created_at=draft.timestamp or now,
            user_id=scope.user_id,
            agent_id=scope.agent_id,
            run_id=scope.run_id,
            metadata={**metadata, **draft.metadata},
        )
        for draft in drafts
    ]


def get_many(store: MemoryStore, item_ids: Iterable[str]) -> dict[str, MemoryItem]:
    """The turns with these ids, in one call where the store can."""
    ids = list(dict.fromkeys(item_ids))
    if not ids:
        return {}
    if isinstance(store, SupportsChanges):
        return store.get_many(ids)
    return {item_id: item for item_id in ids if (item := store.get(item_id)) is not None}


@dataclass(slots=True)
class _Plan:
    """What has to be written so that the store holds the given turns."""

    add: dict[str, MemoryItem] = field(default_factory=dict)
    edit: dict[str, Edit] = field(default_factory=dict)


def store_items(
    store: MemoryStore,
    items: Sequence[MemoryItem],
    *,
    derived: frozenset[str],
    on_conflict: str,
    analyse: Callable[[str, str], Analysis],
    edits: Sequence[Edit] = (),
) -> frozenset[str]:
    """Write ``items`` and ``edits`` of other turns in one transaction and return the ids that are new.

    ``derived`` names the ids that may be stored already; ``on_conflict`` says what holds where the content differs.
    Another process may store the same id in between, so the plan is made anew when that happens.
    """
    known = [*items, *get_many(store, (edit.item_id for edit in edits if edit.content is not None)).values()]
    attempt = 1
    while True:
        plan = _plan(items, get_many(store, (i.id for i in items if i.id in derived)), on_conflict)
        try:
            write(store, Batch(add=list(plan.add.values()), edit=[*plan.edit.values(), *edits]), known, analyse)
        except DuplicateIdError:
            if not derived or attempt == ATTEMPTS:
                raise
            attempt += 1
        else:
            return frozenset(plan.add)


def as_stored(store: MemoryStore, items: Sequence[MemoryItem]) -> list[MemoryItem]:
    """``items`` as the store holds them now."""
    stored = get_many(store, (item.id for item in items))
    return [stored.get(item.id, item) for item in items]


def without_deleted(store: MemoryStore, items: Sequence[MemoryItem], derived: frozenset[str]) -> list[MemoryItem]:
    """``items`` without those that were stored under a derived id once and deleted since."""
    if not derived or not isinstance(store, SupportsRecords):
        return list(items)
    deleted = store.tombstones(list(derived))
    return [item for item in items if item.id not in deleted]


def _plan(items: Sequence[MemoryItem], stored: Mapping[str, MemoryItem], on_conflict: str) -> _Plan:
    plan = _Plan()
    for item in items:
        older = plan.add.get(item.id) or stored.get(item.id)
        edit = plan.edit.get(item.id)
        if older is None:
            plan.add[item.id] = item
        elif _same(item, older, edit, on_conflict):
            continue
        elif on_conflict == "error":
            raise DuplicateIdError(
                f"the turn {item.id} is stored already with other content: pass on_conflict='keep' to leave it "
                "or 'update' to replace it"
            )
        elif on_conflict == "update" and item.id in plan.add:
            plan.add[item.id] = item
        elif on_conflict == "update":
            plan.edit[item.id] = Edit(item.id, item.content, item.metadata)
    return plan


def _same(item: MemoryItem, older: MemoryItem, edit: Edit | None, on_conflict: str) -> bool:
    content, metadata = (older.content, older.metadata) if edit is None else (edit.content, edit.metadata)
    if (content, older.role) != (item.content, item.role):
        return False
    return on_conflict != "update" or metadata == item.metadata


def write(
    store: MemoryStore, batch: Batch, items: Sequence[MemoryItem], analyse: Callable[[str, str], Analysis]
) -> None:
    """Do the adds and edits of ``batch`` at once where the store can, else one after the other."""
    if not batch.add and not batch.edit:
        return
    if not isinstance(store, SupportsRecords):
        if batch.add:
            store.add(batch.add)
        for edit in batch.edit:
            store.update(edit.item_id, content=edit.content, metadata=edit.metadata)
        return
    store.apply(analysed(store, batch, items, analyse))


def analysed(
    store: MemoryStore, batch: Batch, items: Sequence[MemoryItem], analyse: Callable[[str, str], Analysis]
) -> Batch:
    """``batch`` with what is worked out about each text it writes; ``items`` tell the roles of edited turns."""
    if not isinstance(store, SupportsAnalysis):
        return batch
    roles = {item.id: item.role for item in items}
    analyses = {item.id: analyse(item.role, item.content) for item in batch.add}
    analyses |= {
        edit.item_id: analyse(roles[edit.item_id], edit.content)
        for edit in batch.edit
        if edit.content is not None and edit.item_id in roles
    }
    return replace(batch, analyses=analyses)
