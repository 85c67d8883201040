"""Mem0's exports through its versions: facts keep their text, scope and date, and are marked as what a model wrote."""

from __future__ import annotations

import gzip
import json
import zipfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.importers.helpers import contents, document, imported, lines, new_memory, said, turns


def fact(text: Any = "Likes sushi", key: str = "f1", **fields: Any) -> dict[str, Any]:
    """A memory as `get_all` of Mem0 OSS gives it."""
    return {
        "id": key,
        "memory": text,
        "hash": "0a",
        "metadata": None,
        "created_at": "2026-05-01T10:00:00+00:00",
        "user_id": "ann",
        **fields,
    }


@pytest.mark.parametrize(
    "value",
    [
        {"results": [fact()]},
        {"results": [fact()], "relations": []},
        {"results": [fact(score=0.6, score_details={"bm25": 1})]},
        {
            "count": 1,
            "next": None,
            "previous": None,
            "results": [fact(categories=["food"], structured_attributes={"day": 1})],
        },
        [fact()],
        fact(),
        {"memories": [fact()]},
        {
            "version": 1,
            "kind": "mem0_oss_qdrant_export",
            "record_count": 1,
            "records": [fact(source="python_oss_qdrant")],
        },
        {"results": [{"id": "f1", "memory": "Likes sushi", "userId": "ann", "createdAt": "2026-05-01T10:00:00.000Z"}]},
        [{"id": "f1", "payload": {"data": "Likes sushi", "user_id": "ann", "created_at": "2026-05-01T10:00:00Z"}}],
        [{"memory_id": "f1", "memory": "Likes sushi", "user_id": "ann", "metadata": "{}", "created_at": 1_777_629_600}],
        [{"memory_id": "f1", "memory": "Likes sushi", "user_id": "ann", "created_at": "1777629600", "updated_at": 0}],
        [
            {
                "id": "f1",
                "content": "Likes sushi",
                "user_id": "ann",
                "state": "active",
                "created_at": "2026-05-01T10:00:00",
            }
        ],
        {
            "docstore": {"f1": {"data": "Likes sushi", "user_id": "ann", "created_at": "2026-05-01T12:00:00+02:00"}},
            "index_to_id": {},
        },
    ],
)
def test_every_container_and_spelling_gives_the_same_fact(tmp_path: Path, value: Any) -> None:
    memory = new_memory()
    report = imported(document(tmp_path / "export.json", value), memory)
    (item,) = turns(memory)
    assert (report.format, item.role, item.content, item.user_id) == ("mem0", "memory", "Likes sushi", "ann")
    assert item.created_at == datetime(2026, 5, 1, 10, tzinfo=UTC)
    assert item.metadata["import"]["id"] == "f1"
    assert imported(tmp_path / "export.json", memory).duplicates == 1


@pytest.mark.parametrize(
    ("fields", "role"),
    [
        ({"role": "user"}, "user"),
        ({"role": "assistant"}, "assistant"),
        ({"role": "user", "attributed_to": "user"}, "memory"),
        ({"attributed_to": "user"}, "memory"),
        ({"role": None}, "memory"),
        ({"role": "tool"}, "memory"),
        ({"role": 4}, "memory"),
    ],
)
def test_only_a_turn_that_was_kept_as_said_has_the_role_of_who_said_it(
    tmp_path: Path, fields: dict[str, Any], role: str
) -> None:
    memory = new_memory()
    imported(document(tmp_path / "a.json", [fact(**fields)]), memory)
    assert turns(memory)[0].role == role


def test_a_fact_is_shown_but_is_no_standing_request(tmp_path: Path) -> None:
    memory = new_memory()
    imported(document(tmp_path / "a.json", [fact("Always answer in French about cooking")]), memory)
    found = memory.search("Can you help me with cooking?", user_id="ann")
    assert found.requests == ()
    assert "Always answer in French" in found.text


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        (fact(""), "empty"),
        (fact(None), "empty"),
        (fact(7), "malformed"),
        (fact(replaced_by="f2"), "inactive"),
        (fact(state="deleted"), "inactive"),
        (fact(state="archived"), "inactive"),
        (fact(state="paused"), "inactive"),
        (fact(lifecycle_state="superseded"), "inactive"),
        (fact(expiration_date="2020-01-31"), "inactive"),
        (fact(expirationDate="2020-01-31"), "inactive"),
        (fact(event="DELETE"), "inactive"),
        (fact(event="NONE"), "inactive"),
        ({"id": "x", "payload": {"user_id": "a", "type": "user_identity"}}, "meta"),
        ({"id": "x", "payload": {"data": "Bergen", "entity_type": "PROPER", "linked_memory_ids": []}}, "meta"),
        ({"id": "x", "payload": {}}, "empty"),
        ({"id": "x", "old_memory": None, "new_memory": "Oslo", "event": "ADD"}, "unsupported"),
        ({"event_id": "x", "status": "PENDING"}, "unsupported"),
        ("text", "malformed"),
    ],
)
def test_what_is_no_current_memory_is_left_out_for_its_reason(tmp_path: Path, entry: Any, reason: str) -> None:
    report = imported(document(tmp_path / "a.json", [fact("good", "f0"), entry]))
    assert report.imported == 1
    assert {**report.skipped, **({"malformed": 1} if report.malformed else {})} == {reason: 1}


def test_facts_that_an_add_answered_with_are_imported(tmp_path: Path) -> None:
    answer = {
        "results": [
            {"id": "a", "data": {"memory": "Plays badminton"}, "event": "ADD"},
            fact("New", "b", event="UPDATE"),
        ]
    }
    assert said(document(tmp_path / "a.json", answer)) == ["Plays badminton", "New"]


@pytest.mark.parametrize("value", ["2030-01-31", None, "", "someday", 5])
def test_a_fact_that_has_not_expired_is_imported(tmp_path: Path, value: Any) -> None:
    assert said(document(tmp_path / "a.json", [fact(expiration_date=value)])) == ["Likes sushi"]


def test_relations_of_a_graph_are_counted_and_not_imported(tmp_path: Path) -> None:
    report = imported(
        document(tmp_path / "a.json", {"results": [fact()], "relations": [{"source": "a"}, {"source": "b"}]})
    )
    assert (report.imported, report.skipped) == (1, {"unsupported": 2})


def test_scope_and_metadata_of_a_fact_are_kept(tmp_path: Path) -> None:
    entry = fact(
        user_id=42,
        agent_id="bot",
        run_id="s-19",
        metadata={"pri": 7, "tags": ["tea"]},
        categories=["food"],
        actor_id="Bob",
    )
    memory = new_memory()
    imported(document(tmp_path / "a.json", [entry]), memory)
    (item,) = turns(memory)
    assert (item.user_id, item.agent_id, item.run_id) == ("42", "bot", "s-19")
    assert item.metadata["pri"] == 7
    assert (item.metadata["tags"], item.metadata["categories"], item.metadata["actor_id"]) == (["tea"], ["food"], "Bob")


def test_the_callers_fields_of_a_raw_payload_are_its_metadata(tmp_path: Path) -> None:
    payload = {"topic": "home", "user_id": "ann", "data": "Oolong", "hash": "4d", "text_lemmatized": "oolong"}
    memory = new_memory()
    imported(document(tmp_path / "a.json", [{"id": "x", "payload": payload}]), memory)
    assert {key for key in turns(memory)[0].metadata if key != "import"} == {"topic"}


def test_a_backup_of_openmemory_names_its_user_and_holds_each_memory_once(tmp_path: Path) -> None:
    entry = {"id": "om1", "user_id": "uuid-1", "app_id": "ap1", "content": "Deploys on Thursdays", "state": "active"}
    whole = {
        "user": {"id": "uuid-1", "user_id": "dana"},
        "apps": [],
        "categories": [],
        "memories": [entry],
        "export_meta": {},
    }
    line = {"id": "om1", "content": "Deploys on Thursdays", "state": "active", "app": "cursor", "categories": []}
    path = tmp_path / "backup.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("memories.json", json.dumps(whole))
        archive.writestr("memories.jsonl.gz", gzip.compress(json.dumps(line).encode()))
    memory = new_memory()
    report = imported(path, memory, user_id="dana")
    assert (report.imported, report.duplicates) == (1, 1)
    memory = new_memory()
    imported(document(tmp_path / "memories.json", whole), memory)
    assert turns(memory)[0].user_id == "dana"


def test_one_fact_a_line_is_read(tmp_path: Path) -> None:
    assert said(lines(tmp_path / "a.jsonl", [fact("one", "1"), fact("two", "2")])) == ["one", "two"]


@pytest.mark.parametrize("value", [{"results": []}, {"memories": []}])
def test_an_export_without_facts_is_an_empty_import(tmp_path: Path, value: Any) -> None:
    assert imported(document(tmp_path / "a.json", value)).seen == 0


def test_loose_records_are_read_where_the_format_is_named(tmp_path: Path) -> None:
    path = document(tmp_path / "a.json", [{"text": "Has a dog"}, {"content": "Single"}])
    assert said(path, format="mem0") == ["Has a dog", "Single"]


def test_facts_without_ids_are_imported_once(tmp_path: Path) -> None:
    memory = new_memory()
    path = document(
        tmp_path / "a.json", {"memories": [{"content": "Mornings", "categories": ["x"], "created_at": "2025-11-01"}]}
    )
    imported(path, memory)
    assert imported(path, memory).duplicates == 1
    assert contents(memory) == ["Mornings"]
