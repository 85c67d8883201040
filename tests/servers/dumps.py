"""Stores as text: statements that make PostgreSQL tables again, and documents of MongoDB collections."""

from __future__ import annotations

from typing import Any

import psycopg
from pymongo.database import Database

NAME = "stored_memory"
SUFFIXES = ("", "_deleted", "_records", "_meta")


def postgres_statements(connection: psycopg.Connection[Any]) -> str:
    """What creates and fills the tables of a store, one statement a line, written from the server's own catalog."""
    lines = [f"CREATE SEQUENCE {NAME}_seq;"]
    for table in (NAME + suffix for suffix in SUFFIXES):
        lines.append(_create(connection, table))
        rows = connection.execute(f"SELECT row_to_json(t)::text FROM {table} t ORDER BY 1").fetchall()
        override = "OVERRIDING SYSTEM VALUE " if table.endswith("_records") else ""
        for (row,) in rows:
            lines.append(
                f"INSERT INTO {table} {override}SELECT * FROM json_populate_record(NULL::{table}, {_literal(row)});"
            )
    [(last,)] = connection.execute(f"SELECT last_value FROM {NAME}_seq").fetchall()
    lines += [f"SELECT setval('{NAME}_seq', {last});", f"ALTER SEQUENCE {NAME}_seq OWNED BY {NAME}.seq;"]
    query = "SELECT indexdef || ';' FROM pg_indexes WHERE tablename LIKE %s ORDER BY indexname"
    keys = "SELECT conindid::regclass::text FROM pg_constraint WHERE conindid <> 0"
    constrained = {name for (name,) in connection.execute(keys)}
    lines += [
        line
        for (line,) in connection.execute(query, [NAME + "%"])
        if line.split(" ON ")[0].split()[-1] not in constrained
    ]
    return "\n".join(lines)


def _create(connection: psycopg.Connection[Any], table: str) -> str:
    columns = connection.execute(
        """SELECT a.attname || ' ' || format_type(a.atttypid, a.atttypmod)
                  || CASE WHEN a.attcollation <> t.typcollation THEN ' COLLATE "C"' ELSE '' END
                  || CASE WHEN a.attidentity <> '' THEN ' GENERATED ALWAYS AS IDENTITY' ELSE '' END
                  || coalesce(' DEFAULT ' || pg_get_expr(d.adbin, d.adrelid), '')
                  || CASE WHEN a.attnotnull THEN ' NOT NULL' ELSE '' END
             FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid
             LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
            WHERE a.attrelid = %s::regclass AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum""",
        [table],
    ).fetchall()
    keys = connection.execute(
        """SELECT 'CONSTRAINT ' || conname || ' ' || pg_get_constraintdef(oid) FROM pg_constraint
            WHERE conrelid = %s::regclass AND contype IN ('p', 'u') ORDER BY conname""",
        [table],
    ).fetchall()
    return f"CREATE TABLE {table} ({', '.join(line for (line,) in columns + keys)});"


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def mongodb_documents(database: Database[Any]) -> dict[str, Any]:
    """Every document and index of a store's collections."""
    return {
        name: {
            "documents": list(database[name].find().sort("_id")),
            "indexes": [list(index["key"]) for index in database[name].index_information().values()],
        }
        for name in (NAME + suffix for suffix in SUFFIXES)
    }
