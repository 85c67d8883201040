"""The collections of a MongoDB store: opened, created, upgraded, and refused where they are not ours."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from bson.codec_options import CodecOptions
from pymongo import ASCENDING, MongoClient, ReadPreference, WriteConcern
from pymongo.collection import Collection
from pymongo.database import Database
from pymongo.errors import ConfigurationError, DuplicateKeyError, InvalidName, InvalidURI, OperationFailure
from pymongo.read_concern import ReadConcern

from llmslim_memory.errors import InvalidTypeError, InvalidValueError, SchemaError
from llmslim_memory.stores.mongodb_documents import Document

FORMAT = "llmslim-memory"
DEFAULT_DATABASE = "llmslim"
RESERVED = ("admin", "local", "config")
COUNTER = "counter"
_EXISTS = 48

Documents = Collection[Document]

DURABLE = WriteConcern("majority", j=True)
"""A write is acknowledged when a majority has it in its journal."""


@dataclass(frozen=True, slots=True)
class Collections:
    """One store's collections."""

    turns: Documents
    deleted: Documents
    records: Documents
    meta: Documents

    @classmethod
    def of(cls, database: Database[Any], name: str, *, replicated: bool) -> Collections:
        """The collections whose turns are in ``name``: writes are durable, reads go to the primary."""
        if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]{0,99}", name):
            raise InvalidValueError(
                f"collection {name!r} may hold only letters, digits and underscores, no digit first, 100 at most"
            )
        options: dict[str, Any] = {
            "codec_options": CodecOptions(document_class=dict),
            "read_preference": ReadPreference.PRIMARY,
            # What a failover could take back must not be seen: a number handed out twice would hide a turn.
            "read_concern": ReadConcern("majority" if replicated else "local"),
            "write_concern": DURABLE,
        }
        suffixes = ("", "_deleted", "_records", "_meta")
        return cls(*(database.get_collection(name + suffix, **options) for suffix in suffixes))

    def all(self) -> tuple[Documents, ...]:
        """Every one of them."""
        return (self.turns, self.deleted, self.records, self.meta)


def connect(client: object, database: str | None) -> tuple[MongoClient[Any] | None, Database[Any]]:
    """The client to close later, if one was opened here, and the database.

    Args:
        client: A URL, a ``MongoClient`` or a ``Database``.
        database: The database's name, or ``None`` for the one that ``client`` names.
    """
    if isinstance(client, Database):
        if database is not None:
            raise InvalidValueError("database is given twice: leave it out where a Database is passed")
        return None, _checked(client)
    if isinstance(client, MongoClient):
        return None, _choose(client, database)
    if not isinstance(client, str):
        raise InvalidTypeError(f"client must be a URL, a MongoClient or a Database, not {type(client).__name__}")
    opened = _open_client(client)
    try:
        return opened, _choose(opened, database)
    except BaseException:
        opened.close()
        raise


def _open_client(url: str) -> MongoClient[Any]:
    try:
        return MongoClient(url)
    except (InvalidURI, ConfigurationError, ValueError, TypeError):
        # The driver's message may repeat parts of the URL, so it is not even attached.
        raise InvalidValueError(
            "the MongoDB URL cannot be used: write mongodb://user:password@host:27017/database, with special characters"
            " of the password escaped (@ is %40) and options that PyMongo knows; mongodb+srv:// needs a host name that"
            " the DNS knows"
        ) from None


def _choose(client: MongoClient[Any], name: str | None) -> Database[Any]:
    if name is not None and not (isinstance(name, str) and re.fullmatch(r"[A-Za-z0-9_-]{1,63}", name)):
        raise InvalidValueError(f"database {name!r} may hold only letters, digits, _ and -, 63 at most")
    try:
        return _checked(client[name] if name is not None else client.get_default_database(DEFAULT_DATABASE))
    except InvalidName as error:
        raise InvalidValueError("the database named in the URL has a name that MongoDB does not allow") from error


def _checked(database: Database[Any]) -> Database[Any]:
    if database.name in RESERVED:
        raise InvalidValueError(f"database {database.name!r} is MongoDB's own: name another one")
    return database


def has_transactions(database: Database[Any]) -> bool:
    """Whether the server is a replica set or a sharded cluster."""
    hello = database.client.admin.command("hello")
    return "setName" in hello or hello.get("msg") == "isdbgrid"


def prepare(collections: Collections) -> None:
    """Create or upgrade what is missing; doing so twice, or at the same time, changes nothing.

    Raises:
        SchemaError: The collections are newer than this release, or another program's.
    """
    version = _version(collections)
    for number in range(version, len(MIGRATIONS)):
        MIGRATIONS[number](collections)
        collections.meta.update_one({"_id": "schema", "version": number}, {"$set": {"version": number + 1}})


def _version(collections: Collections) -> int:
    """The schema that is stored; a new store is marked as ours first, so that nobody else takes it for theirs."""
    # In this order: another process of ours writes its mark before anything else.
    inhabited = any(collection.find_one({}, {"_id": 1}) for collection in (collections.turns, collections.meta))
    schema = collections.meta.find_one({"_id": "schema"})
    name = collections.turns.name
    if schema is None and not inhabited:
        _seed(collections, {"_id": "schema", "format": FORMAT, "version": 0})
        schema = collections.meta.find_one({"_id": "schema"})
    if schema is None or schema.get("format") != FORMAT or not isinstance(schema.get("version"), int):
        raise SchemaError(
            f"collection {name!r} or its _meta collection belongs to another program: pass another collection="
        )
    version = int(schema["version"])
    if version > len(MIGRATIONS):
        raise SchemaError(
            f"collection {name!r} has schema {version}; this release knows schemas up to {len(MIGRATIONS)}: upgrade"
            " llmslim-memory"
        )
    return version


def _seed(collections: Collections, document: Document) -> None:
    fields = {key: value for key, value in document.items() if key != "_id"}
    with suppress(DuplicateKeyError):
        collections.meta.update_one({"_id": document["_id"]}, {"$setOnInsert": fields}, upsert=True)


def _create(collections: Collections) -> None:
    for collection in collections.all():
        _create_collection(collection)
    for name in ("user_id", "agent_id", "run_id"):
        collections.turns.create_index([(name, ASCENDING), ("at", ASCENDING), ("seq", ASCENDING)])
        collections.turns.create_index([(name, ASCENDING), ("revision", ASCENDING)])
        collections.records.create_index([(name, ASCENDING)])
    collections.turns.create_index([("seq", ASCENDING)])
    collections.deleted.create_index([("change", ASCENDING)])
    collections.records.create_index([("kind", ASCENDING), ("group", ASCENDING), ("order", ASCENDING)])
    collections.records.create_index([("item_id", ASCENDING)])
    _seed(collections, {"_id": COUNTER, "value": 0, "open": {}})


def _create_collection(collection: Documents) -> None:
    try:
        collection.database.create_collection(collection.name, check_exists=False)
    except OperationFailure as error:
        if error.code != _EXISTS:
            raise


MIGRATIONS: tuple[Callable[[Collections], None], ...] = (_create,)
"""What leads from each schema to the next. Append only, only what may be done twice or by two processes at once, and
only what a process of the release before can live with."""
