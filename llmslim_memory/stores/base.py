"""What every store does alike: single writes, JSON text, ids and limits checked, cursors read, duplicates named."""

from __future__ import annotations

import json
from abc import abstractmethod
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from llmslim_memory.closing import Closing
from llmslim_memory.errors import DuplicateIdError, InvalidTypeError, InvalidValueError, StoreClosedError
from llmslim_memory.types import Applied, Batch, Edit, MemoryItem, Record, Where, check_id


class BatchStore(Closing):
    """A store whose writes all go through :meth:`apply`, and which a ``with`` block closes."""

    @abstractmethod
    def apply(self, batch: Batch) -> Applied:
        """Do all of ``batch`` in one transaction, or none of it."""

    def add(self, items: Sequence[MemoryItem]) -> None:
        """Store new turns, all of them or none."""
        self.apply(Batch(add=items))

    def delete(self, item_id: str) -> bool:
        """Delete one turn with all that is kept beside it; say whether it existed."""
        return self.apply(Batch(delete=[item_id])).deleted == 1


def dump_json(value: Mapping[str, Any]) -> str:
    """Return ``value`` as JSON text in ASCII, which every database keeps as it is.

    Raises:
        InvalidValueError: It is not JSON data.
    """
    try:
        return json.dumps(dict(value), allow_nan=False, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidValueError(
            f"metadata and record values must be JSON data, and {type(error).__name__} says they are not"
        ) from error


def metadata_marks(where: Where) -> dict[str, list[str]]:
    """How the metadata that is wanted stands in what :func:`dump_json` writes: the keys, and the texts of each.

    A turn that meets the condition has the key and one of its texts; so may one that has them in other places.
    """
    return {
        f"{json.dumps(key)}:": [json.dumps(text) for text in sorted(texts)] for key, texts in where.metadata.items()
    }


def load_json(text: str) -> dict[str, Any]:
    """Return what :func:`dump_json` was given."""
    value: dict[str, Any] = json.loads(text)
    return value


def utc_now() -> datetime:
    """The time that ``updated_at`` gets."""
    return datetime.now(UTC)


def to_utc(moment: datetime) -> datetime:
    """Return ``moment`` in UTC; a naive one is taken as UTC."""
    if not isinstance(moment, datetime):
        raise InvalidTypeError(f"times must be datetimes, not {type(moment).__name__}")
    try:
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except OverflowError as error:
        raise InvalidValueError(f"{moment!r} lies outside the years 1 to 9999 in UTC") from error


def to_window(since: datetime | None, until: datetime | None) -> tuple[datetime | None, datetime | None]:
    """Both ends of a stretch of time in UTC."""
    return since and to_utc(since), until and to_utc(until)


def check_ids(item_ids: Iterable[str]) -> list[str]:
    """Return ``item_ids`` without repetitions; raise for one that cannot be an id."""
    return list(dict.fromkeys(check_id("item_id", item_id) for item_id in item_ids))


def check_limit(limit: int) -> int:
    """Return ``limit`` if a page can have that many turns, else raise."""
    if not isinstance(limit, int) or isinstance(limit, bool):
        raise InvalidTypeError(f"limit must be a whole number, not {type(limit).__name__}")
    if limit < 1:
        raise InvalidValueError(f"limit is {limit}: pass 1 or more")
    return limit


def bad_cursor(after: object) -> InvalidValueError:
    """The error for an ``after`` that the store did not give."""
    return InvalidValueError(f"after is {after!r}, which is no cursor of this store: pass one that it gave, or None")


def parse_cursor(after: str, parts: int = 1) -> tuple[int, ...]:
    """Return the numbers of a cursor like ``"17"`` or ``"17-4"``."""
    numbers = after.split("-") if isinstance(after, str) and len(after) < 60 else []
    if len(numbers) != parts or not all(number.isascii() and number.isdigit() for number in numbers):
        raise bad_cursor(after)
    return tuple(int(number) for number in numbers)


def check_new(items: Sequence[MemoryItem]) -> list[str]:
    """Return the ids of ``items``; raise if one is no turn that can be stored or an id stands there twice."""
    ids = [_check_turn(item) for item in items]
    if len(set(ids)) < len(ids):
        raise duplicate_id(next(item_id for item_id, n in Counter(ids).items() if n > 1))
    return ids


def _check_turn(item: MemoryItem) -> str:
    for name, value in (("user_id", item.user_id), ("agent_id", item.agent_id), ("run_id", item.run_id)):
        if value is not None:
            check_id(name, value)
    _check_text("role", item.role)
    _check_text("content", item.content)
    return check_id("id", item.id)


def _check_text(name: str, value: object) -> None:
    if not isinstance(value, str):
        raise InvalidTypeError(f"{name} must be text, not {type(value).__name__}")


def check_edit(edit: Edit) -> str:
    """Return the id of the turn to edit; raise if the edit cannot be stored."""
    if edit.content is not None:
        _check_text("content", edit.content)
    return check_id("item_id", edit.item_id)


def check_claims(records: Sequence[Record]) -> list[tuple[str, str]]:
    """Return the kind and key of ``records``; raise if a pair stands there twice."""
    names = [(record.kind, record.key) for record in records]
    if len(set(names)) < len(names):
        raise duplicate_record(*next(name for name, n in Counter(names).items() if n > 1))
    return names


def duplicate_id(item_id: str) -> DuplicateIdError:
    """The error for a turn whose id is taken."""
    return DuplicateIdError(f"the id {item_id!r} is stored already: give the turn another id, or update the stored one")


def duplicate_record(kind: str, key: str) -> DuplicateIdError:
    """The error for a record that was to be new and is not."""
    return DuplicateIdError(f"the {kind!r} record {key!r} exists already: put it to replace it")


def closed(store: object) -> StoreClosedError:
    """The error for a store used after ``close()``."""
    return StoreClosedError(f"this {type(store).__name__} was closed: open a new one")
