"""What only a PostgreSQL store has to get right."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime

import psycopg
import pytest
from psycopg.rows import dict_row
from psycopg_pool import ConnectionPool
from stores.samples import ASHA, ids, turn
from stores.workers import start_at_once

from llmslim_memory.errors import (
    DuplicateIdError,
    InvalidTypeError,
    InvalidValueError,
    SchemaError,
    StoreClosedError,
    StoreError,
    StoreUnavailableError,
)
from llmslim_memory.stores import postgres_schema
from llmslim_memory.stores.postgres import PostgresStore
from llmslim_memory.types import Batch, Edit, MemoryStore, Record, Scope

Open = Callable[..., PostgresStore]


@pytest.fixture
def store(open_postgres: Open) -> PostgresStore:
    return open_postgres()


@pytest.fixture
def admin(postgres_url: str) -> Iterator[psycopg.Connection]:
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        yield connection


@pytest.fixture
def own_admin(own_postgres_url: str, table: str) -> Iterator[psycopg.Connection]:
    """On the tests' own server, whose tables go with it."""
    with psycopg.connect(own_postgres_url, autocommit=True) as connection:
        yield connection


class TestOpening:
    @pytest.mark.parametrize("name", ["", "a-b", "a.b", 'a"b', "1a", "a b", "ä", "a;drop", "x" * 49])
    def test_a_table_name_of_other_characters_is_refused(self, postgres_url: str, name: str) -> None:
        with pytest.raises(InvalidValueError, match="table"):
            PostgresStore(postgres_url, table=name)

    def test_names_keep_their_case_and_the_longest_works(self, open_postgres: Open, postgres_url: str) -> None:
        name = "Order" + "x" * 43
        with open_postgres(table=name) as store:
            store.add([turn("a")])
            assert ids(store.list(ASHA)) == ["a"]
        with psycopg.connect(postgres_url, autocommit=True) as connection:
            connection.execute(f'DROP TABLE "{name}", "{name}_meta", "{name}_deleted", "{name}_records" CASCADE')

    def test_twenty_processes_can_start_at_once(self, postgres_url: str, table: str, open_postgres: Open) -> None:
        assert start_at_once("postgres", postgres_url, table, 20) == 0
        assert sorted(ids(open_postgres().list(ASHA)), key=int) == [str(number) for number in range(20)]

    def test_a_newer_schema_is_refused(self, store: PostgresStore, open_postgres: Open, admin, table: str) -> None:
        admin.execute(f"UPDATE {table}_meta SET value = '99' WHERE key = 'schema'")
        with pytest.raises(SchemaError, match=r"schema 99.*upgrade"):
            open_postgres()

    @pytest.mark.parametrize(
        "theirs",
        [
            "CREATE TABLE {t} (id INT); INSERT INTO {t} VALUES (1)",
            "CREATE TABLE {t}_meta (version INT); INSERT INTO {t}_meta VALUES (1)",
            "CREATE TABLE {t} (id INT); CREATE TABLE {t}_meta (key TEXT, value TEXT);"
            " INSERT INTO {t}_meta VALUES ('schema_version', '1')",
        ],
    )
    def test_a_table_of_another_program_is_refused_and_left_alone(
        self, open_postgres: Open, admin, table: str, theirs: str
    ) -> None:
        admin.execute(theirs.format(t=table))
        before = _tables(admin, table)
        with pytest.raises(SchemaError, match="another program"):
            open_postgres()
        assert _tables(admin, table) == before

    def test_a_role_that_may_not_create_tables_uses_those_that_exist(
        self, store: PostgresStore, open_postgres: Open, postgres_url: str, admin, table: str
    ) -> None:
        role = f"r_{table}"
        admin.execute(f"CREATE ROLE {role} LOGIN PASSWORD 'limited'")
        admin.execute(f"GRANT SELECT, INSERT, UPDATE, DELETE ON {table}, {table}_records, {table}_deleted TO {role}")
        admin.execute(f"GRANT SELECT ON {table}_meta TO {role}; GRANT USAGE ON SEQUENCE {table}_seq TO {role}")
        url = psycopg.conninfo.make_conninfo(postgres_url, user=role, password="limited")
        try:
            with open_postgres(conninfo=url) as limited:
                limited.add([turn("a"), turn("b")])
                limited.update("a", content="edited")
                limited.apply(Batch(delete=["b"], put=[Record("note", "1", {})], edit=[Edit("a", metadata={"x": 1})]))
                assert [item.content for item in limited.list(ASHA)] == ["edited"]
                assert limited.changes(ASHA).heads
                assert limited.delete_scope(ASHA) == 1
            with pytest.raises(StoreError, match="may not"):
                open_postgres(conninfo=url, table="t_elsewhere")
        finally:
            admin.execute(f"DROP OWNED BY {role}; DROP ROLE {role}")

    def test_an_old_process_works_on_after_a_newer_one_has_upgraded(
        self, store: PostgresStore, open_postgres: Open, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        store.add([turn("old")])
        step = ("ALTER TABLE {turns} ADD COLUMN mood TEXT",)
        with monkeypatch.context() as newer:
            newer.setattr(postgres_schema, "MIGRATIONS", (*postgres_schema.MIGRATIONS, step))
            upgraded = open_postgres()
            upgraded.add([turn("new")])
            store.add([turn("old too")])
            assert ids(store.list(ASHA)) == ids(upgraded.list(ASHA)) == ["old", "new", "old too"]
        with pytest.raises(SchemaError, match="schema 2"):
            open_postgres()

    def test_a_dump_restored_into_a_younger_cluster_does_not_count_as_changed_for_ever(
        self, store: PostgresStore, open_postgres: Open, admin, table: str
    ) -> None:
        store.add([turn("a"), turn("b")])
        store.delete("b")
        admin.execute(f"UPDATE {table} SET changed = '90000000000'; UPDATE {table}_deleted SET changed = '90000000000'")
        with open_postgres() as restored:
            seen = restored.changes(ASHA, after=restored.changes(ASHA).cursor)
            assert (list(seen.heads), list(seen.deleted)) == ([], [])
            assert restored.tombstones(["b"]) == {"b"}

    def test_a_database_that_cannot_hold_every_text_is_refused(self, postgres_url: str, admin) -> None:
        admin.execute("CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0 LOCALE 'C'")
        try:
            with pytest.raises(StoreError, match="LATIN1"):
                PostgresStore(psycopg.conninfo.make_conninfo(postgres_url, dbname="latin"))
        finally:
            admin.execute("DROP DATABASE latin WITH (FORCE)")


class TestConnections:
    def test_a_pool_that_was_passed_in_is_used_and_stays_open(
        self, open_postgres: Open, postgres_url: str, table: str
    ) -> None:
        odd = {"row_factory": dict_row, "options": "-c DateStyle=German -c TimeZone=America/New_York"}
        with ConnectionPool(postgres_url, kwargs=odd, min_size=1, open=True) as pool:
            store = open_postgres(conninfo=pool)
            first = datetime(1, 1, 1, tzinfo=UTC)
            last = datetime(9999, 12, 31, 23, 59, 59, 999999, tzinfo=UTC)
            store.add([turn("first", created_at=first), turn("last", created_at=last)])
            assert [item.created_at for item in store.list(ASHA)] == [first, last]
            store.close()
            with pytest.raises(StoreClosedError):
                store.get("first")
            with pool.connection() as connection:
                assert connection.execute(f"SELECT count(*) AS n FROM {table}").fetchone() == {"n": 2}

    def test_one_autocommit_connection_serves_many_threads(self, open_postgres: Open, admin) -> None:
        store = open_postgres(conninfo=admin)
        threads = [
            threading.Thread(target=store.apply, args=(Batch(add=[turn(f"{n}")], put=[Record("k", f"{n}", {})]),))
            for n in range(16)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(store.list(ASHA)) == len(store.records("k")) == 16
        store.close()
        assert not admin.closed

    def test_a_connection_outside_autocommit_is_refused(self, postgres_url: str) -> None:
        with psycopg.connect(postgres_url) as connection, pytest.raises(InvalidValueError, match="autocommit"):
            PostgresStore(connection)

    @pytest.mark.parametrize("source", [None, 5, b"postgresql://"])
    def test_anything_else_is_refused(self, source: object) -> None:
        with pytest.raises(InvalidTypeError, match="conninfo"):
            PostgresStore(source)

    @pytest.mark.parametrize("setting", [{"max_size": 0}, {"connect_timeout": 0}, {"statement_timeout": -1}])
    def test_impossible_settings_are_refused(self, postgres_url: str, setting: dict[str, float]) -> None:
        with pytest.raises(InvalidValueError, match=next(iter(setting))):
            PostgresStore(postgres_url, **setting)

    def test_connections_that_died_while_idle_are_replaced_unnoticed(
        self, open_postgres: Open, own_postgres_url: str, own_admin: psycopg.Connection
    ) -> None:
        store = open_postgres(conninfo=own_postgres_url)
        admin = own_admin
        store.add([turn("before")])
        for name in ("one", "two", "three"):
            _end_all_others(admin)
            store.add([turn(name)])
        _end_all_others(admin)
        assert ids(store.list(ASHA)) == ["before", "one", "two", "three"]

    def test_idle_connections_of_a_pool_that_was_passed_in_are_replaced_too(
        self, open_postgres: Open, own_postgres_url: str, own_admin: psycopg.Connection
    ) -> None:
        with ConnectionPool(own_postgres_url, min_size=3, open=True) as pool:
            pool.wait()
            store = open_postgres(conninfo=pool)
            _end_all_others(own_admin)
            store.add([turn("after")])
            assert store.get("after") is not None

    def test_a_busy_pool_says_so(self, open_postgres: Open, postgres_url: str) -> None:
        with ConnectionPool(postgres_url, min_size=1, max_size=1, timeout=0.3, open=True) as pool:
            store = open_postgres(conninfo=pool)
            with pool.connection(), pytest.raises(StoreUnavailableError, match=r"all 1 connections.*max_size"):
                store.get("a")
            assert store.get("a") is None

    def test_a_statement_that_takes_too_long_is_given_up(self, open_postgres: Open, admin, table: str) -> None:
        store = open_postgres(statement_timeout=0.2)
        with admin.transaction():
            admin.execute(f"LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE")
            with pytest.raises(StoreUnavailableError, match="timeout"):
                store.add([turn("a")])
        store.add([turn("a")])
        assert ids(store.list(ASHA)) == ["a"]


class TestErrors:
    @pytest.mark.parametrize(
        ("change", "kind", "says"),
        [
            ({"password": "open-barley"}, StoreError, "password"),
            ({"user": "stranger"}, StoreError, "password"),
            ({"dbname": "nowhere"}, StoreError, "does not exist"),
            ({"port": "1"}, StoreUnavailableError, "cannot be reached"),
        ],
    )
    def test_a_failed_login_says_why_without_host_user_or_password(
        self, own_postgres_url: str, change: dict[str, str], kind: type[StoreError], says: str
    ) -> None:
        url = psycopg.conninfo.make_conninfo(own_postgres_url, **change)
        with pytest.raises(kind, match=says) as caught:
            PostgresStore(url, connect_timeout=2)
        secrets = {"127.0.0.1", "sesame", "open-barley", "tester", "stranger", "nowhere", "FATAL"}
        assert not [secret for secret in secrets if secret in str(caught.value)]
        assert isinstance(caught.value.__cause__, psycopg.OperationalError)

    @pytest.mark.parametrize("host", ["[", "%zz", "a b", "...", "a..b", "a" * 300, "h\xf6st..x", "a\ud800b"])
    def test_a_url_that_cannot_be_read_is_not_repeated(self, host: str) -> None:
        with pytest.raises(InvalidValueError, match="cannot be read") as caught:
            PostgresStore(f"postgresql://asha:secret@{host}/db")
        assert "secret" not in str(caught.value)
        assert caught.value.__cause__ is None

    @pytest.mark.parametrize("content", ["a\x00b", "a\ud800b"])
    def test_what_no_database_can_hold_is_refused_and_nothing_stored(self, store: PostgresStore, content: str) -> None:
        with pytest.raises(InvalidValueError, match=r"NUL|surrogate"):
            store.add([turn("fine"), turn("bad", content=content)])
        with pytest.raises(InvalidValueError, match=r"NUL|surrogate"):
            store.apply(Batch(add=[turn("fine")], put=[Record("note", content, {})]))
        assert store.list(ASHA) == []

    def test_a_table_dropped_meanwhile_is_named_as_the_reason(self, store: PostgresStore, admin, table: str) -> None:
        admin.execute(f"DROP TABLE {table}")
        with pytest.raises(StoreError, match="gone"):
            store.get("a")

    def test_two_writers_of_one_id_leave_one_turn(self, open_postgres: Open) -> None:
        stores: list[MemoryStore] = [open_postgres(), open_postgres()]
        outcomes: list[str] = []

        def write(store: MemoryStore) -> None:
            for number in range(50):
                try:
                    store.add([turn(f"{number}"), turn(f"{number}-{id(store)}")])
                    outcomes.append("stored")
                except DuplicateIdError:
                    outcomes.append("refused")

        threads = [threading.Thread(target=write, args=(store,)) for store in stores]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert (outcomes.count("stored"), outcomes.count("refused")) == (50, 50)
        assert len(stores[0].list(ASHA)) == 100


class TestChanges:
    def test_a_write_that_commits_late_is_not_missed(self, store: PostgresStore, open_postgres: Open, admin) -> None:
        slow = open_postgres(conninfo=admin)
        with admin.transaction():
            slow.add([turn("late")])
            store.add([turn("early")])
            seen = store.changes(ASHA)
            assert ids(seen.heads) == ["early"]
        after = store.changes(ASHA, after=seen.cursor)
        assert "late" in ids(after.heads)
        assert ids(store.changes(ASHA, after=after.cursor).heads) == []

    def test_an_edit_and_a_deletion_that_commit_late_are_not_missed(
        self, store: PostgresStore, open_postgres: Open, admin
    ) -> None:
        store.add([turn("edited"), turn("deleted")])
        slow = open_postgres(conninfo=admin)
        with admin.transaction():
            slow.update("edited", content="otherwise")
            slow.delete("deleted")
            store.add([turn("more")])
            seen = store.changes(ASHA)
        after = store.changes(ASHA, after=seen.cursor)
        known = {head.id: head.revision for head in seen.heads}
        assert [head.id for head in after.heads if head.revision != known[head.id]] == ["edited"]
        assert after.deleted == ["deleted"]

    def test_a_turn_deleted_and_added_to_another_scope_is_gone_from_the_first(self, store: PostgresStore) -> None:
        store.add([turn("a")])
        seen = store.changes(ASHA)
        store.delete("a")
        store.add([turn("a", user_id="ravi")])
        assert store.changes(ASHA, after=seen.cursor).deleted == ["a"]
        assert ids(store.changes(Scope("ravi"), after=seen.cursor).heads) == ["a"]

    def test_a_turn_deleted_and_added_again_has_a_higher_revision(self, store: PostgresStore) -> None:
        store.add([turn("a")])
        [before] = store.changes(ASHA).heads
        store.delete("a")
        store.add([turn("a")])
        [after] = store.changes(ASHA).heads
        assert after.revision > before.revision


def _tables(admin: psycopg.Connection, table: str) -> list[tuple[object, ...]]:
    query = "SELECT relname, relfilenode FROM pg_class WHERE relname LIKE %s ORDER BY relname"
    return admin.execute(query, [table + "%"]).fetchall()


def _end_all_others(admin: psycopg.Connection) -> None:
    admin.execute(
        "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
        " WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'"
    )
