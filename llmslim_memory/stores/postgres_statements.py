"""The statements of a PostgreSQL store. Values are parameters; only checked names are put into the text."""

from __future__ import annotations

from typing import LiteralString

from llmslim_memory.types import Scope

TURN: LiteralString = """id, role, content, created_at AT TIME ZONE 'UTC', seq, user_id, agent_id, run_id, metadata,
    updated_at AT TIME ZONE 'UTC'"""
"""A turn's columns in the order of ``MemoryItem``'s fields; times come back as UTC whatever the session's zone."""

# One statement is one transaction and one journey, whatever the number of turns.
ADD: LiteralString = """
    INSERT INTO {turns} (id, role, content, created_at, updated_at, user_id, agent_id, run_id, metadata,
                         analysis_version, analysis, encoding, tokens)
    SELECT id, role, content, created_at, updated_at, user_id, agent_id, run_id, metadata,
           analysis_version, analysis, encoding, tokens
      FROM unnest(%s::text[], %s::text[], %s::text[], %s::timestamptz[], %s::timestamptz[], %s::text[], %s::text[],
                  %s::text[], %s::text[], %s::int[], %s::bytea[], %s::text[], %s::int[])
           WITH ORDINALITY AS new (id, role, content, created_at, updated_at, user_id, agent_id, run_id, metadata,
                                   analysis_version, analysis, encoding, tokens, place)
     ORDER BY place"""

LIST: LiteralString = (
    "SELECT " + TURN + " FROM {turns} WHERE {scope}"
    " AND created_at >= COALESCE(%(since)s::timestamptz, '-infinity')"
    " AND created_at < COALESCE(%(until)s::timestamptz, 'infinity') ORDER BY created_at, seq"
)
FIND: LiteralString = (
    "SELECT "
    + TURN
    + """ FROM {turns} WHERE (%(user_ids)s::text[] IS NULL OR user_id = ANY(%(user_ids)s))
       AND (%(agent_ids)s::text[] IS NULL OR agent_id = ANY(%(agent_ids)s))
       AND (%(run_ids)s::text[] IS NULL OR run_id = ANY(%(run_ids)s))
       AND (%(roles)s::text[] IS NULL OR role = ANY(%(roles)s))
       AND created_at >= COALESCE(%(since)s::timestamptz, '-infinity')
       AND created_at < COALESCE(%(until)s::timestamptz, 'infinity')
       AND NOT EXISTS (SELECT FROM json_each(%(marks)s::json) AS k (mark, texts)
            WHERE position(mark IN metadata) = 0 OR NOT EXISTS (
                  SELECT FROM json_array_elements_text(texts) AS v (text) WHERE position(text IN metadata) > 0))
     ORDER BY created_at, seq"""
)
GET: LiteralString = "SELECT " + TURN + " FROM {turns} WHERE id = %s"
GET_MANY: LiteralString = "SELECT " + TURN + " FROM {turns} WHERE id = ANY(%s)"
FIND_IDS: LiteralString = "SELECT id FROM {turns} WHERE id = ANY(%s) LIMIT 1"

EDIT: LiteralString = (
    """
    UPDATE {turns} SET content = COALESCE(%(content)s::text, content),
           metadata = COALESCE(%(metadata)s::text, metadata),
           updated_at = %(now)s, edited = nextval({numbers_name}), changed = DEFAULT,
           analysis_version = CASE WHEN %(content)s::text IS NULL THEN analysis_version END,
           analysis = CASE WHEN %(content)s::text IS NULL THEN analysis END,
           encoding = CASE WHEN %(content)s::text IS NULL THEN encoding END,
           tokens = CASE WHEN %(content)s::text IS NULL THEN tokens END
     WHERE id = %(id)s RETURNING """
    + TURN
)

_BURY: LiteralString = """
    INSERT INTO {deleted} (id) SELECT id FROM gone ON CONFLICT (id) DO UPDATE SET changed = EXCLUDED.changed"""
DELETE: LiteralString = (
    """
    WITH gone AS (DELETE FROM {turns} WHERE id = ANY(%s) RETURNING id),
         erased AS (DELETE FROM {records} WHERE item_id IN (SELECT id FROM gone))"""
    + _BURY
)
DELETE_SCOPE: LiteralString = (
    """
    WITH gone AS (DELETE FROM {turns} WHERE {scope} RETURNING id),
         erased AS (DELETE FROM {records} WHERE item_id IN (SELECT id FROM gone)),
         of_scope AS (DELETE FROM {records} WHERE {scope})"""
    + _BURY
)

SCAN: LiteralString = "SELECT " + TURN + " FROM {turns} WHERE {scope} AND seq > %(after)s ORDER BY seq LIMIT %(limit)s"
SCOPES: LiteralString = """
    SELECT user_id, agent_id, run_id, count(*), min(created_at) AT TIME ZONE 'UTC', max(created_at) AT TIME ZONE 'UTC'
      FROM {turns} GROUP BY user_id, agent_id, run_id
     ORDER BY user_id NULLS FIRST, agent_id NULLS FIRST, run_id NULLS FIRST"""

_NEW_RECORDS: LiteralString = """
    INSERT INTO {records} (kind, key, value, grp, item_id, user_id, agent_id, run_id)
    SELECT kind, key, value, grp, item_id, user_id, agent_id, run_id
      FROM unnest(%s::text[], %s::text[], %s::text[], %s::text[], %s::text[], %s::text[], %s::text[], %s::text[])
           WITH ORDINALITY AS new (kind, key, value, grp, item_id, user_id, agent_id, run_id, place)
     ORDER BY place"""
CLAIM: LiteralString = _NEW_RECORDS
PUT: LiteralString = (
    _NEW_RECORDS
    + """
    ON CONFLICT (kind, key) DO UPDATE SET value = EXCLUDED.value, grp = EXCLUDED.grp, item_id = EXCLUDED.item_id,
       user_id = EXCLUDED.user_id, agent_id = EXCLUDED.agent_id, run_id = EXCLUDED.run_id"""
)
DROP: LiteralString = """
    DELETE FROM {records} WHERE (kind, key) IN (SELECT * FROM unnest(%s::text[], %s::text[]))"""
RECORDS: LiteralString = """
    SELECT kind, key, value, grp, item_id, user_id, agent_id, run_id FROM {records}
     WHERE kind = %(kind)s AND {scope}
       AND (%(keys)s::text[] IS NULL OR key = ANY(%(keys)s)) AND (%(group)s::text IS NULL OR grp = %(group)s)
     ORDER BY seq"""
TOMBSTONES: LiteralString = """
    SELECT id FROM {deleted}
     WHERE id = ANY(%(ids)s) AND NOT EXISTS (SELECT FROM {turns} WHERE {turns}.id = {deleted}.id)"""

KINDS: LiteralString = "SELECT DISTINCT kind FROM {records} ORDER BY kind"
DELETED_IDS: LiteralString = """
    SELECT id FROM {deleted}
     WHERE id > %(after)s AND NOT EXISTS (SELECT FROM {turns} WHERE {turns}.id = {deleted}.id)
     ORDER BY id LIMIT %(limit)s"""

# A sequence is not commit order, transaction ids with a snapshot are: whatever this snapshot cannot see yet has an id
# at or above its xmin, so the next question starts there, and hands over again some of what was there already.
CURSOR: LiteralString = """
    SELECT pg_snapshot_xmin(pg_current_snapshot())::text,
           ARRAY(SELECT id FROM {deleted} WHERE changed >= %s::text::xid8)"""
HEADS: LiteralString = """
    SELECT id, role, created_at AT TIME ZONE 'UTC', seq, user_id, agent_id, run_id, COALESCE(edited, seq),
           CASE WHEN analysis_version = %(version)s::int THEN analysis END,
           CASE WHEN encoding = %(encoding)s::text THEN tokens END
      FROM {turns} WHERE {scope}"""
HEADS_SINCE: LiteralString = HEADS + " AND changed >= %(after)s::text::xid8"

ANALYSE: LiteralString = """
    UPDATE {turns} SET analysis_version = new.version, analysis = new.data, encoding = new.encoding, tokens = new.tokens
      FROM unnest(%s::text[], %s::bigint[], %s::int[], %s::bytea[], %s::text[], %s::int[])
           AS new (id, revision, version, data, encoding, tokens)
     WHERE {turns}.id = new.id AND (new.revision IS NULL OR COALESCE(edited, seq) = new.revision)"""
"""Keep analyses beside turns that have the revision named, or whatever revision they have."""

_SCOPE_COLUMNS: dict[str, LiteralString] = {
    "user_id": "user_id = %(user_id)s",
    "agent_id": "agent_id = %(agent_id)s",
    "run_id": "run_id = %(run_id)s",
}


def within(scope: Scope | None) -> LiteralString:
    """The condition that a row lies in ``scope``; its ids are the parameters of the same names."""
    return " AND ".join(_SCOPE_COLUMNS[name] for name in ids_of(scope)) or "TRUE"


def ids_of(scope: Scope | None) -> dict[str, str]:
    """The parameters of :func:`within`."""
    return {} if scope is None else scope.given()
