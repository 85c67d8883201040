"""A value of the wrong type at every field of every format: counted, never an error, and the records beside it stay."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.importers.helpers import contents, document, imported, lines, message, new_memory
from tests.importers.test_chatgpt import content, node, tree
from tests.importers.test_chatgpt import conversation as chatgpt
from tests.importers.test_claude_ai import entry, talk
from tests.importers.test_claude_code import assistant, queued, record, result, user
from tests.importers.test_mem0 import fact

WRONG: list[Any] = [
    *(None, True, -1, 10**30, 1e308, "", "\ud800\x00", "x" * 5000),
    *([], [[]], {}, {"type": "text", "text": 5}, {"id": []}),
]

Path_ = tuple[Any, ...]


def places(value: Any, here: Path_ = ()) -> Iterator[Path_]:
    """The paths to every field and element of a JSON value."""
    yield here
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from places(inner, (*here, key))


def replaced(value: Any, place: Path_, by: Any) -> Any:
    if not place:
        return by
    value = copy.deepcopy(value)
    inner = value
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = by
    return value


def without(value: Any, place: Path_) -> Any:
    value = copy.deepcopy(value)
    inner = value
    for key in place[:-1]:
        inner = inner[key]
    del inner[place[-1]]
    return value


CHATGPT = tree(
    node("r", None, content={"content_type": "system_message"}, role="system"),
    node("q", "r", "question", weight=1.0, channel=None, metadata={"is_user_system_message": False}, children=["a"]),
    node("a", "q", content=content("multimodal_text", parts=["words", content("audio_transcription", text="said")])),
    node("t", "a", content=content("code", text="x"), role="assistant", recipient="python"),
    current="t",
    update_time=1_767_349_900.5,
    conversation_id="c9",
    is_do_not_remember=False,
)
CLAUDE = talk(
    entry("m0", "question", attachments=[{"file_name": "", "extracted_content": "paste"}], files=[{"file_uuid": "f"}]),
    entry(
        *("m1", "answer", "m0", "assistant"),
        content=[
            *({"type": "thinking", "thinking": "x"}, {"type": "text", "text": "answer", "citations": []}),
            *(
                {"type": "tool_use", "name": "web", "input": {"q": "x"}},
                {"type": "tool_result", "content": [{"text": ""}]},
            ),
        ],
    ),
    current_leaf_message_uuid="m1",
)
CODE = [
    user("u", [{"type": "text", "text": "question"}, {"type": "image", "source": {}}], origin={"kind": "human"}),
    assistant("v", "answer", "u", forkedFrom={"sessionId": "s", "messageUuid": "v0"}, isApiErrorMessage=False),
    queued("w", [{"type": "text", "text": "queued"}], "v", origin={"kind": "human"}),
    user("x", [result([{"type": "text", "text": "out"}], is_error=True)], "w", toolUseResult={"answers": {"Q": "A"}}),
    record("system", "y", None, subtype="compact_boundary", logicalParentUuid="x"),
    record("queue-operation", None, operation="enqueue", content=[{"type": "text", "text": "z"}]),
    record("queue-operation", None, operation="remove", content="z", reason="absorbed_mid_turn"),
    record("last-prompt", None, explicit=True, leafUuid="x"),
    record("progress", "p", data={"type": "agent_progress"}),
]
MEM0 = {
    "results": [
        fact(
            role="user", expiration_date="2090-01-01", categories=["a"], metadata={"k": [1]}, agent_id="b", run_id="c"
        ),
        {"id": "p", "payload": {"data": "text", "user_id": "ann", "created_at": "2026-05-01T10:00:00Z"}},
        {"id": "o", "content": "text", "state": "active", "user_id": "ann", "app_id": "x"},
    ],
    "relations": [{"source": "a"}],
}
JSONL = [
    message("a", timestamp="2026-05-01T10:00:00Z", session_id="s", user_id="u", agent_id="g", id="1"),
    message([{"type": "text", "text": "b"}, {"type": "image_url", "image_url": {"url": "x"}}], "assistant"),
    message(None, "assistant", tool_calls=[{"function": {"name": "f"}}]),
    {"messages": [message("c"), {"from": "gpt", "value": "d"}], "id": "talk", "title": "Title"},
]
OWN = [
    {"format": "llmslim-memory", "version": 1},
    {
        "id": "0af1",
        "role": "user",
        "content": "fine",
        "created_at": "2026-01-02T03:04:05.678901+00:00",
        "updated_at": None,
        "user_id": "ann",
        "agent_id": None,
        "run_id": "r",
        "seq": 4,
        "metadata": {"k": {"l": [1]}},
    },
]

# Each with a record before and after that nothing happens to.
CASES: dict[str, tuple[Any, Any, Any]] = {
    "chatgpt": (chatgpt("before", key="b"), CHATGPT, chatgpt("after", key="z")),
    "claude-ai": (talk(entry("b", "before"), uuid="b"), CLAUDE, talk(entry("z", "after"), uuid="z")),
    "mem0": (fact("before", "b"), MEM0, fact("after", "z")),
}
LINES: dict[str, tuple[Any, list[Any], Any]] = {
    "claude-code": (user("b", "before"), CODE, user("z", "after")),
    "jsonl": (message("before"), JSONL, message("after")),
    "llmslim-memory": (OWN[0], OWN[1:], OWN[1] | {"id": "0af2", "content": "after"}),
}


def check(path: Path, format: str, *, tools: bool, wanted: set[str]) -> None:  # noqa: A002
    """Import twice; what is around the wrong value is there, and nothing is new the second time."""
    memory = new_memory()
    first = imported(path, memory, format=format, include_tool_output=tools)
    assert wanted <= set(contents(memory))
    again = imported(path, memory, include_tool_output=tools)
    assert (again.format, again.imported, again.seen) == (format, 0, first.seen)


@pytest.mark.parametrize("wrong", WRONG, ids=lambda value: repr(value)[:20])
@pytest.mark.parametrize("name", CASES)
def test_a_wrong_value_at_any_field_of_a_record_spoils_no_other_record(tmp_path: Path, name: str, wrong: Any) -> None:
    before, middle, after = CASES[name]
    for place in places(middle):
        path = document(tmp_path / "a.json", [before, replaced(middle, place, wrong), after])
        check(path, name, tools=len(place) % 2 == 0, wanted={"before", "after"})


@pytest.mark.parametrize("wrong", WRONG, ids=lambda value: repr(value)[:20])
@pytest.mark.parametrize("name", LINES)
def test_a_wrong_value_at_any_field_of_a_line_spoils_no_later_line(tmp_path: Path, name: str, wrong: Any) -> None:
    before, middle, after = LINES[name]
    for place in places(middle):
        if place:
            path = lines(tmp_path / "a.jsonl", [before, *replaced(middle, place, wrong), after])
            check(path, name, tools=len(place) % 2 == 0, wanted={"after"})


@pytest.mark.parametrize("name", CASES)
def test_a_field_that_is_missing_is_no_error_either(tmp_path: Path, name: str) -> None:
    before, middle, after = CASES[name]
    for place in places(middle):
        if place and isinstance(place[-1], str):
            path = document(tmp_path / "a.json", [before, without(middle, place), after])
            check(path, name, tools=False, wanted={"before", "after"})


@pytest.mark.parametrize("name", LINES)
def test_a_field_that_is_missing_on_a_line_is_no_error_either(tmp_path: Path, name: str) -> None:
    before, middle, after = LINES[name]
    for place in places(middle):
        if place and isinstance(place[-1], str):
            path = lines(tmp_path / "a.jsonl", [before, *without(middle, place), after])
            check(path, name, tools=False, wanted={"after"})
