"""Mem0's filter language, operator by operator, and whose memories a filter can ever reach."""

from __future__ import annotations

from typing import Any

import pytest

from llmslim_memory.mem0 import Memory, MemoryClient

ROWS: dict[str, dict[str, Any] | None] = {
    "a": {"cat": "work", "pri": 5, "tags": ["x", "y"], "done": True, "t": "Meeting", "when": "2026-01-15T09:00:00Z"},
    "b": {"cat": "home", "pri": 7, "tags": ["y"], "done": False, "nested": {"k": "v"}, "when": "2025-12-31"},
    "c": {"cat": "work", "pri": 9, "void": None},
    "d": None,
}


@pytest.fixture
def rows(memory: Memory) -> Memory:
    for text, metadata in ROWS.items():
        memory.add(f"{text} row", user_id="u", metadata=metadata, run_id="r" if text in "ab" else None)
    memory.add("e row", user_id="other", metadata=ROWS["a"])
    return memory


def passing(memory: Memory, filters: dict[str, Any], **scope: Any) -> str:
    scope = scope or {"user_id": "u"}
    listed = memory.get_all(filters=filters, **scope)["results"]
    found = memory.search("row", filters=filters, threshold=0.0, top_k=100, **scope)["results"]
    assert sorted(hit["memory"] for hit in found) == sorted(entry["memory"] for entry in listed)
    return "".join(entry["memory"][0] for entry in listed)


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({}, "abcd"),
        ({"cat": "work"}, "ac"),
        ({"cat": {"eq": "work"}}, "ac"),
        ({"cat": {"ne": "work"}}, "b"),
        ({"cat": {"nin": ["work"]}}, "b"),
        ({"cat": {"in": ["work", "home"]}}, "abc"),
        ({"cat": ["home", "none"]}, "b"),
        ({"NOT": [{"cat": "work"}]}, "bd"),
        ({"NOT": [{"cat": "home"}, {"pri": 9}]}, "ad"),
        ({"NOT": [{"cat": "work", "pri": 9}]}, "abd"),
        ({"NOT": {"cat": "work"}}, "bd"),
        ({"cat": "*"}, "abc"),
        ({"missing": "*"}, ""),
        ({"void": "*"}, ""),
        ({"void": {"eq": None}}, "c"),
        ({"tags": "y"}, "ab"),
        ({"tags": {"in": ["x"]}}, "a"),
        ({"tags": {"contains": "x"}}, "a"),
        ({"tags": {"ne": "x"}}, "b"),
        ({"t": {"contains": "eet"}}, "a"),
        ({"t": {"contains": "meet"}}, ""),
        ({"t": {"icontains": "meet"}}, "a"),
        ({"pri": {"gt": 5}}, "bc"),
        ({"pri": {"gte": 5, "lt": 9}}, "ab"),
        ({"pri": {"gt": 5, "ne": 9}}, "b"),
        ({"pri": {"lte": 5.0}}, "a"),
        ({"pri": "5"}, ""),
        ({"pri": {"gt": "5"}}, ""),
        ({"done": True}, "a"),
        ({"done": {"ne": True}}, "b"),
        ({"done": 1}, ""),
        ({"cat": None}, "abcd"),
        ({"when": {"gte": "2026-01-01"}}, "a"),
        ({"when": {"lt": "2026-01-15T10:00:00+02:00"}}, "b"),
        ({"when": "2026-01-15T10:00:00+01:00"}, "a"),
        ({"created_at": {"gte": "2020-01-01", "lt": "2999-01-01"}}, "abcd"),
        ({"role": "user", "data": {"contains": "a row"}}, "a"),
        ({"memory": {"icontains": "B ROW"}}, "b"),
        ({"nested.k": "v"}, "b"),
        ({"metadata": {"cat": "work", "pri": 9}}, "c"),
        ({"AND": [{"cat": "work"}, {"pri": 9}]}, "c"),
        ({"AND": [{"cat": "work"}, {"cat": "home"}]}, ""),
        ({"AND": [{"OR": [{"pri": 5}, {"pri": 7}]}, {"OR": [{"pri": 7}, {"pri": 9}]}]}, "b"),
        ({"AND": []}, "abcd"),
        ({"AND": {"cat": "work"}}, "ac"),
        ({"OR": [{"cat": "home"}, {"pri": 9}]}, "bc"),
        ({"OR": [{"cat": "home"}, {"cat": None}]}, "b"),
        ({"OR": [{"cat": None}]}, "abcd"),
        ({"NOT": [{"cat": None}]}, "abcd"),
        ({"$or": [{"cat": "home"}, {"pri": 9}]}, "bc"),
        ({"run_id": "*"}, "ab"),
        ({"run_id": {"in": ["r", "s"]}}, "ab"),
        ({"OR": [{"run_id": "r"}, {"pri": 9}]}, "abc"),
        ({"or": "x"}, ""),
    ],
)
def test_a_filter_lets_these_rows_pass(rows: Memory, filters: dict[str, Any], expected: str) -> None:
    assert passing(rows, filters) == expected


@pytest.mark.parametrize(
    ("filters", "message"),
    [
        ({"cat": {"in": "work"}}, "must be a list"),
        ({"cat": {"regex": "w"}}, "'regex'"),
        ({"cat": {}}, r"\{\}"),
        ({"cat": {"eq": "a", "like": "b"}}, "'like'"),
        ({"OR": []}, "OR requires a non-empty list"),
        ({"NOT": []}, "NOT requires a non-empty list"),
        ({"OR": "x"}, "OR requires a list"),
        ({"AND": ["x"]}, "must be a dict"),
        ({"pri": {"gt": None}}, "can be compared with"),
        ({"pri": {"gt": True}}, "can be compared with"),
        ({1: "x"}, "keys must be strings"),
        ("x", "filters must be a dict"),
        ([{"cat": "work"}], "filters must be a dict"),
    ],
)
def test_what_is_no_filter_is_a_value_error_that_says_why(memory: Memory, filters: Any, message: str) -> None:
    memory.add("x", user_id="u", metadata={"pri": 1})
    for call in (
        lambda: memory.get_all(user_id="u", filters=filters),
        lambda: memory.search("x", user_id="u", filters=filters),
    ):
        with pytest.raises(ValueError, match=message):
            call()


def test_a_filter_nested_too_deep_is_a_value_error(memory: Memory) -> None:
    deep: dict[str, Any] = {"cat": "x"}
    for _ in range(5_000):
        deep = {"AND": [deep]}
    with pytest.raises(ValueError, match="nested more than"):
        memory.get_all(user_id="u", filters=deep)


def test_the_callers_filters_are_not_changed(rows: Memory) -> None:
    given = {"user_id": 42, "AND": [{"cat": "work", "pri": None}]}
    rows.search("row", filters=given)
    assert given == {"user_id": 42, "AND": [{"cat": "work", "pri": None}]}


@pytest.fixture
def owned(memory: Memory) -> Memory:
    memory.add("a row", user_id="alice")
    memory.add("b row", user_id="bob")
    memory.add("c row", user_id="carol", agent_id="cook")
    memory.add("d row", agent_id="cook", run_id="r")
    return memory


class TestIsolation:
    @pytest.mark.parametrize(
        "inner",
        [
            {"AND": [{"user_id": "bob"}]},
            {"AND": [{"AND": [{"user_id": {"eq": "bob"}}]}]},
            {"OR": [{"user_id": "bob"}]},
            {"OR": [{"user_id": "bob"}, {"agent_id": "cook"}]},
            {"metadata": {"user_id": "bob"}},
            {"NOT": [{"user_id": "alice"}]},
        ],
    )
    def test_no_part_of_a_filter_leads_out_of_the_scope(self, owned: Memory, inner: dict[str, Any]) -> None:
        assert passing(owned, {"user_id": "alice", **inner}, limit=100) == ""
        assert passing(owned, inner, user_id="alice") == ""

    @pytest.mark.parametrize(
        ("filters", "expected"),
        [
            ({"AND": [{"user_id": "alice"}]}, "a"),
            ({"AND": [{"user_id": "alice"}, {"user_id": "bob"}]}, ""),
            ({"OR": [{"user_id": "alice"}, {"agent_id": "cook"}]}, "acd"),
            ({"user_id": {"in": ["alice", "bob"]}}, "ab"),
            ({"user_id": ["alice", "bob"]}, "ab"),
            ({"agent_id": "cook", "user_id": "*"}, "c"),
            ({"AND": [{"OR": [{"user_id": "alice"}, {"user_id": "bob"}]}, {"NOT": [{"user_id": "bob"}]}]}, "a"),
        ],
    )
    def test_a_filter_reaches_those_whom_it_names(self, owned: Memory, filters: dict[str, Any], expected: str) -> None:
        assert "".join(entry["memory"][0] for entry in owned.get_all(filters=filters)["results"]) == expected
        found = owned.search("row", filters=filters, threshold=0.0)["results"]
        assert sorted(hit["memory"][0] for hit in found) == sorted(expected)

    @pytest.mark.parametrize(
        "filters",
        [
            {"user_id": "*"},
            {"user_id": {"ne": "x"}},
            {"user_id": {"nin": ["x"]}},
            {"user_id": {"in": []}},
            {"user_id": {"contains": ""}},
            {"NOT": [{"user_id": "x"}]},
            {"OR": [{"user_id": "alice"}, {"cat": "work"}]},
            {"OR": [{"user_id": "alice"}, {"user_id": "*"}]},
            {"OR": [{"user_id": "alice"}, {}]},
            {"OR": [{"user_id": None}, {"agent_id": None}]},
            {"AND": []},
            {"AND": [{"user_id": None}]},
            {"metadata": {"user_id": "alice"}},
        ],
    )
    def test_a_filter_that_names_nobody_is_refused(self, owned: Memory, filters: dict[str, Any]) -> None:
        for call in (lambda: owned.get_all(filters=filters), lambda: owned.search("row", filters=filters)):
            with pytest.raises(ValueError, match="at least one of"):
                call()

    @pytest.mark.parametrize("filters", [{"user_id": "*"}, {"agent_id": "*"}, {"user_id": "*", "agent_id": "*"}])
    def test_a_star_alone_is_everyone_who_has_one_where_all_are_allowed(
        self, owned: Memory, client: MemoryClient, filters: dict[str, Any]
    ) -> None:
        expected = {"user_id": "abc", "agent_id": "cd"}.get("".join(filters), "c")
        listed = owned.get_all(filters=filters, allow_all=True)["results"]
        assert "".join(entry["memory"][0] for entry in listed) == expected
        assert "".join(entry["memory"][0] for entry in owned.get_all(**filters, allow_all=True)["results"]) == expected
        for found in (
            owned.search("row", filters=filters, threshold=0.0, allow_all=True),
            client.search("row", filters=filters, threshold=0.0, allow_all=True),
        ):
            assert sorted(hit["memory"][0] for hit in found["results"]) == sorted(expected)
        assert client.get_all(filters=filters, allow_all=True)["count"] == len(expected)

    @pytest.mark.parametrize("filters", [None, {}, {"cat": "work"}, {"NOT": [{"user_id": "x"}]}])
    @pytest.mark.parametrize("allow_all", [True, 1, "yes"])
    def test_everyone_has_to_be_said(self, owned: Memory, filters: Any, allow_all: Any) -> None:
        star = {"user_id": "*", **(filters or {})} if allow_all is not True else filters
        with pytest.raises(ValueError, match="allow_all=True"):
            owned.get_all(filters=star, allow_all=allow_all)

    def test_metadata_cannot_move_a_memory_into_another_scope(self, owned: Memory, turns: Any) -> None:
        turns.add(
            {"role": "user", "content": "x row"}, user_id="mallory", metadata={"user_id": "alice", "agent_id": "cook"}
        )
        assert passing(owned, {"OR": [{"user_id": "alice"}, {"agent_id": "cook"}]}, run_id="*") == "d"
        found = owned.get_all(filters={"OR": [{"user_id": "alice"}, {"agent_id": "cook"}]})["results"]
        assert "x row" not in [entry["memory"] for entry in found]

    def test_the_context_keeps_to_the_filter(self, owned: Memory) -> None:
        for filters in ({"user_id": "alice"}, {"user_id": {"in": ["alice"]}}):
            text = owned.search("row", filters=filters, token_budget=500)["context"].text
            assert "a row" in text
            assert "b row" not in text
