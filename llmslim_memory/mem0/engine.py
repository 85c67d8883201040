"""What all four Mem0 classes do, over our memory: turns kept word for word, history and expiry in side records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from llmslim_memory.errors import DuplicateIdError, InvalidTypeError, StoreUnavailableError, UnsupportedError
from llmslim_memory.mem0.exceptions import MemoryNotFoundError, ValidationError
from llmslim_memory.mem0.filters import compile_filter
from llmslim_memory.mem0.items import (
    IDENTITY,
    OWN,
    Said,
    as_dict,
    clean_metadata,
    expiration,
    is_expired,
    own,
    payload,
)
from llmslim_memory.mem0.narrowing import candidates, everything
from llmslim_memory.mem0.records import EXPIRY, HISTORY, KINDS, MESSAGE, change, event, expiry, history_rows
from llmslim_memory.mem0.records import message as note
from llmslim_memory.mem0.scope import HOSTED_IDS, IDS, Asked, stored_ids
from llmslim_memory.memory import Memory
from llmslim_memory.texts import check_content, clean_text
from llmslim_memory.times import parse_time
from llmslim_memory.types import (
    MAX_ID_CHARS,
    Applied,
    Batch,
    Edit,
    MemoryContext,
    MemoryItem,
    Record,
    Scope,
    SupportsRecords,
)
from llmslim_memory.writing import get_many

BATCH = 500
ATTEMPTS = 100
"""How often an update or a deletion begins again because another one came first."""
UNSET: Any = object()
_TOGETHER = Asked({"user_id": "one"})


@dataclass(frozen=True, slots=True)
class Found:
    """A memory and how well it answers, 0 to 1."""

    item: MemoryItem
    score: float = 0.0


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
        identity: frozenset[str] = IDENTITY,
    ) -> list[MemoryItem]:
        """Store one memory a message, with its history, in one transaction; what has no text is kept beside them."""
        data = clean_metadata(metadata, identity)
        expires = expiration(expiration_date)
        stated = data.pop("created_at", None)
        said = timestamp if timestamp is not None else stated
        created = _now() if said is None else parse_time(said, "timestamp")
        kept = {"app_id": ids.get("app_id"), "expiration_date": expires}
        if timestamp is None and isinstance(stated, str):
            kept["created_at"] = stated
        scope = Scope(**stored_ids(ids))
        pairs = [(message, _item(message, scope, data, kept, created)) for message in messages]
        items = [item for message, item in pairs if message.text.strip()]
        put = [event(item, "ADD", None, item.content, 0) for item in items]
        put += [expiry(item, expires) for item in items if expires]
        put += [note(said, scope, item.id if said.text.strip() else None) for said, item in pairs if said.whole]
        self.memory.apply(Batch(add=items, put=put))
        return items

    def get(self, memory_id: str) -> MemoryItem | None:
        """The memory with this id."""
        return self.memory.get(memory_id) if _check_id(memory_id) else None

    def message(self, memory_id: str) -> dict[str, Any] | None:
        """The message that a memory was said in, as it was given."""
        item = self.get(memory_id)
        if item is None:
            return None
        kept = self._records.records(MESSAGE, keys=[memory_id])
        if kept:
            return dict(kept[0].value["message"])
        name, said = own(item).get("actor_id"), self.history(memory_id)[0]["new_memory"]
        return {"role": item.role, "content": said} | ({"name": name} if name else {})

    def wholes(self, ids: Mapping[str, str]) -> list[dict[str, Any]]:
        """The messages of a scope that are more than their text, each with the id of its memory, if it has one."""
        return [dict(record.value) for record in self._records.records(MESSAGE, scope=Scope(**stored_ids(ids)))]

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
            return [hit for hit in found if hit.score >= threshold]
        seen = {hit.item.id for hit in found}
        rest = [item for item in self._passing(asked, show_expired=show_expired) if item.id not in seen]
        return [*found, *(Found(item) for item in reversed(rest))][:most]

    def update(
        self, memory_id: str, *, text: str | None = None, metadata: Any = None, expiration_date: Any = UNSET
    ) -> MemoryItem:
        """Replace a memory's text, merge its metadata, set or clear its expiry; the old text stays in its history."""
        if text is None and metadata is None and expiration_date is UNSET:
            raise ValidationError("At least one of text, metadata, or expiration_date must be provided.")
        content = None if text is None else check_content(text)
        more = clean_metadata(metadata)
        date = UNSET if expiration_date is UNSET else expiration(expiration_date)
        batch, applied = self._settled(lambda: self._update(memory_id, content, more, date))
        if not applied.edited:  # purged in between: what the batch wrote beside it tells of a memory that is no more
            self._drop([*batch.claim, *batch.put])
        return self._existing(memory_id)

    def _settled(self, plan: Callable[[], Batch]) -> tuple[Batch, Applied]:
        """Do what is planned, planned anew each time that others changed a memory in between."""
        for _ in range(ATTEMPTS):
            with suppress(DuplicateIdError):
                batch = plan()
                return batch, self.memory.apply(batch)
        raise StoreUnavailableError("the memories were changed by others each time they were to be: try again")

    def _update(self, memory_id: str, content: str | None, metadata: Mapping[str, Any], date: Any) -> Batch:
        """An update of a memory as it is now, which fails as a duplicate if another change comes between.

        It claims the next place in the memory's history, and the places taken are counted before the memory is read.
        """
        place = len(self._records.records(HISTORY, group=memory_id))
        item = self._existing(memory_id)
        kept = {**own(item), **({} if date is UNSET else {"expiration_date": date})}
        row = event(item, "UPDATE", item.content, item.content if content is None else content, place)
        edit = Edit(item.id, content, {**item.metadata, **metadata, OWN: kept})
        claim = [row, change(item, place)]
        if date is UNSET:
            return Batch(edit=[edit], claim=claim)
        drop, put = ([(EXPIRY, item.id)], []) if date is None else ([], [expiry(item, date)])
        return Batch(edit=[edit], claim=claim, put=put, drop=drop)

    def delete(self, memory_id: str, *, purge: bool = False) -> None:
        """Delete a memory; its history keeps its texts, unless it is purged, which a deleted one can be as well."""
        item = self.get(memory_id)
        if purge and item is None and (rows := self._records.records(HISTORY, group=memory_id)):
            self._drop(rows)
        else:
            self._delete([self._existing(memory_id).id], purge=purge)

    def delete_all(self, asked: Asked, *, purge: bool = False) -> int:
        """Delete the memories that pass; say how many."""
        deleted = 0
        for scope in _whole_scopes(asked):
            if purge:
                deleted += self.memory.delete_all(**scope.ids())
            self._drop(self._records.records(MESSAGE, scope=scope))
        items = self._passing(asked, show_expired=True)
        for start in range(0, len(items), BATCH):
            self._delete([item.id for item in items[start : start + BATCH]], purge=purge)
        return deleted + len(items)

    def _delete(self, memory_ids: Sequence[str], *, purge: bool) -> None:
        self._settled(lambda: self._deletion(memory_ids, purge=purge))

    def _deletion(self, memory_ids: Sequence[str], *, purge: bool) -> Batch:
        """A deletion of memories as they are now, which fails as a duplicate if another change comes between.

        Deleting a turn erases the records that are bound to it, so a history that is to stay is written again.
        """
        histories = {memory_id: self._records.records(HISTORY, group=memory_id) for memory_id in memory_ids}
        claim: list[Record] = []
        put: list[Record] = []
        drop: list[tuple[str, str]] = []
        items = get_many(self.memory.store, memory_ids)
        for item in items.values():
            rows = histories[item.id]
            changes = [change(item, place) for place in range(len(rows) + 1)]
            claim.append(changes[-1])
            drop += [(one.kind, one.key) for one in changes]
            put += [] if purge else [*rows, event(item, "DELETE", item.content, None, len(rows))]
        return Batch(delete=list(items), claim=claim, put=put, drop=drop)

    def _drop(self, rows: Sequence[Record]) -> None:
        if rows:
            self.memory.apply(Batch(drop=[(record.kind, record.key) for record in rows]))

    def history(self, memory_id: str) -> list[dict[str, Any]]:
        """What happened to a memory, oldest first."""
        item = self.get(memory_id)
        return history_rows(memory_id, self._records.records(HISTORY, group=memory_id), item)

    def reset(self) -> None:
        """Delete everything, history too."""
        for summary in self.memory.scopes():
            self.memory.delete_all(user_id=summary.user_id, agent_id=summary.agent_id, run_id=summary.run_id)
        for kind in KINDS:
            self._drop(self._records.records(kind))

    def totals(self) -> dict[tuple[str, str], int]:
        """How many memories each user, agent, run and app has, by kind and name."""
        counted = Counter(
            (name.removesuffix("_id"), shown[name])
            for shown in map(as_dict, everything(self.memory))
            for name in HOSTED_IDS
            if name in shown
        )
        return dict(sorted(counted.items()))

    def _existing(self, memory_id: str) -> MemoryItem:
        item = self.get(memory_id)
        if item is None:
            raise MemoryNotFoundError(f"Memory with id {memory_id} not found. Please provide a valid 'memory_id'")
        return item

    def _passing(self, asked: Asked, *, show_expired: bool) -> list[MemoryItem]:
        """The memories that pass, oldest first."""
        app = {"app_id": asked.ids["app_id"]} if "app_id" in asked.ids else {}
        passes = compile_filter({"AND": [app, asked.conditions]})
        return [
            item
            for item in candidates(self.memory, _store_ids(asked), asked.conditions)
            if (show_expired or not is_expired(item)) and passes(payload(item))
        ]

    def _ranked(self, query: str, asked: Asked, most: int, *, show_expired: bool, now: Any) -> list[Found]:
        ids = _store_ids(asked)
        if not ids:
            return self._ranked_apart(query, self._passing(asked, show_expired=show_expired), most, now)
        only, exclude = self._limits(asked, show_expired=show_expired)
        k = 2 * most
        while True:
            hits = self.memory.rank(query, **ids, k=k, only=only, exclude=exclude, now=now)
            best: dict[str, Found] = {}
            for hit in hits:
                if show_expired or not is_expired(hit.item):
                    best.setdefault(hit.item.id, Found(hit.item, hit.score))
            if len(best) >= most or len(hits) < k:
                # Of equal answers the latest may be what holds now, so it comes first.
                return sorted(best.values(), key=lambda hit: (hit.score, hit.item.created_at), reverse=True)[:most]
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
        ids = _store_ids(asked)
        if not ids:
            apart = self._apart(self._passing(asked, show_expired=show_expired))
            return apart.context(query, _TOGETHER, budget=budget, show_expired=True, now=now)
        only, exclude = self._limits(asked, show_expired=show_expired)
        while True:
            context = self.memory.search(query, **ids, budget=budget, only=only, exclude=exclude, now=now)
            late = set() if show_expired else {item.id for item in _shown(context) if is_expired(item)}
            if late <= exclude:
                return context
            exclude |= late

    def _limits(self, asked: Asked, *, show_expired: bool) -> tuple[set[str] | None, set[str]]:
        """Ids of the turns under the ids asked for that alone may be shown, if not any, and of those that may not."""
        if asked.conditions or "app_id" in asked.ids:
            return {item.id for item in self._passing(asked, show_expired=show_expired)}, set()
        if show_expired:
            return None, set()
        today = _now().date().isoformat()
        rows = self._records.records(EXPIRY, scope=Scope(**_store_ids(asked)))
        return None, {row.key for row in rows if str(row.value["date"]) < today}


def _check_id(memory_id: object) -> bool:
    if not isinstance(memory_id, str):
        raise InvalidTypeError(f"memory_id must be a string, not {type(memory_id).__name__}")
    return bool(memory_id.strip()) and len(memory_id) <= MAX_ID_CHARS and memory_id == clean_text(memory_id)


def _store_ids(asked: Asked) -> dict[str, Any]:
    return {name: asked.ids[name] for name in IDS if name in asked.ids}


def _whole_scopes(asked: Asked) -> list[Scope]:
    """The scope that is asked for as a whole, with all that is kept in it."""
    ids = asked.ids
    if asked.conditions or ("app_id" in ids and len(ids) > 1):
        return []
    return [Scope(**stored_ids(ids))]


def _shown(context: MemoryContext) -> Iterator[MemoryItem]:
    for turn in (*context.turns, *context.requests, *context.preferences, *context.conflicts):
        yield turn.item


def _item(said: Said, scope: Scope, data: Mapping[str, Any], kept: Mapping[str, Any], created: datetime) -> MemoryItem:
    fields = {**kept, "actor_id": said.name}
    return MemoryItem(
        id=str(uuid4()),
        role=said.role,
        content=said.text,
        created_at=created,
        metadata={**data, OWN: {name: value for name, value in fields.items() if value is not None}},
        **scope.ids(),
    )


def _now() -> datetime:
    return datetime.now(UTC)
