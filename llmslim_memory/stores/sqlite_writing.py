"""What one write transaction of a SQLite store does: turns, the log of changes, analyses, records."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence

from llmslim_memory.stores import base
from llmslim_memory.stores import sqlite_rows as rows
from llmslim_memory.types import Analysis, Edit, MemoryItem, Record, Scope

_RECORD_VALUES = ", ".join(
    f"{name} = excluded.{name}" for name in ("value", '"group"', "item_id", "user_id", "agent_id", "run_id")
)


class Write:
    """One write transaction. Everything written in it carries the same, next revision.

    SQLite has one writer at a time, so revisions and seqs are handed out in the order of commits.
    """

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._seq, last = db.execute("SELECT seq, revision FROM llmslim_counter").fetchone()
        self._revision = last + 1

    def finish(self) -> None:
        """Keep the counters; without this nothing was written."""
        self._db.execute("UPDATE llmslim_counter SET seq = ?, revision = ?", (self._seq, self._revision))

    def add(self, ids: Sequence[str], items: Sequence[MemoryItem], metadata: Sequence[str]) -> None:
        """Store new turns; raise if an id is known."""
        known = self._db.execute(
            "SELECT t.id FROM json_each(?) j CROSS JOIN llmslim_memory t ON t.id = j.value LIMIT 1",
            (rows.json_list(ids),),
        ).fetchone()
        if known is not None:
            raise base.duplicate_id(known[0])
        first = self._seq + 1
        self._seq += len(items)
        self._db.executemany(
            f"INSERT INTO llmslim_memory ({rows.TURN_ROW}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (rows.turn_row(item, seq, self._revision) for seq, item in enumerate(items, first)),
        )
        self._db.executemany(
            "INSERT INTO llmslim_content (seq, metadata, content) VALUES (?, ?, ?)",
            ((seq, text, item.content) for seq, (item, text) in enumerate(zip(items, metadata, strict=True), first)),
        )

    def edit(self, edit: Edit, metadata: str | None) -> bool:
        """Replace content, metadata or both; say whether the turn exists."""
        found = self._db.execute("SELECT seq FROM llmslim_memory WHERE id = ?", (edit.item_id,)).fetchone()
        if found is None or (edit.content is None and metadata is None):
            return found is not None
        seq = found[0]
        self._db.execute(
            "UPDATE llmslim_content SET content = coalesce(?, content), metadata = coalesce(?, metadata) WHERE seq = ?",
            (edit.content, metadata, seq),
        )
        if edit.content is not None:
            self._db.execute("DELETE FROM llmslim_analysis WHERE seq = ?", (seq,))
        self._db.execute(
            "UPDATE llmslim_memory SET updated_at = ?, revision = ? WHERE seq = ?",
            (rows.to_text(base.utc_now()), self._revision, seq),
        )
        self._db.execute(
            """INSERT INTO llmslim_change (id, revision, deleted) VALUES (?, ?, 0)
            ON CONFLICT (id) DO UPDATE SET revision = excluded.revision""",
            (edit.item_id, self._revision),
        )
        return True

    def delete(self, ids: Sequence[str]) -> int:
        """Delete turns and what is kept beside them; say how many there were."""
        return self._delete("id IN (SELECT value FROM json_each(?))", [rows.json_list(ids)])

    def delete_scope(self, scope: Scope) -> int:
        """Delete the turns and the records of a scope; say how many turns there were."""
        condition, values = rows.in_scope(scope)
        self._db.execute(f"DELETE FROM llmslim_record WHERE {condition}", values)
        return self._delete(condition, values)

    def _delete(self, condition: str, values: Sequence[object]) -> int:
        self._db.execute(
            f"""INSERT INTO llmslim_change (id, revision, deleted)
            SELECT id, {self._revision}, 1 FROM llmslim_memory WHERE {condition}
            ON CONFLICT (id) DO UPDATE SET revision = excluded.revision, deleted = 1""",
            values,
        )
        self._db.execute(
            f"DELETE FROM llmslim_record WHERE item_id IN (SELECT id FROM llmslim_memory WHERE {condition})", values
        )
        return self._db.execute(f"DELETE FROM llmslim_memory WHERE {condition}", values).rowcount

    def claim(self, records: Iterable[Record]) -> None:
        """Write records that must not exist yet."""
        for record in records:
            name = (record.kind, record.key)
            if self._db.execute("SELECT 1 FROM llmslim_record WHERE kind = ? AND key = ?", name).fetchone():
                raise base.duplicate_record(*name)
            self.put([record])

    def put(self, records: Iterable[Record]) -> None:
        """Write records, each in the place of an older one of its kind and key."""
        self._db.executemany(
            f"""INSERT INTO llmslim_record ({rows.RECORD}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (kind, key) DO UPDATE SET {_RECORD_VALUES}""",
            (rows.record_row(record) for record in records),
        )

    def drop(self, names: Iterable[tuple[str, str]]) -> None:
        """Remove records by kind and key."""
        self._db.executemany("DELETE FROM llmslim_record WHERE kind = ? AND key = ?", names)

    def analyse(self, analyses: Mapping[str, Analysis]) -> None:
        """Keep analyses beside the turns that exist."""
        self._db.executemany(
            f"""INSERT OR REPLACE INTO llmslim_analysis ({rows.ANALYSIS_ROW})
            SELECT seq, ?, ?, ?, ? FROM llmslim_memory WHERE id = ?""",
            ((*rows.analysis_row(analysis), item_id) for item_id, analysis in analyses.items()),
        )
