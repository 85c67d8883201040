"""What all four Mem0 classes do, over our memory: turns kept word for word, history and expiry in side records."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from llmslim_memory.errors import UnsupportedError
from llmslim_memory.mem0.exceptions import MemoryNotFoundError, ValidationError
from llmslim_memory.mem0.filters import compile_filter
from llmslim_memory.mem0.items import OWN, Said, as_dict, clean_metadata, expiration, own, payload
from llmslim_memory.mem0.scope import IDS, Asked
from llmslim_memory.memory import Memory
from llmslim_memory.texts import check_content
from llmslim_memory.times import parse_time
from llmslim_memory.types import Batch, Edit, MemoryContext, MemoryItem, Record, Scope, SupportsRecords

HISTORY = "mem0.history"
EXPIRY = "mem0.expiry"
BATCH = 500
UNSET: Any = object()
_TOGETHER = Asked({"user_id": "one"})


@dataclass(frozen=True, slots=True)
class Found:
    """A memory and how well it answers, 0 to 1; ``None`` where nothing was asked."""

    item: MemoryItem
    score: float | None = None


class Engine:
    """Mem0's operations on one memory, which must keep side records."""

    def __init__(self, memory: Memory) -> None:
        if not isinstance(memory.store, SupportsRecords):
            raise UnsupportedError(
                f"{type(memory.store).__name__} keeps no side records (SupportsRecords), which Mem0's history needs"
            )
        self.memory = memory
        self._records = memory.store

    def add(
        self,
        messages: Sequence[Said],
        ids: Mapping[str, str],
        *,
        metadata: Any = None,
        timestamp: Any = None,
        expiration_date: Any = None,
    ) -> list[MemoryItem]:
        """Store one memory a message, with its history, in one transaction."""
        data = clean_metadata(metadata)
        expires = expiration(expiration_date)
        stated = data.pop("created_at", None)
        said = timestamp if timestamp is not None else stated
        created = _now() if said is None else parse_time(said, "timestamp")
        kept = {"app_id": ids.get("app_id"), "expiration_date": expires}
        if timestamp is None and isinstance(stated, str):
            kept["created_at"] = stated
        items = [_item(message, ids, data, kept, created) for message in messages]
        for start in range(0, len(items), BATCH):
            part = items[start : start + BATCH]
            put = [_event(item, "ADD", None, item.content) for item in part]
            put += [_expiry(item, expires) for item in part if expires]
            self.memory.apply(Batch(add=part, put=put))
        return items

    def get(self, memory_id: str) -> MemoryItem | None:
        """The memory with this id."""
        return self.memory.get(memory_id) if memory_id.strip() else None

    def find(self, asked: Asked, *, most: int, show_expired: bool = False) -> list[Found]:
        """The memories that pass, oldest first."""
        return [Found(item) for item in self._passing(asked, show_expired=show_expired)][:most]

    def search(
        self,
        query: str,
        asked: Asked,
        *,
        most: int,
        threshold: float | None = None,
        show_expired: bool = False,
        now: Any = None,
    ) -> list[Found]:
        """The memories that answer best, best first; a threshold of 0 fills up with the newest of the rest."""
        if most == 0:
            return []
        found = self._ranked(query, asked, most, show_expired=show_expired, now=now)
        if threshold is None:
            return found
        if threshold > 0:
            return [hit for hit in found if hit.score is not None and hit.score >= threshold]
        seen = {hit.item.id for hit in found}
        rest = [item for item in self._passing(asked, show_expired=show_expired) if item.id not in seen]
        return [*found, *(Found(item, 0.0) for item in reversed(rest))][:most]

    def update(
        self, memory_id: str, *, text: str | None = None, metadata: Any = None, expiration_date: Any = UNSET
    ) -> MemoryItem:
        """Replace a memory's text, merge its metadata, set or clear its expiry; the old text stays in its history."""
        if text is None and metadata is None and expiration_date is UNSET:
            raise ValidationError("At least one of text, metadata, or expiration_date must be provided.")
        item = self._existing(memory_id)
        kept = dict(own(item))
        drop: list[tuple[str, str]] = []
        put: list[Record] = []
        if expiration_date is not UNSET:
            kept["expiration_date"] = expiration(expiration_date)
            drop, put = self._new_expiry(item, kept["expiration_date"])
        data = {**item.metadata, **clean_metadata(metadata), OWN: kept}
        content = None if text is None else check_content(text)
        put.append(_event(item, "UPDATE", item.content, item.content if content is None else content))
        self.memory.apply(Batch(edit=[Edit(item.id, content, data)], put=put, drop=drop))
        return self._existing(memory_id)

    def _new_expiry(self, item: MemoryItem, date: str | None) -> tuple[list[tuple[str, str]], list[Record]]:
        return ([(EXPIRY, item.id)], []) if date is None else ([], [_expiry(item, date)])

    def delete(self, memory_id: str, *, purge: bool = False) -> None:
        """Delete a memory; its history keeps its texts, unless it is purged."""
        if purge and self.memory.get(memory_id) is None and self.history(memory_id):
            self._forget_history(memory_id)
            return
        self._delete([self._existing(memory_id)], purge=purge)

    def delete_all(self, asked: Asked, *, purge: bool = False) -> int:
        """Delete the memories that pass; say how many."""
        items = self._passing(asked, show_expired=True)
        for start in range(0, len(items), BATCH):
            self._delete(items[start : start + BATCH], purge=purge)
        return len(items)

    def _delete(self, items: Sequence[MemoryItem], *, purge: bool) -> None:
        # Deleting a turn erases the records that are bound to it, so a history that is to stay is written again.
        put = [] if purge else [record for item in items for record in self._history_with_end(item)]
        self.memory.apply(Batch(delete=[item.id for item in items], put=put))

    def _history_with_end(self, item: MemoryItem) -> list[Record]:
        return [*self._records.records(HISTORY, group=item.id), _event(item, "DELETE", item.content, None)]

    def _forget_history(self, memory_id: str) -> None:
        rows = self._records.records(HISTORY, group=memory_id)
        self.memory.apply(Batch(drop=[(HISTORY, record.key) for record in rows]))

    def history(self, memory_id: str) -> list[dict[str, Any]]:
        """What happened to a memory, oldest first."""
        return [dict(record.value) for record in self._records.records(HISTORY, group=memory_id)]

    def reset(self) -> None:
        """Delete everything, history too."""
        for summary in self.memory.scopes():
            self.memory.delete_all(user_id=summary.user_id, agent_id=summary.agent_id, run_id=summary.run_id)
        for kind in (HISTORY, EXPIRY):
            rows = self._records.records(kind)
            self.memory.apply(Batch(drop=[(kind, record.key) for record in rows]))

    def _existing(self, memory_id: str) -> MemoryItem:
        item = self.get(memory_id)
        if item is None:
            raise MemoryNotFoundError(f"Memory with id {memory_id} not found. Please provide a valid 'memory_id'")
        return item

    def _passing(self, asked: Asked, *, show_expired: bool) -> list[MemoryItem]:
        passes = compile_filter({**asked.conditions, **_only_app(asked)})
        items = self._inside(asked)
        return [item for item in items if (show_expired or not _is_expired(item)) and passes(payload(item))]

    def _inside(self, asked: Asked) -> list[MemoryItem]:
        """The turns under the ids asked for, oldest first; a filter over several users' ids walks over all."""
        ids = {name: asked.ids.get(name) for name in IDS}
        if any(ids.values()):
            return self.memory.get_all(user_id=ids["user_id"], agent_id=ids["agent_id"], run_id=ids["run_id"])
        return sorted(self._everything(), key=lambda item: (item.created_at, item.seq))

    def _everything(self) -> Iterator[MemoryItem]:
        after: str | None = None
        while True:
            page = self.memory.scan(after=after, limit=BATCH)
            yield from page.items
            if (after := page.next) is None:
                return

    def _ranked(self, query: str, asked: Asked, most: int, *, show_expired: bool, now: Any) -> list[Found]:
        ids = {name: asked.ids.get(name) for name in IDS}
        if not any(ids.values()):
            return self._ranked_apart(query, self._passing(asked, show_expired=show_expired), most, now)
        exclude = self._excluded(asked, show_expired=show_expired)
        k = most
        while True:
            hits = self.memory.rank(
                query,
                user_id=ids["user_id"],
                agent_id=ids["agent_id"],
                run_id=ids["run_id"],
                k=k,
                exclude=exclude,
                now=now,
            )
            best: dict[str, Found] = {}
            for hit in hits:
                best.setdefault(hit.item.id, Found(hit.item, hit.score))
            if len(best) >= most or len(hits) < k:
                return list(best.values())[:most]
            k *= 2

    def _ranked_apart(self, query: str, items: Sequence[MemoryItem], most: int, now: Any) -> list[Found]:
        apart, originals = self._apart(items), {item.id: item for item in items}
        found = apart._ranked(query, _TOGETHER, most, show_expired=True, now=now)
        return [Found(originals[hit.item.id], hit.score) for hit in found]

    def _apart(self, items: Sequence[MemoryItem]) -> Engine:
        """The turns of several scopes as if they were one's, beside the store."""
        apart = Engine(Memory(encoding=self.memory.counter))
        apart.memory.restore([replace(item, user_id="one", agent_id=None, run_id=None) for item in items])
        return apart

    def context(
        self, query: str, asked: Asked, *, budget: int, show_expired: bool = False, now: Any = None
    ) -> MemoryContext:
        """What answers a question within a token budget, from the memories that pass."""
        ids = {name: asked.ids.get(name) for name in IDS}
        if not any(ids.values()):
            apart = self._apart(self._passing(asked, show_expired=show_expired))
            return apart.context(query, _TOGETHER, budget=budget, show_expired=True, now=now)
        return self.memory.search(
            query,
            user_id=ids["user_id"],
            agent_id=ids["agent_id"],
            run_id=ids["run_id"],
            budget=budget,
            exclude=self._excluded(asked, show_expired=show_expired),
            now=now,
        )

    def _excluded(self, asked: Asked, *, show_expired: bool) -> list[str]:
        scope = Scope(asked.ids.get("user_id"), asked.ids.get("agent_id"), asked.ids.get("run_id"))
        if asked.conditions or "app_id" in asked.ids:
            passing = {item.id for item in self._passing(asked, show_expired=show_expired)}
            return [item.id for item in self._inside(asked) if item.id not in passing]
        if show_expired:
            return []
        today = _now().date().isoformat()
        return [r.key for r in self._records.records(EXPIRY, scope=scope) if str(r.value["date"]) < today]


def _only_app(asked: Asked) -> dict[str, Any]:
    return {"app_id": asked.ids["app_id"]} if "app_id" in asked.ids else {}


def _is_expired(item: MemoryItem) -> bool:
    date = own(item).get("expiration_date")
    return isinstance(date, str) and date < _now().date().isoformat()


def _item(
    said: Said, ids: Mapping[str, str], data: Mapping[str, Any], kept: Mapping[str, Any], created: datetime
) -> MemoryItem:
    fields = {**kept, "actor_id": said.name, "message": said.raw}
    return MemoryItem(
        id=str(uuid4()),
        role=said.role,
        content=said.text,
        created_at=created,
        user_id=ids.get("user_id"),
        agent_id=ids.get("agent_id"),
        run_id=ids.get("run_id"),
        metadata={**data, OWN: {name: value for name, value in fields.items() if value is not None}},
    )


def _event(item: MemoryItem, event: str, old: str | None, new: str | None) -> Record:
    shown = as_dict(item)
    key = str(uuid4())
    row = {
        "id": key,
        "memory_id": item.id,
        "old_memory": old,
        "new_memory": new,
        "event": event,
        "created_at": shown["created_at"],
        "updated_at": shown["created_at"] if event == "ADD" else _now().isoformat(),
        "is_deleted": event == "DELETE",
        "actor_id": own(item).get("actor_id"),
        "role": item.role,
    }
    return Record(HISTORY, key, row, group=item.id, item_id=item.id, **Scope(*_ids(item)).ids())


def _expiry(item: MemoryItem, date: str | None) -> Record:
    return Record(EXPIRY, item.id, {"date": date}, item_id=item.id, **Scope(*_ids(item)).ids())


def _ids(item: MemoryItem) -> tuple[str | None, str | None, str | None]:
    return item.user_id, item.agent_id, item.run_id


def _now() -> datetime:
    return datetime.now(UTC)
