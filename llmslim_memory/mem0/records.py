"""What is kept beside a memory: what happened to it and in which order, when it expires, the message it was said in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import NAMESPACE_OID, uuid4, uuid5

from llmslim_memory.mem0.items import Said, as_dict, own
from llmslim_memory.types import MemoryItem, Record, Scope

HISTORY = "mem0.history"
EXPIRY = "mem0.expiry"
MESSAGE = "mem0.message"
CHANGE = "mem0.change"
KINDS = (HISTORY, EXPIRY, MESSAGE, CHANGE)


def event(item: MemoryItem, name: str, old: str | None, new: str | None, place: int) -> Record:
    """A row of a memory's history, at its place there, counted from 0."""
    created = as_dict(item)["created_at"]
    row = {
        "id": str(uuid4()),
        "memory_id": item.id,
        "old_memory": old,
        "new_memory": new,
        "event": name,
        "created_at": created,
        "updated_at": created if name == "ADD" else datetime.now(UTC).isoformat(),
        "is_deleted": name == "DELETE",
        "actor_id": own(item).get("actor_id"),
        "role": item.role,
    }
    return Record(HISTORY, f"{item.id}:{place}", row, group=item.id, item_id=item.id, **scope_of(item).ids())


def change(item: MemoryItem, place: int) -> Record:
    """What an update or a deletion claims that takes this place in a memory's history, so that only one can.

    A row of the history would go with its turn before it could be in the way of a deletion. This stays, and is for this
    life of the turn alone: one that comes back has another number.
    """
    return Record(CHANGE, f"{item.id}:{item.seq}:{place}", {}, **scope_of(item).ids())


def expiry(item: MemoryItem, day: str) -> Record:
    """The last day on which a memory is shown."""
    return Record(EXPIRY, item.id, {"date": day}, item_id=item.id, **scope_of(item).ids())


def message(said: Said, scope: Scope, item_id: str | None) -> Record:
    """A message that is more than its text; one without text belongs to no memory."""
    value = {"message": said.whole, "memory_id": item_id}
    return Record(MESSAGE, item_id or str(uuid4()), value, item_id=item_id, **scope.ids())


def history_rows(memory_id: str, kept: Sequence[Record], item: MemoryItem | None) -> list[dict[str, Any]]:
    """A memory's history, oldest first. One that came in another way (an import, our own API) has no row that says so:
    its first is worked out."""
    rows = [dict(record.value) for record in kept]
    if rows and rows[0]["event"] == "ADD":
        return rows
    first = _worked_out(memory_id, rows, item)
    return rows if first is None else [first, *rows]


def _worked_out(memory_id: str, rows: Sequence[Mapping[str, Any]], item: MemoryItem | None) -> dict[str, Any] | None:
    if rows:
        known = {**rows[0], "new_memory": rows[0]["old_memory"], "updated_at": rows[0]["created_at"]}
    elif item is not None:
        known = dict(event(item, "ADD", None, item.content, 0).value)
    else:
        return None
    key = str(uuid5(NAMESPACE_OID, memory_id))
    return {**known, "id": key, "old_memory": None, "event": "ADD", "is_deleted": False}


def scope_of(item: MemoryItem) -> Scope:
    """The ids that a memory is stored under."""
    return Scope(item.user_id, item.agent_id, item.run_id)
