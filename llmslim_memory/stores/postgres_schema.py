"""The tables of a PostgreSQL store, the steps that create them, and the check that they are ours and not newer."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import LiteralString

from psycopg import sql

from llmslim_memory.errors import InvalidValueError, SchemaError, StoreError
from llmslim_memory.stores.postgres_connections import Connection, Transaction

FORMAT = "llmslim-memory"
MAX_TABLE_CHARS = 48

MIGRATIONS: tuple[tuple[LiteralString, ...], ...] = (
    (
        "CREATE SEQUENCE {numbers}",
        # Ids sort by code point, as Python sorts them, whatever the database's language.
        """CREATE TABLE {turns} (
            seq BIGINT PRIMARY KEY DEFAULT nextval({numbers_name}),
            id TEXT COLLATE "C" NOT NULL CONSTRAINT {turns_id} UNIQUE,
            role TEXT NOT NULL,
            content TEXT NOT NULL,
            created_at TIMESTAMPTZ NOT NULL,
            updated_at TIMESTAMPTZ,
            user_id TEXT COLLATE "C",
            agent_id TEXT COLLATE "C",
            run_id TEXT COLLATE "C",
            metadata TEXT NOT NULL,
            edited BIGINT,
            changed xid8 NOT NULL DEFAULT pg_current_xact_id(),
            analysis_version INT,
            analysis BYTEA,
            encoding TEXT,
            tokens INT
        )""",
        "ALTER SEQUENCE {numbers} OWNED BY {turns}.seq",
        "CREATE INDEX {turns_user} ON {turns} (user_id, created_at, seq) WHERE user_id IS NOT NULL",
        "CREATE INDEX {turns_agent} ON {turns} (agent_id, created_at, seq) WHERE agent_id IS NOT NULL",
        "CREATE INDEX {turns_run} ON {turns} (run_id, created_at, seq) WHERE run_id IS NOT NULL",
        "CREATE INDEX {turns_user_changed} ON {turns} (user_id, changed) WHERE user_id IS NOT NULL",
        "CREATE INDEX {turns_agent_changed} ON {turns} (agent_id, changed) WHERE agent_id IS NOT NULL",
        "CREATE INDEX {turns_run_changed} ON {turns} (run_id, changed) WHERE run_id IS NOT NULL",
        """CREATE TABLE {deleted} (
            id TEXT COLLATE "C" PRIMARY KEY,
            changed xid8 NOT NULL DEFAULT pg_current_xact_id()
        )""",
        "CREATE INDEX {deleted_changed} ON {deleted} (changed)",
        """CREATE TABLE {records} (
            seq BIGINT GENERATED ALWAYS AS IDENTITY,
            kind TEXT COLLATE "C" NOT NULL,
            key TEXT COLLATE "C" NOT NULL,
            value TEXT NOT NULL,
            grp TEXT COLLATE "C",
            item_id TEXT COLLATE "C",
            user_id TEXT COLLATE "C",
            agent_id TEXT COLLATE "C",
            run_id TEXT COLLATE "C",
            PRIMARY KEY (kind, key)
        )""",
        "CREATE INDEX {records_grp} ON {records} (kind, grp) WHERE grp IS NOT NULL",
        "CREATE INDEX {records_item} ON {records} (item_id) WHERE item_id IS NOT NULL",
        "CREATE INDEX {records_user} ON {records} (user_id) WHERE user_id IS NOT NULL",
        "CREATE INDEX {records_agent} ON {records} (agent_id) WHERE agent_id IS NOT NULL",
        "CREATE INDEX {records_run} ON {records} (run_id) WHERE run_id IS NOT NULL",
    ),
)
"""What leads from each schema to the next; step and number commit together. Append only, and only what a process
of the release before can live with."""

_TABLES = {"turns": "", "meta": "_meta", "numbers": "_seq", "deleted": "_deleted", "records": "_records"}
_INDEXES = (
    *("turns_id", "turns_user", "turns_agent", "turns_run"),
    *("turns_user_changed", "turns_agent_changed", "turns_run_changed", "deleted_changed"),
    *("records_grp", "records_item", "records_user", "records_agent", "records_run"),
)

_LOOK: LiteralString = """
    SELECT to_regclass({turns_name}) IS NOT NULL,
           (SELECT array_agg(attname::text ORDER BY attnum) FROM pg_attribute
             WHERE attrelid = to_regclass({meta_name}) AND attnum > 0 AND NOT attisdropped),
           current_setting('server_encoding')"""
_READ_META: LiteralString = "SELECT key, value FROM {meta}"
_CREATE_META: LiteralString = "CREATE TABLE {meta} (key TEXT PRIMARY KEY, value TEXT NOT NULL)"
_WRITE_META: LiteralString = """
    INSERT INTO {meta} (key, value) VALUES (%s, %s) ON CONFLICT (key) DO UPDATE SET value = EXCLUDED.value"""

# A dump restored into another cluster brings transaction ids from the future of this one; every one of its turns
# would count as changed until the cluster has caught up.
_NEWEST_IS_FROM_ELSEWHERE: LiteralString = """
    SELECT changed >= pg_snapshot_xmax(pg_current_snapshot()) FROM {turns} ORDER BY seq DESC LIMIT 1"""
_ADOPT: tuple[LiteralString, ...] = (
    "UPDATE {turns} SET changed = DEFAULT WHERE changed >= pg_snapshot_xmax(pg_current_snapshot())",
    "UPDATE {deleted} SET changed = DEFAULT WHERE changed >= pg_snapshot_xmax(pg_current_snapshot())",
)


@dataclass(frozen=True, slots=True)
class Tables:
    """The names of one store's tables, put into statements.

    Args:
        name: The table of the turns; letters, digits and underscores.
    """

    name: str

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", self.name):
            raise InvalidValueError(
                f"table {self.name!r} may hold only letters, digits and underscores, no digit first"
            )
        if len(self.name) > MAX_TABLE_CHARS:
            raise InvalidValueError(f"table {self.name!r} is longer than {MAX_TABLE_CHARS} characters")

    def fill(self, statement: LiteralString) -> bytes:
        """``statement`` with every ``{name}`` in it replaced by the quoted name."""
        tables = {key: sql.Identifier(self.name + suffix) for key, suffix in _TABLES.items()}
        indexes = {key: sql.Identifier(self.name + "_" + key.removeprefix("turns_")) for key in _INDEXES}
        literals = {f"{key}_name": sql.Literal(f'"{self.name}{suffix}"') for key, suffix in _TABLES.items()}
        return sql.SQL(statement).format(**tables, **indexes, **literals).as_bytes()

    @property
    def lock(self) -> int:
        """The advisory lock that guards creating and changing these tables."""
        digest = hashlib.blake2b(f"{FORMAT}:{self.name}".encode(), digest_size=8).digest()
        return int.from_bytes(digest, "big", signed=True)


def prepare(connection: Connection, tables: Tables) -> None:
    """Create or upgrade the tables where that is needed; one process at a time does, the others wait.

    Raises:
        SchemaError: The tables are newer than this release, or another program's.
    """
    statement = Transaction(connection)
    if _version(statement, tables) == len(MIGRATIONS) and not _is_from_elsewhere(statement, tables):
        return
    with connection.transaction():
        statement.run(b"SET LOCAL statement_timeout = 0")
        statement.run(b"SELECT pg_advisory_xact_lock(%s)", [tables.lock])
        _migrate(statement, tables, _version(statement, tables))
        if _is_from_elsewhere(statement, tables):
            for adopt in _ADOPT:
                statement.run(tables.fill(adopt))


def _migrate(transaction: Transaction, tables: Tables, version: int) -> None:
    if version == 0:
        transaction.run(tables.fill(_CREATE_META))
        transaction.run(tables.fill(_WRITE_META), ["format", FORMAT])
    for number, step in enumerate(MIGRATIONS[version:], version + 1):
        for change in step:
            transaction.run(tables.fill(change))
        transaction.run(tables.fill(_WRITE_META), ["schema", str(number)])


def _is_from_elsewhere(statement: Transaction, tables: Tables) -> bool:
    newest = statement.run(tables.fill(_NEWEST_IS_FROM_ELSEWHERE))
    return bool(newest and newest[0][0])


def _version(statement: Transaction, tables: Tables) -> int:
    """The schema that is stored, 0 for none."""
    [(has_turns, meta_columns, encoding)] = statement.run(tables.fill(_LOOK))
    if encoding != "UTF8":
        raise StoreError(f"the database's encoding is {encoding}, which cannot hold every text: create it with UTF8")
    if meta_columns is None and not has_turns:
        return 0
    meta: dict[str, str] = dict(statement.run(tables.fill(_READ_META))) if meta_columns == ["key", "value"] else {}
    if meta.get("format") != FORMAT or not str(meta.get("schema")).isdecimal():
        raise SchemaError(f"table {tables.name!r} or its _meta table belongs to another program: pass another table=")
    version = int(meta["schema"])
    if version > len(MIGRATIONS):
        raise SchemaError(
            f"table {tables.name!r} has schema {version}; this release knows schemas up to {len(MIGRATIONS)}: upgrade"
            " llmslim-memory"
        )
    return version
