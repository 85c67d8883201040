"""SQLite's errors become this library's, once, and repeat nothing that was stored."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from llmslim_memory.errors import (
    InvalidValueError,
    SchemaError,
    StoreClosedError,
    StoreError,
    StoreFullError,
    StoreUnavailableError,
)
from llmslim_memory.stores import SQLiteStore
from llmslim_memory.stores.sqlite_errors import translate, translated
from llmslim_memory.testing.turns import ASHA, turn


def error(code: int) -> sqlite3.Error:
    found = sqlite3.OperationalError('near "secret": what the driver says')
    found.sqlite_errorcode = code
    return found


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (sqlite3.SQLITE_BUSY, StoreUnavailableError),
        (sqlite3.SQLITE_BUSY_SNAPSHOT, StoreUnavailableError),
        (sqlite3.SQLITE_LOCKED, StoreUnavailableError),
        (sqlite3.SQLITE_PROTOCOL, StoreUnavailableError),
        (sqlite3.SQLITE_CANTOPEN, StoreUnavailableError),
        (sqlite3.SQLITE_IOERR_FSYNC, StoreUnavailableError),
        (sqlite3.SQLITE_IOERR_SHMSIZE, StoreFullError),
        (sqlite3.SQLITE_FULL, StoreFullError),
        (sqlite3.SQLITE_READONLY_DIRECTORY, StoreError),
        (sqlite3.SQLITE_CORRUPT_INDEX, StoreError),
        (sqlite3.SQLITE_NOTADB, SchemaError),
        (sqlite3.SQLITE_ERROR, StoreError),
        (sqlite3.SQLITE_CONSTRAINT_UNIQUE, StoreError),
    ],
)
def test_each_kind_of_trouble_has_its_error(code: int, kind: type[StoreError]) -> None:
    raised = translate(error(code))
    assert type(raised) is kind
    assert "secret" not in str(raised)


def test_an_error_without_a_code_is_a_store_error() -> None:
    assert type(translate(sqlite3.ProgrammingError("x"))) is StoreError


def test_the_drivers_error_stays_attached() -> None:
    cause = error(sqlite3.SQLITE_FULL)
    with pytest.raises(StoreFullError) as caught, translated():
        raise cause
    assert caught.value.__cause__ is cause


def test_a_lone_surrogate_is_refused_without_repeating_the_text(tmp_path: Path) -> None:
    with SQLiteStore(tmp_path / "memory.db") as store:
        with pytest.raises(InvalidValueError, match="surrogates") as caught:
            store.add([turn("secret \ud800")])
        assert caught.value.__cause__ is None
        assert "secret" not in str(caught.value)
        assert store.list(ASHA) == []


def test_every_call_on_a_closed_store_says_so(tmp_path: Path) -> None:
    store = SQLiteStore(tmp_path / "memory.db")
    store.close()
    calls = (
        lambda: store.scan(),
        lambda: store.scopes(),
        lambda: store.records("n"),
        lambda: store.tombstones(["t"]),
        lambda: store.changes(ASHA),
        lambda: store.get_many(["t"]),
        lambda: store.save_analyses([]),
        lambda: store.check(),
        lambda: store.backup(tmp_path / "copy.db"),
    )
    for call in calls:
        with pytest.raises(StoreClosedError):
            call()
    assert [p.name for p in tmp_path.iterdir()] == ["memory.db"]
