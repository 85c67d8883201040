"""The stores that Mem0 OSS leaves on disk hold pickles: their facts are read, and nothing in them can run."""

from __future__ import annotations

import os
import pickle
import sqlite3
import sys
import types
from pathlib import Path
from typing import Any

import pytest

from llmslim_memory import HistoryImportError
from llmslim_memory.importers.unpickle import unpickle
from tests.importers.helpers import contents, imported, new_memory, turns

PAYLOAD = {"data": "I moved to Bergen", "user_id": "ann", "role": "user", "created_at": "2026-09-14T08:12:45+00:00"}


@pytest.fixture
def point_class(monkeypatch: pytest.MonkeyPatch) -> type:
    """A class that pickles as qdrant's own does, by its name and its state."""
    name = "qdrant_client.http.models.models"
    module = types.ModuleType(name)

    class PointStruct:
        def __init__(self, **fields: Any) -> None:
            self.__dict__.update(fields)

        def __getstate__(self) -> dict[str, Any]:
            return {
                "__dict__": self.__dict__,
                "__pydantic_fields_set__": set(self.__dict__),
                "__pydantic_extra__": None,
            }

    PointStruct.__module__, PointStruct.__qualname__ = name, "PointStruct"
    module.PointStruct = PointStruct  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, name, module)
    for parent in ("qdrant_client", "qdrant_client.http", "qdrant_client.http.models"):
        monkeypatch.setitem(sys.modules, parent, types.ModuleType(parent))
    return PointStruct


def qdrant(
    folder: Path, blobs: list[tuple[str, Any]], *, collection: str = "mem0", key: str = "id TEXT PRIMARY KEY"
) -> Path:
    """A folder as qdrant's local mode leaves it."""
    place = folder / "collection" / collection
    place.mkdir(parents=True)
    with sqlite3.connect(place / "storage.sqlite") as db:
        db.execute(f"CREATE TABLE points ({key}, point BLOB)")
        db.executemany("INSERT INTO points VALUES (?, ?)", blobs)
    db.close()
    return folder


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
@pytest.mark.parametrize("vector", [[0.25, 0.5], {"": [0.5], "bm25": {"indices": [1], "values": [0.1]}}])
def test_the_points_of_a_qdrant_folder_are_read(tmp_path: Path, point_class: type, protocol: int, vector: Any) -> None:
    blob = pickle.dumps(point_class(id="p1", vector=vector, payload=PAYLOAD), protocol)
    memory = new_memory()
    report = imported(qdrant(tmp_path, [("key", blob)]), memory)
    (item,) = turns(memory)
    assert (report.format, item.role, item.content, item.user_id) == ("mem0", "user", "I moved to Bergen", "ann")
    assert imported(tmp_path, memory).duplicates == 1


def test_of_several_rows_of_a_point_the_newest_counts(tmp_path: Path, point_class: type) -> None:
    blobs = [
        ("k", pickle.dumps(point_class(id="p1", vector=None, payload={**PAYLOAD, "data": text})))
        for text in ("old", "new")
    ]
    memory = new_memory()
    imported(qdrant(tmp_path, blobs, key="id TEXT"), memory)
    assert contents(memory) == ["new"]


def test_collections_of_mem0s_own_are_left_alone(tmp_path: Path, point_class: type) -> None:
    blob = pickle.dumps(point_class(id="p1", vector=None, payload=PAYLOAD))
    for name in ("mem0", "mem0migrations", "mem0_entities"):
        qdrant(tmp_path, [("k", blob)], collection=name)
    assert imported(tmp_path).seen == 1


@pytest.mark.parametrize("blob", [b"", b"junk", b"\x80\x04.", pickle.dumps([1]), pickle.dumps(None), "text", None, 5])
def test_a_damaged_point_is_counted_and_the_others_are_read(tmp_path: Path, point_class: type, blob: Any) -> None:
    good = pickle.dumps(point_class(id="p1", vector=None, payload=PAYLOAD))
    report = imported(qdrant(tmp_path, [("bad", blob), ("good", good)]))
    assert (report.imported, report.malformed) == (1, 1)


@pytest.mark.parametrize("payload", [None, [], "x", 5])
def test_a_point_with_a_payload_of_another_type_is_malformed(tmp_path: Path, point_class: type, payload: Any) -> None:
    report = imported(qdrant(tmp_path, [("k", pickle.dumps(point_class(id="p", vector=None, payload=payload)))]))
    assert (report.imported, report.malformed) == (0, 1)


def test_a_faiss_docstore_is_read_from_its_pickle(tmp_path: Path) -> None:
    path = tmp_path / "mem0.pkl"
    path.write_bytes(pickle.dumps(({"p1": PAYLOAD, "p2": {**PAYLOAD, "data": "Oslo"}}, {0: "p1"})))
    assert imported(tmp_path).imported == 2
    memory = new_memory()
    imported(path, memory)
    assert contents(memory) == ["I moved to Bergen", "Oslo"]


@pytest.mark.parametrize("value", [[1], {"a": 1}, ("x", "y"), None])
def test_a_pickle_that_is_no_docstore_is_an_error(tmp_path: Path, value: Any) -> None:
    path = tmp_path / "model.pkl"
    path.write_bytes(pickle.dumps(value))
    with pytest.raises(HistoryImportError):
        imported(path)


@pytest.mark.parametrize("sql", ["CREATE TABLE history (id TEXT)", "CREATE VIEW points AS SELECT 1 AS id, 2 AS point"])
def test_a_database_without_points_is_an_error(tmp_path: Path, sql: str) -> None:
    with sqlite3.connect(tmp_path / "history.db") as db:
        db.execute(sql)
    db.close()
    with pytest.raises(HistoryImportError, match="not a qdrant collection"):
        imported(tmp_path / "history.db")


def test_a_damaged_database_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "storage.sqlite"
    path.write_bytes(b"SQLite format 3\x00" + b"\xff" * 5000)
    with pytest.raises(HistoryImportError):
        imported(path)


class Evil:
    """Pickles as a call of whatever it is given."""

    def __init__(self, function: Any, *arguments: Any) -> None:
        self.call = function, arguments

    def __reduce__(self) -> Any:
        return self.call


def touch(path: str) -> None:
    Path(path).touch()


@pytest.mark.parametrize("protocol", range(6))
@pytest.mark.parametrize("function", [os.system, eval, exec, touch, __import__, getattr, print, type, open])
def test_a_malicious_pickle_runs_nothing(tmp_path: Path, protocol: int, function: Any) -> None:
    mark = tmp_path / "mark"
    argument = str(mark) if function is touch else f"open({str(mark)!r}, 'w')" if function is eval else f"touch {mark}"
    pickled = pickle.dumps({"payload": Evil(function, argument)}, protocol)
    with pytest.raises(ValueError, match="plain data"):
        unpickle(pickled, most=1000)
    report = imported(qdrant(tmp_path / "store", [("evil", pickled)]))
    assert (report.imported, report.malformed) == (0, 1)
    assert not mark.exists()


def test_setting_the_state_of_a_class_is_refused(tmp_path: Path) -> None:
    onto_builtin = b"\x80\x04cbuiltins\nset\n}X\x01\x00\x00\x00aK\x01sb."
    onto_stub = b"\x80\x04cqdrant_client.x\nY\n}X\x01\x00\x00\x00aK\x01sb."
    for pickled in (onto_builtin, onto_stub, b"\x80\x04cos\nsystem\n.", b"cos\nsystem\n(S'true'\ntR."):
        with pytest.raises(ValueError, match="plain data"):
            unpickle(pickled, most=1000)


def test_a_pickle_that_grows_when_copied_is_refused() -> None:
    value: list[Any] = ["x"]
    for _ in range(50):
        value = [value] * 10
    with pytest.raises(ValueError, match="more values"):
        unpickle(pickle.dumps(value), most=100_000)


def test_a_memo_index_that_would_take_all_memory_is_refused() -> None:
    with pytest.raises(ValueError, match="plain data"):
        unpickle(b"\x80\x04Nr\xff\xff\xff\x7f.", most=1000)


@pytest.mark.parametrize("value", [{"a": [1, 2.5, None, True, "x"]}, [], {}, "text", {"n": {"m": [{"k": 1}]}}])
def test_plain_data_comes_back_as_it_was(value: Any) -> None:
    for protocol in range(6):
        assert unpickle(pickle.dumps(value, protocol), most=1000) == value


STORES = sorted(
    place for version in (Path(__file__).parents[1] / "data" / "mem0").iterdir() for place in version.iterdir()
)


@pytest.mark.parametrize("store", STORES, ids=lambda path: f"{path.parent.name} {path.name}")
def test_the_stores_that_mem0_itself_left_are_read(store: Path) -> None:
    memory = new_memory()
    report = imported(store, memory)
    found = sorted((item.user_id, item.agent_id or "", item.run_id or "", item.content) for item in turns(memory))
    assert found == [
        ("ann", "", "r1", "Ann likes oolong"),
        ("ann", "bot", "", "Bergen gets a lot of rain"),
        ("ann", "bot", "", "I moved to Bergen in May"),
        ("ben", "", "", "Lives in Tromsø"),
    ]
    assert (report.format, report.malformed, report.errors) == ("mem0", 0, ())
    roles = {item.content: item.role for item in turns(memory)}
    assert roles["I moved to Bergen in May"] == "user"
    assert roles["Bergen gets a lot of rain"] == "assistant"
    (moved,) = [item for item in turns(memory) if item.content.startswith("I moved")]
    assert (moved.metadata["topic"], moved.metadata["tags"], moved.metadata["actor_id"]) == ("home", ["a"], "Ann")
    assert imported(store, memory).duplicates == 4
