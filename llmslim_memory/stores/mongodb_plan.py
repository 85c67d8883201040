"""A batch of writes, checked and laid out as MongoDB documents before anything is sent."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bson import Int64

from llmslim_memory.stores import base
from llmslim_memory.stores.mongodb_documents import (
    Document,
    analysis_fields,
    metadata_fields,
    record_fields,
    record_id,
    time_fields,
    turn_document,
)
from llmslim_memory.types import Batch, Edit


@dataclass(frozen=True, slots=True)
class Plan:
    """What to write, in the order of a batch's fields. Turns, edits and records still lack their numbers."""

    turns: Sequence[Document]
    edits: Sequence[tuple[str, Document]]
    analyses: Sequence[tuple[str, Document]]
    deleted: Sequence[str]
    claims: Sequence[Document]
    puts: Sequence[Document]
    drops: Sequence[str]

    @property
    def ids(self) -> list[str]:
        """The ids of the turns to add."""
        return [turn["_id"] for turn in self.turns]

    @property
    def touched(self) -> list[str]:
        """The ids of the turns to add or edit."""
        return self.ids + [item_id for item_id, _ in self.edits]

    @property
    def size(self) -> int:
        """How many numbers it needs: one for each turn, edit and record, one for all deletions."""
        return len(self.turns) + len(self.edits) + len(self.claims) + len(self.puts) + 1


def plan(batch: Batch) -> Plan:
    """Check ``batch`` and lay it out; raise for what cannot be stored."""
    new = set(base.check_new(batch.add))
    base.check_claims(batch.claim)
    puts = {(record.kind, record.key): record for record in batch.put}
    return Plan(
        turns=[turn_document(item, batch.analyses.get(item.id)) for item in batch.add],
        edits=[(base.check_edit(edit), _change(edit)) for edit in batch.edit],
        analyses=[(i, {"$set": analysis_fields(a)}) for i, a in batch.analyses.items() if i not in new],
        deleted=base.check_ids(batch.delete),
        claims=[{"_id": record_id(r.kind, r.key), **record_fields(r)} for r in batch.claim],
        puts=[{"_id": record_id(r.kind, r.key), **record_fields(r)} for r in puts.values()],
        drops=[record_id(kind, key) for kind, key in batch.drop],
    )


def numbered(documents: Sequence[Document], numbers: Iterator[int], *names: str) -> list[Document]:
    """Each document with the next number under each of ``names``."""
    return [{**document, **dict.fromkeys(names, Int64(next(numbers)))} for document in documents]


def _change(edit: Edit) -> Document:
    """The update of an edit; empty where it changes nothing."""
    if edit.content is None and edit.metadata is None:
        return {}
    fields: Document = time_fields("updated_at", "updated", base.utc_now())
    gone: Document = {}
    if edit.content is not None:
        fields["content"] = edit.content
        gone["analysis"] = ""
    if edit.metadata is not None:
        fields |= metadata_fields(edit.metadata)
        gone["metadata_json" if "metadata" in fields else "metadata"] = ""
    return {"$set": fields, **({"$unset": gone} if gone else {})}
