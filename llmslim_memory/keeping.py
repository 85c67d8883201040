"""Keeping turns: written, read and deleted by id and scope, with the records beside them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from llmslim_memory.closing import Closing
from llmslim_memory.errors import InvalidTypeError, InvalidValueError, UnsupportedError
from llmslim_memory.indexing import ScopeIndexes
from llmslim_memory.messages import Message, read_messages
from llmslim_memory.options import (
    CONFLICT_RULES,
    check_choice,
    check_count,
    check_flag,
    check_ids,
)
from llmslim_memory.pacing import pace
from llmslim_memory.sharing import Shared
from llmslim_memory.stores import InMemoryStore, open_store
from llmslim_memory.texts import check_content, check_metadata
from llmslim_memory.times import parse_time
from llmslim_memory.tokens import TokenCounter, make_counter
from llmslim_memory.types import (
    Analysis,
    Applied,
    Batch,
    Edit,
    MemoryItem,
    MemoryStore,
    Page,
    Scope,
    ScopeSummary,
    SupportsRecords,
    SupportsScan,
    check_id,
)
from llmslim_memory.writing import (
    analysed,
    as_stored,
    derive_id,
    get_many,
    store_items,
    to_items,
    without_deleted,
    write,
)


class Keeper(Shared, Closing):
    """The part of :class:`~llmslim_memory.Memory` that writes, reads and deletes; its arguments are explained there."""

    def __init__(
        self,
        store: MemoryStore | str | Path | None,
        *,
        clock: Callable[[], datetime],
        encoding: str | Callable[[str], int],
        index_cache_bytes: int,
    ) -> None:
        if not callable(clock):
            raise InvalidTypeError(f"clock must be a function that returns a datetime, not {type(clock).__name__}")
        self._clock = clock
        self._counter = make_counter(encoding)
        self._owns_store = store is None or isinstance(store, str | Path)
        self._store = _open(store)
        self._indexes = ScopeIndexes(
            self._store, self._counter, cache_bytes=check_count("index_cache_bytes", index_cache_bytes)
        )

    @property
    def store(self) -> MemoryStore:
        """The store that the turns live in."""
        return self._store

    @property
    def counter(self) -> TokenCounter:
        """What counts tokens here."""
        return self._counter

    def close(self) -> None:
        """Close the store if it was opened here; a store that was passed in stays open."""
        close = getattr(self._store, "close", None)
        if self._owns_store and close is not None:
            close()

    @staticmethod
    def item_id(
        source_id: str, *, user_id: str | None = None, agent_id: str | None = None, run_id: str | None = None
    ) -> str:
        """The id under which a message with its own id is stored in this scope."""
        return derive_id(check_id("source_id", source_id), Scope(user_id, agent_id, run_id))

    def add(
        self,
        messages: Message | Sequence[Message],
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        timestamp: Any = None,
        metadata: Mapping[str, Any] | None = None,
        on_conflict: str = "error",
        keep_original: bool = False,
        revive: bool = True,
        edits: Sequence[Edit] = (),
    ) -> list[MemoryItem]:
        """Store turns word for word and return them as stored: all of them, or none.

        Args:
            messages: A message or a list: mappings or objects with ``role`` and ``content`` (text, or a list of
                content blocks whose text is kept, with a short placeholder for what is not text), and optionally
                ``timestamp``, ``metadata`` and ``id``. A message with an ``id`` is stored once, however often it is
                added to the same scope.
            user_id: The person; at least one of the three ids is required.
            agent_id: The agent.
            run_id: The session.
            timestamp: When messages without a time of their own were said; now, unless given. Aware or naive (taken
                as UTC) datetime, epoch seconds, or ISO-8601 text.
            metadata: JSON data of your own, kept with each turn; a message's own metadata goes over it.
            on_conflict: What holds when an id is stored already with other content: ``"error"`` raises, ``"keep"``
                keeps what is stored, ``"update"`` replaces it (its metadata too).
            keep_original: Keep content that is not plain text, as it was, in the turn's metadata under ``"original"``.
            revive: Whether a message whose turn was deleted is stored again; ``False`` leaves it out, for programs that
                hand over the same messages again and again.
            edits: Changes to stored turns that belong to what is added: one transaction makes both (a store without
                ``SupportsRecords`` adds first). Edits of unknown ids do nothing.

        Raises:
            ValueError, TypeError: A message cannot be stored; nothing was.
            DuplicateIdError: See ``on_conflict``; nothing was stored.
            StoreError: The database failed; nothing was stored.
        """
        scope = Scope(user_id, agent_id, run_id)
        check_choice("on_conflict", on_conflict, CONFLICT_RULES)
        drafts = read_messages(messages, keep_original=check_flag("keep_original", keep_original))
        said = self._now() if timestamp is None else parse_time(timestamp)
        items = to_items(drafts, scope, now=said, metadata=check_metadata({} if metadata is None else metadata))
        derived = frozenset(item.id for item, draft in zip(items, drafts, strict=True) if draft.source_id is not None)
        if not check_flag("revive", revive):
            items = without_deleted(self._store, items, derived)
        with pace.writing():
            store_items(
                self._store,
                items,
                derived=derived,
                on_conflict=on_conflict,
                analyse=self._indexes.analyse,
                edits=[_checked(edit) for edit in edits],
            )
            return as_stored(self._store, items)

    def restore(
        self, items: Sequence[MemoryItem], *, analyse: Callable[[str, str], Analysis] | None = None
    ) -> list[MemoryItem]:
        """Store turns that have their ids already, of any scopes, in one transaction; return those that are new.

        For exports read back, imports and copies: ids, times and ``updated_at`` stay, ``seq`` is given anew, and what
        is stored already under an id stays as it is. Items are taken as they are: check untrusted ones before.
        ``analyse`` gives what is kept beside a turn of a role and content, where that is worked out elsewhere.
        """
        new = store_items(
            self._store,
            items,
            derived=frozenset(item.id for item in items),
            on_conflict="keep",
            analyse=analyse or self._indexes.analyse,
        )
        return [item for item in items if item.id in new]

    def apply(self, batch: Batch) -> Applied:
        """Do several writes, side records included, in one transaction; for adapters and programs that keep records.

        Turns, texts and metadata are taken as they are, and so are their ids: clean and check untrusted ones before.

        Raises:
            DuplicateIdError: An id to add is stored already, or a record to claim exists; nothing was written.
            UnsupportedError: The store keeps no records (``SupportsRecords``).
        """
        if not isinstance(self._store, SupportsRecords):
            raise UnsupportedError(
                f"{type(self._store).__name__} keeps no side records: give it apply(), records() and tombstones() "
                "(SupportsRecords)"
            )
        edited = get_many(self._store, (edit.item_id for edit in batch.edit if edit.content is not None))
        with pace.writing():
            return self._store.apply(analysed(self._store, batch, list(edited.values()), self._indexes.analyse))

    def update(
        self, memory_id: str, content: str | None = None, *, metadata: Mapping[str, Any] | None = None
    ) -> MemoryItem | None:
        """Correct a stored turn's text, its metadata, or both; return it, or ``None`` if there is no such id.

        Raises:
            ValueError, TypeError: Neither is given, or one cannot be stored.
        """
        if content is None and metadata is None:
            raise InvalidValueError("nothing to update: pass content, metadata, or both")
        edit = _checked(Edit(memory_id, content, metadata))
        with pace.writing():
            item = self._store.get(edit.item_id)
            if item is None:
                return None
            write(self._store, Batch(edit=[edit]), [item], self._indexes.analyse)
            return self._store.get(edit.item_id)

    def delete(self, memory_id: str) -> bool:
        """Delete one turn and all that is kept beside it; say whether it existed."""
        item_id = check_id("memory_id", memory_id)
        with pace.writing():
            return self._store.delete(item_id)

    def delete_many(self, memory_ids: Sequence[str]) -> int:
        """Delete turns and all that is kept beside them, at once where the store can; say how many existed."""
        ids = sorted(check_ids("memory_ids", memory_ids))
        if isinstance(self._store, SupportsRecords):
            return self._store.apply(Batch(delete=ids)).deleted
        return sum(self._store.delete(item_id) for item_id in ids)

    def delete_all(self, *, user_id: str | None = None, agent_id: str | None = None, run_id: str | None = None) -> int:
        """Delete every turn of a scope and all that is kept beside them; say how many there were."""
        return self._store.delete_scope(Scope(user_id, agent_id, run_id))

    def prune(
        self,
        *,
        older_than: Any,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
    ) -> int:
        """Delete the turns of a scope that were said before a time, and say how many there were.

        Args:
            older_than: A time (turns before it go), or a timedelta back from now.
            user_id: The person; at least one of the three ids is required.
            agent_id: The agent.
            run_id: The session.
        """
        cut = self._now() - older_than if isinstance(older_than, timedelta) else parse_time(older_than, "older_than")
        old = [item.id for item in self._store.list(Scope(user_id, agent_id, run_id), until=cut)]
        return self.delete_many(old)

    def get(self, memory_id: str) -> MemoryItem | None:
        """The stored turn with this id, or ``None``."""
        return self._store.get(check_id("memory_id", memory_id))

    def get_all(
        self,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        since: Any = None,
        until: Any = None,
    ) -> list[MemoryItem]:
        """Every turn of a scope said at or after ``since`` and before ``until``, oldest first."""
        window = time_window(since, until)
        return self._store.list(Scope(user_id, agent_id, run_id), since=window[0], until=window[1])

    def scan(
        self,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        after: str | None = None,
        limit: int = 500,
    ) -> Page:
        """A page of turns in the order they were added: of a scope, or of everyone where no id is given."""
        named = any(value is not None for value in (user_id, agent_id, run_id))
        scope = Scope(user_id, agent_id, run_id) if named else None
        return self._scanner().scan(scope=scope, after=after, limit=check_count("limit", limit))

    def scopes(self) -> list[ScopeSummary]:
        """Every combination of ids that turns are stored under, with counts and times."""
        return self._scanner().scopes()

    def _now(self) -> datetime:
        return parse_time(self._clock(), "the clock's time")

    def _scanner(self) -> SupportsScan:
        if not isinstance(self._store, SupportsScan):
            raise UnsupportedError(
                f"{type(self._store).__name__} cannot list all it holds: give it scan() and scopes() (SupportsScan)"
            )
        return self._store


def utc_now() -> datetime:
    """What the clock says unless another is given."""
    return datetime.now(UTC)


def time_window(since: Any, until: Any) -> tuple[datetime | None, datetime | None]:
    """Both ends of a window, read as times."""
    return (
        None if since is None else parse_time(since, "since"),
        None if until is None else parse_time(until, "until"),
    )


def _checked(edit: Edit) -> Edit:
    return Edit(
        check_id("memory_id", edit.item_id),
        None if edit.content is None else check_content(edit.content),
        None if edit.metadata is None else check_metadata(edit.metadata),
    )


def _open(store: MemoryStore | str | Path | None) -> MemoryStore:
    if store is None:
        return InMemoryStore()
    if isinstance(store, str | Path):
        return open_store(store)
    missing = [name for name in ("add", "list", "get", "update", "delete", "delete_scope") if not hasattr(store, name)]
    if missing:
        raise InvalidTypeError(
            f"store must be a path, a URL, None, or have the methods of MemoryStore; {type(store).__name__} lacks "
            f"{', '.join(missing)}"
        )
    return store
