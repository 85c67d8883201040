"""Which store a path or a URL names."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from llmslim_memory import open_store
from llmslim_memory.errors import InvalidTypeError, InvalidValueError
from llmslim_memory.stores import SQLiteStore
from llmslim_memory.testing.turns import ASHA, contents, turn


@pytest.mark.parametrize("form", ["{}", "sqlite:///{}", "SQLITE:///{}"])
def test_a_path_or_a_sqlite_url_names_a_file(tmp_path: Path, form: str) -> None:
    path = tmp_path / "memory.db"
    with closing(open_store(form.format(path))) as store:
        assert isinstance(store, SQLiteStore)
        store.add([turn("kept")])
    with SQLiteStore(path) as again:
        assert contents(again.list(ASHA)) == ["kept"]


def test_a_sqlite_url_with_three_slashes_is_relative(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with closing(open_store("sqlite:///folder/my%20memory.db")):
        assert (tmp_path / "folder" / "my memory.db").exists()


@pytest.mark.parametrize("target", [":memory:", "sqlite:///:memory:", "sqlite:///", "sqlite://"])
def test_a_database_in_memory_leaves_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, target: str) -> None:
    monkeypatch.chdir(tmp_path)
    with closing(open_store(target)) as store:
        store.add([turn("kept")])
        assert contents(store.list(ASHA)) == ["kept"]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("target", ["mysql://me:hunter2@db/x", "http://me:hunter2@host/", "sqlite+aio:///x"])
def test_another_kind_of_url_is_refused_without_its_password(target: str) -> None:
    with pytest.raises(InvalidValueError, match="no store is reached by") as caught:
        open_store(target)
    assert "hunter2" not in str(caught.value)


def test_a_sqlite_url_with_a_host_is_refused() -> None:
    with pytest.raises(InvalidValueError, match="three slashes"):
        open_store("sqlite://memory.db")


@pytest.mark.parametrize("target", [None, 7, b"memory.db", ["memory.db"]])
def test_what_is_neither_path_nor_url_is_refused(target: Any) -> None:
    with pytest.raises(InvalidTypeError):
        open_store(target)
