"""What only a MongoDB store has to get right."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pymongo
import pytest
from pymongo import monitoring
from servers.fixtures import DATABASE, need
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
from llmslim_memory.stores import mongodb, mongodb_schema, mongodb_writing
from llmslim_memory.stores.mongodb import MongoStore
from llmslim_memory.types import Batch, Record, Scope

Open = Callable[..., MongoStore]


@pytest.fixture
def store(open_mongo: Open) -> MongoStore:
    return open_mongo()


@pytest.fixture
def client(mongo_url: str) -> Iterator[pymongo.MongoClient[Any]]:
    with pymongo.MongoClient(mongo_url) as client:
        yield client


class Commands(monitoring.CommandListener):
    """Keeps what was sent."""

    def __init__(self) -> None:
        self.sent: list[dict[str, Any]] = []

    def started(self, event: monitoring.CommandStartedEvent) -> None:
        self.sent.append(dict(event.command))

    def succeeded(self, event: monitoring.CommandSucceededEvent) -> None:
        pass

    def failed(self, event: monitoring.CommandFailedEvent) -> None:
        pass

    def named(self, name: str) -> list[dict[str, Any]]:
        return [command for command in self.sent if name in command]


class TestOpening:
    @pytest.mark.parametrize("name", ["", "a-b", "a.b", "$a", "1a", "a b", "ä", "x" * 101])
    def test_a_collection_name_of_other_characters_is_refused(self, open_mongo: Open, name: str) -> None:
        with pytest.raises(InvalidValueError, match="collection"):
            open_mongo(collection=name)

    @pytest.mark.parametrize("name", ["", "a.b", "a b", "$x", "x" * 64, "admin", "local", "config"])
    def test_a_database_of_other_characters_or_of_mongodb_itself_is_refused(self, open_mongo: Open, name: str) -> None:
        with pytest.raises(InvalidValueError, match="database"):
            open_mongo(database=name)

    def test_the_database_is_the_one_named_else_that_of_the_url_else_llmslim(self, mongo_url: str) -> None:
        base = mongo_url.split("?")[0]
        pairs = [
            mongodb_schema.connect(url, name) for url, name in ((base, None), (base + "own", None), (base, "other"))
        ]
        assert [database.name for _, database in pairs] == ["llmslim", "own", "other"]
        with pytest.raises(InvalidValueError, match="MongoDB's own"):
            mongodb_schema.connect(base + "admin", None)
        for client, _ in pairs:
            assert client is not None
            client.close()

    @pytest.mark.parametrize("as_database", [False, True])
    def test_a_client_or_database_that_was_passed_in_stays_open(
        self, open_mongo: Open, client: pymongo.MongoClient[Any], as_database: bool
    ) -> None:
        given = {"client": client[DATABASE], "database": None} if as_database else {"client": client}
        store = open_mongo(**given)
        store.add([turn("a")])
        store.close()
        with pytest.raises(StoreClosedError):
            store.get("a")
        assert client.admin.command("ping")["ok"] == 1

    def test_a_database_object_needs_no_name(self, open_mongo: Open, client: pymongo.MongoClient[Any]) -> None:
        with pytest.raises(InvalidValueError, match="twice"):
            open_mongo(client=client[DATABASE])

    @pytest.mark.parametrize("source", [None, 5, b"mongodb://"])
    def test_anything_else_is_refused(self, source: object) -> None:
        with pytest.raises(InvalidTypeError, match="client"):
            MongoStore(source)

    @pytest.mark.parametrize("url", ["mongodb://asha:secret@", "mongodb://asha:sec/ret@h:1/", "x://secret"])
    def test_a_url_that_cannot_be_used_is_not_repeated(self, url: str) -> None:
        with pytest.raises(InvalidValueError, match="URL cannot be used") as caught:
            MongoStore(url)
        assert "sec" not in str(caught.value)
        assert caught.value.__cause__ is None

    def test_twenty_processes_can_start_at_once(self, mongo_url: str, collection: str, open_mongo: Open) -> None:
        assert start_at_once("mongodb", mongo_url, collection, 20) == 0
        assert sorted(ids(open_mongo().list(ASHA)), key=int) == [str(number) for number in range(20)]

    def test_a_newer_schema_is_refused(
        self, store: MongoStore, open_mongo: Open, client: pymongo.MongoClient[Any], collection: str
    ) -> None:
        client[DATABASE][collection + "_meta"].update_one({"_id": "schema"}, {"$set": {"version": 99}})
        with pytest.raises(SchemaError, match=r"schema 99.*upgrade"):
            open_mongo()

    @pytest.mark.parametrize("suffix", ["", "_meta"])
    def test_a_collection_of_another_program_is_refused_and_left_alone(
        self, open_mongo: Open, client: pymongo.MongoClient[Any], collection: str, suffix: str
    ) -> None:
        theirs = client[DATABASE][collection + suffix]
        theirs.insert_one({"_id": "schema_version", "version": 1})
        with pytest.raises(SchemaError, match="another program"):
            open_mongo()
        assert list(theirs.find()) == [{"_id": "schema_version", "version": 1}]
        assert [name for name in client[DATABASE].list_collection_names() if collection in name] == [theirs.name]

    def test_an_old_process_works_on_after_a_newer_one_has_upgraded(
        self, store: MongoStore, open_mongo: Open, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        store.add([turn("old")])

        def index_roles(collections: mongodb_schema.Collections) -> None:
            collections.turns.create_index("role")

        with monkeypatch.context() as newer:
            newer.setattr(mongodb_schema, "MIGRATIONS", (*mongodb_schema.MIGRATIONS, index_roles))
            upgraded = open_mongo()
            upgraded.add([turn("new")])
            store.add([turn("old too")])
            assert ids(store.list(ASHA)) == ids(upgraded.list(ASHA)) == ["old", "new", "old too"]
        with pytest.raises(SchemaError, match="schema 2"):
            open_mongo()

    def test_indexes_serve_scope_time_and_change(
        self, store: MongoStore, client: pymongo.MongoClient[Any], collection: str
    ) -> None:
        found = client[DATABASE][collection].index_information().values()
        keys = {tuple(field for field, _ in index["key"]) for index in found}
        by_scope = {
            (name, *rest) for name in ("user_id", "agent_id", "run_id") for rest in (("at", "seq"), ("revision",))
        }
        assert by_scope | {("seq",)} <= keys


@pytest.fixture(scope="module")
def locked_server() -> Iterator[Any]:
    """A server that asks for a password: asha's is barley."""
    need("secantus")
    from servers.mongodb import MongoServer

    server = MongoServer()
    server.start()
    with pymongo.MongoClient(server.url) as client:
        client.admin.command("createUser", "asha", pwd="barley", roles=[{"role": "readWrite", "db": "llmslim"}])
    server.stop()
    server.options.append("--auth")
    server.start()
    yield server
    server.remove()


class TestLogins:
    def test_the_right_password_opens_the_store(self, locked_server: Any) -> None:
        with MongoStore(f"mongodb://asha:barley@127.0.0.1:{locked_server.port}/llmslim?authSource=admin") as store:
            store.add([turn("a")])
            assert ids(store.list(ASHA)) == ["a"]

    @pytest.mark.parametrize("login", ["asha:millet@", "stranger:barley@", ""])
    def test_a_failed_login_says_why_without_host_user_or_password(self, locked_server: Any, login: str) -> None:
        with pytest.raises(StoreError, match=r"password|may not") as caught:
            MongoStore(f"mongodb://{login}127.0.0.1:{locked_server.port}/llmslim?authSource=admin")
        assert not [word for word in ("127.0.0.1", "asha", "stranger", "millet", "barley") if word in str(caught.value)]
        assert isinstance(caught.value.__cause__, pymongo.errors.PyMongoError)

    def test_an_unreachable_server_is_unavailable(self) -> None:
        with pytest.raises(StoreUnavailableError, match="cannot be reached") as caught:
            MongoStore("mongodb://asha:barley@127.0.0.1:1/?serverSelectionTimeoutMS=200")
        assert "127.0.0.1" not in str(caught.value)


class TestWriting:
    def test_a_batch_is_one_transaction_that_a_majority_journals(self, open_mongo: Open, mongo_url: str) -> None:
        commands = Commands()
        with pymongo.MongoClient(mongo_url, event_listeners=[commands], w=1) as client:
            store = open_mongo(client=client)
            commands.sent.clear()
            store.apply(Batch(add=[turn("a"), turn("b")], put=[Record("note", "1", {})]))
        [commit] = commands.named("commitTransaction")
        assert commit["writeConcern"] == {"w": "majority", "j": True}
        writes = commands.named("insert") + commands.named("update")
        inside = [
            command for command in writes if command.get("txnNumber") == commit["txnNumber"] and "autocommit" in command
        ]
        assert len(inside) == 2

    def test_without_transactions_each_write_waits_for_the_journal(
        self, open_standalone_mongo: Open, standalone_mongo_url: str
    ) -> None:
        commands = Commands()
        with pymongo.MongoClient(standalone_mongo_url, event_listeners=[commands]) as client:
            store = open_standalone_mongo(client=client)
            commands.sent.clear()
            store.add([turn("a"), turn("b")])
        assert commands.named("commitTransaction") == []
        assert [c["writeConcern"] for c in commands.named("insert")] == [{"w": "majority", "j": True}]

    def test_reads_go_to_the_primary_whatever_the_client_prefers(self, open_mongo: Open, mongo_url: str) -> None:
        commands = Commands()
        with pymongo.MongoClient(mongo_url, event_listeners=[commands], readPreference="secondary") as client:
            store = open_mongo(client=client)
            commands.sent.clear()
            store.list(ASHA)
            store.changes(ASHA)
        preferences = {command.get("$readPreference", {}).get("mode", "primary") for command in commands.named("find")}
        assert preferences <= {"primary", "primaryPreferred"}

    def test_a_server_that_refuses_transactions_is_written_to_without(self, open_standalone_mongo: Open) -> None:
        store = open_standalone_mongo()
        # What another program's gateway does: it calls itself a replica set and has no transactions.
        store._writer._transactions = True
        admin = store._own.admin
        admin.command(
            "configureFailPoint",
            "failCommand",
            mode={"times": 1},
            data={"failCommands": ["insert"], "errorCode": 20},
        )
        store.add([turn("a"), turn("b")])
        assert ids(store.list(ASHA)) == ["a", "b"]
        assert not store._writer._transactions

    def test_a_batch_that_fails_on_a_standalone_server_leaves_nothing(self, open_standalone_mongo: Open) -> None:
        store = open_standalone_mongo()
        store.apply(Batch(add=[turn("there")], claim=[Record("key", "1", {})]))
        with pytest.raises(DuplicateIdError, match="'there'"):
            store.add([turn("a"), turn("b"), turn("there"), turn("c")])
        with pytest.raises(DuplicateIdError, match="record '1'"):
            store.apply(Batch(add=[turn("a")], claim=[Record("key", "0", {}), Record("key", "1", {})]))
        assert ids(store.list(ASHA)) == ["there"]
        assert [record.key for record in store.records("key")] == ["1"]

    def test_metadata_that_mongodb_would_read_otherwise_is_kept_as_text(
        self, store: MongoStore, client: pymongo.MongoClient[Any], collection: str
    ) -> None:
        plain = {"list": [1, 2.5, None, True], "nested": {"ok": "yes"}}
        odd = [{"$ne": 1}, {"a.b": 1}, {"a": {"$x": 1}}, {"": 1}, {"a\x00b": 1}, {"big": 2**70}, {"cut": "\ud800"}]
        store.add([turn("plain", metadata=plain), *(turn(f"{n}", metadata=value) for n, value in enumerate(odd))])
        assert [dict(item.metadata) for item in store.list(ASHA)] == [plain, *odd]
        raw = {turn["_id"]: turn for turn in client[DATABASE][collection].find()}
        assert raw["plain"]["metadata"] == plain
        assert all(isinstance(raw[f"{n}"]["metadata_json"], str) for n in range(len(odd)))

    @pytest.mark.parametrize("name", ["user_id", "agent_id", "run_id"])
    def test_ids_must_be_strings(self, store: MongoStore, name: str) -> None:
        with pytest.raises(InvalidTypeError, match=name):
            store.add([turn("a", **{name: {"$ne": None}})])

    @pytest.mark.parametrize("content", ["a\ud800b", "x" * (17 * 2**20)])
    def test_what_mongodb_cannot_hold_is_refused_and_nothing_stored(self, store: MongoStore, content: str) -> None:
        with pytest.raises(InvalidValueError):
            store.add([turn("fine"), turn("bad", content=content)])
        assert store.list(ASHA) == []
        assert store.changes(ASHA).cursor == store.changes(ASHA).cursor

    def test_dates_that_tools_read_stand_beside_the_microseconds(
        self, store: MongoStore, client: pymongo.MongoClient[Any], collection: str
    ) -> None:
        moment = datetime(2026, 3, 1, 12, 0, 0, 123456, tzinfo=UTC)
        store.add([turn("a", created_at=moment)])
        raw = client[DATABASE][collection].find_one({"_id": "a"})
        assert raw["created_at"].replace(tzinfo=UTC) == moment.replace(microsecond=123000)
        assert store.get("a").created_at == moment

    def test_a_pool_that_is_used_up_says_so(self, open_mongo: Open, mongo_url: str) -> None:
        with pymongo.MongoClient(mongo_url, maxPoolSize=1, waitQueueTimeoutMS=200) as client:
            store = open_mongo(client=client)
            store.add([turn(f"{n}") for n in range(300)])
            exhaust = store._in.turns.find(cursor_type=pymongo.CursorType.EXHAUST, batch_size=10)
            next(exhaust)
            with pytest.raises(StoreUnavailableError, match="busy"):
                store.get("1")
            exhaust.close()
            assert store.get("1") is not None


@pytest.mark.parametrize("opener", ["open_mongo", "open_standalone_mongo"])
class TestChanges:
    @pytest.fixture
    def store(self, request: pytest.FixtureRequest, opener: str) -> MongoStore:
        return request.getfixturevalue(opener)()

    @pytest.fixture
    def slow(self, request: pytest.FixtureRequest, opener: str, store: MongoStore) -> SlowWriter:
        return SlowWriter(request.getfixturevalue(opener)())

    def test_a_write_that_ends_late_is_not_missed(self, store: MongoStore, slow: SlowWriter) -> None:
        store.add([turn("deleted")])
        slow.begin(Batch(add=[turn("late")], delete=["deleted"]))
        store.add([turn("early")])
        seen = store.changes(ASHA)
        assert "late" not in ids(seen.heads)
        slow.finish()
        after = store.changes(ASHA, after=seen.cursor)
        assert "late" in ids(after.heads)
        assert after.deleted == ["deleted"]
        assert ids(store.changes(ASHA, after=after.cursor).heads) == []

    def test_a_writer_that_died_holds_the_cursor_only_for_a_while(
        self, store: MongoStore, slow: SlowWriter, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        slow.writer._announce(5)
        store.add([turn("a")])
        again = store.changes(ASHA, after=store.changes(ASHA).cursor)
        assert ids(again.heads) == ["a"]
        monkeypatch.setattr(mongodb_writing, "PRESUMED_DEAD", timedelta(0))
        moved = store.changes(ASHA, after=again.cursor)
        assert ids(store.changes(ASHA, after=moved.cursor).heads) == []

    def test_a_writer_that_was_only_slow_is_not_missed_either(
        self, store: MongoStore, slow: SlowWriter, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        store.add([turn("deleted")])
        slow.begin(Batch(add=[turn("late")], delete=["deleted"]))
        monkeypatch.setattr(mongodb_writing, "PRESUMED_DEAD", timedelta(0))
        store.add([turn("early")])
        seen = store.changes(ASHA, after=store.changes(ASHA).cursor)
        monkeypatch.undo()
        slow.finish()
        after = store.changes(ASHA, after=seen.cursor)
        assert ids(after.heads) == ["late"]
        assert after.deleted == ["deleted"]

    def test_a_deletion_that_was_cut_short_loses_no_turn(self, store: MongoStore) -> None:
        store.add([turn("a"), turn("b")])
        seen = store.changes(ASHA)
        number = store._writer._announce(1)
        store._in.deleted.insert_one({"_id": "a", "change": number.after + 1})
        store._writer._take_back(number)
        assert store.changes(ASHA, after=seen.cursor).deleted == []
        assert store.tombstones(["a"]) == frozenset()
        assert store.delete("a")
        assert store.changes(ASHA, after=seen.cursor).deleted == ["a"]

    def test_a_large_scope_is_deleted_in_parts_and_others_stay(
        self, store: MongoStore, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(mongodb, "CHUNK", 20)
        store.add([turn(f"{n}") for n in range(50)])
        store.add([turn("other", user_id="ravi")])
        assert store.delete_scope(ASHA) == 50
        assert ids(store.scan(limit=10).items) == ["other"]
        assert store.list(Scope(user_id="asha")) == []


class SlowWriter:
    """A store whose next write stops after it was announced, until it is told to go on."""

    def __init__(self, store: MongoStore) -> None:
        self.store = store
        self.writer = store._writer
        self._announced = threading.Event()
        self._go_on = threading.Event()
        self._carry_out = self.writer._whole
        self._thread: threading.Thread | None = None

    def begin(self, batch: Batch) -> None:
        def wait_first(*arguments: Any) -> Any:
            self._announced.set()
            self._go_on.wait(timeout=30)
            return self._carry_out(*arguments)

        self.writer._whole = wait_first  # type: ignore[method-assign]
        self._thread = threading.Thread(target=self.store.apply, args=(batch,))
        self._thread.start()
        assert self._announced.wait(timeout=30)

    def finish(self) -> None:
        self._go_on.set()
        assert self._thread is not None
        self._thread.join(timeout=30)
