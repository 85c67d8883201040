"""ChatGPT exports: what is imported of every shape a message has had."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.importers.helpers import contents, document, imported, new_memory, said, turns


def node(key: str, parent: str | None, text: Any = None, role: str = "user", **fields: Any) -> dict[str, Any]:
    """A node of the mapping, with the fields that newer exports have."""
    content = fields.pop("content", {"content_type": "text", "parts": [text]})
    body = {"id": key, "author": {"role": role}, "create_time": 1_767_349_800.0, "content": content, "recipient": "all"}
    return {"id": key, "parent": parent, "children": [], "message": {**body, **fields}}


def tree(*nodes: dict[str, Any], current: Any = None, **fields: Any) -> dict[str, Any]:
    """A conversation of these nodes."""
    mapping = {entry["id"]: entry for entry in nodes}
    return {
        "id": "c1",
        "title": "A talk",
        "create_time": 1_767_349_800,
        "current_node": current,
        "mapping": mapping,
        **fields,
    }


def conversation(*texts: str, key: str = "c1") -> dict[str, Any]:
    """A conversation without branches, the user and the assistant in turn."""
    nodes = [
        node(f"{key}-{n}", f"{key}-{n - 1}" if n else None, text, ("user", "assistant")[n % 2])
        for n, text in enumerate(texts)
    ]
    return tree(*nodes, current=nodes[-1]["id"]) | {"id": key, "conversation_id": key}


def outcome(tmp_path: Path, entry: dict[str, Any], **options: Any) -> str | list[str]:
    """The reason why a message is left out, or what is stored of it."""
    memory = new_memory()
    path = document(tmp_path / "c.json", [tree(entry, current=entry["id"])])
    report = imported(path, memory, **options)
    (reason,) = [*report.skipped, *(["malformed"] * report.malformed)] or [""]
    return reason or [item.content for item in turns(memory)]


def content(kind: str, **fields: Any) -> dict[str, Any]:
    return {"content_type": kind, **fields}


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"content": content("text", parts=["plain"])}, ["plain"]),
        ({"content": content("text", parts=["one", "two"])}, ["one\n\ntwo"]),
        ({"content": content("text", parts=[""])}, "empty"),
        ({"content": content("text")}, "empty"),
        ({"content": content("text", parts=[None, {"odd": 1}])}, "unsupported"),
        ({"content": content("multimodal_text", parts=[content("image_asset_pointer"), "and words"])}, ["and words"]),
        ({"content": content("multimodal_text", parts=[content("image_asset_pointer")])}, "attachment"),
        (
            {"content": content("multimodal_text", parts=[content("audio_transcription", text="by voice")])},
            ["by voice"],
        ),
        (
            {"content": content("multimodal_text", parts=[content("real_time_user_audio_video_asset_pointer")])},
            "attachment",
        ),
        ({"content": content("code", text="print(1)"), "recipient": "python"}, "tool_output"),
        ({"content": content("code", text="print(1)")}, "tool_output"),
        ({"content": content("execution_output", text="1")}, "tool_output"),
        ({"content": content("tether_quote", text="q")}, "tool_output"),
        ({"content": content("tether_browsing_display", result="r")}, "tool_output"),
        *(
            ({"content": content(kind, text="x")}, "tool_output")
            for kind in (
                *("system_error", "tether_browsing_code", "computer_output", "citable_code_output", "sonic_webpage"),
            )
        ),
        *(
            ({"content": content("multimodal_text", parts=[content(kind)])}, "attachment")
            for kind in ("audio_asset_pointer", "video_container_asset_pointer", "file_asset_pointer")
        ),
        ({"content": content("system_content", text="s")}, "system"),
        ({"content": content("developer_content", text="s")}, "system"),
        ({"content": content("error", text="e")}, "unsupported"),
        ({"content": content("thoughts", thoughts=[{"content": "hm"}])}, "thinking"),
        ({"content": content("reasoning_recap", content="Thought for 4s")}, "thinking"),
        ({"content": content("user_editable_context", user_profile="I bake")}, "meta"),
        ({"content": content("model_editable_context", model_set_context="x")}, "meta"),
        ({"content": content("system_message", text="s")}, "system"),
        ({"content": content("super_widget", text="w")}, "unsupported"),
        ({"content": None}, "malformed"),
        ({"content": "text"}, "malformed"),
        ({"author": {"role": "system"}}, "system"),
        ({"author": {"role": "tool", "name": "web"}}, "tool_output"),
        *(({"author": {"role": role}}, "tool_output") for role in ("function", "critic")),
        ({"author": {"role": "developer"}}, "system"),
        ({"author": {"role": "narrator"}}, "malformed"),
        ({"author": None}, "malformed"),
        ({"author": {"role": "assistant"}, "channel": "commentary"}, "thinking"),
        ({"author": {"role": "assistant"}, "channel": "analysis"}, "thinking"),
        ({"author": {"role": "assistant"}, "channel": "final"}, ["words"]),
        ({"author": {"role": "assistant"}, "recipient": "canmore.create_textdoc"}, "tool_output"),
        *(
            ({"author": {"role": "assistant"}, "recipient": name}, "tool_output")
            for name in ("bio", "browser", "web.run", "dalle.text2im", "container.exec", "q7dr546", "assistant")
        ),
        ({"recipient": ""}, ["words"]),
        ({"recipient": None}, ["words"]),
        ({"weight": 0}, "meta"),
        ({"weight": None}, ["words"]),
        ({"metadata": {"is_visually_hidden_from_conversation": True}}, "meta"),
        ({"metadata": {"is_user_system_message": True}}, "meta"),
        ({"metadata": {"is_thinking_preamble_message": True}}, "thinking"),
        ({"metadata": {"reasoning_status": "is_reasoning"}}, "thinking"),
        ({"metadata": None}, ["words"]),
    ],
)
def test_a_message_is_imported_or_left_out_for_its_reason(
    tmp_path: Path, fields: dict[str, Any], expected: str | list[str]
) -> None:
    assert outcome(tmp_path, node("n", None, "words", **fields)) == expected


def test_tool_messages_are_imported_as_tool_turns_when_asked_for(tmp_path: Path) -> None:
    path = document(
        tmp_path / "c.json",
        [
            tree(
                node("a", None, content=content("code", text="search('x')"), role="assistant", recipient="web"),
                node("b", "a", "found", role="tool"),
                node("c", "b", content=content("thoughts", thoughts=[]), role="assistant"),
                current="c",
            )
        ],
    )
    memory = new_memory()
    assert imported(path, memory, include_tool_output=True).skipped == {"thinking": 1}
    assert [(item.role, item.content) for item in turns(memory)] == [("tool", "search('x')"), ("tool", "found")]


def test_citation_marks_are_no_words(tmp_path: Path) -> None:
    text = "At 3 °C. \ue200cite\ue202turn0search0\ue201 See【12†source】 and 【重要】."
    assert outcome(tmp_path, node("n", None, text)) == ["At 3 °C.  See and 【重要】."]


def test_the_branch_of_the_current_node_is_imported_and_the_others_are_counted(tmp_path: Path) -> None:
    nodes = [node("q", None, "question"), node("a1", "q", "first", "assistant"), node("a2", "q", "second", "assistant")]
    for current, expected in (("a1", "first"), ("a2", "second")):
        assert said(document(tmp_path / "c.json", [tree(*nodes, current=current)])) == ["question", expected]
    assert imported(tmp_path / "c.json").skipped == {"other_branch": 1}


@pytest.mark.parametrize("current", [None, "dangling", 7])
def test_without_a_current_node_the_latest_leaf_is_the_branch(tmp_path: Path, current: Any) -> None:
    nodes = [
        node("q", None, "question"),
        node("a1", "q", "late", "assistant", create_time=1_800_000_000),
        node("a2", "q", "early", "assistant", create_time=1_700_000_000),
    ]
    assert said(document(tmp_path / "c.json", [tree(*nodes, current=current)])) == ["question", "late"]


def test_a_slim_export_without_children_metadata_and_current_node_is_read_by_parent(tmp_path: Path) -> None:
    nodes = [{"id": "r", "message": None, "parent": None}, node("a", "r", "one"), node("b", "a", "two", "assistant")]
    for entry in nodes:
        entry.pop("children", None)
    slim = {"conversation_id": "c", "mapping": {entry["id"]: entry for entry in nodes}}
    assert said(document(tmp_path / "c.json", [slim])) == ["one", "two"]


def test_cyclic_and_missing_parents_end_a_branch(tmp_path: Path) -> None:
    circle = [node("p", "q", "p"), node("q", "p", "q", "assistant")]
    assert said(document(tmp_path / "c.json", [tree(*circle, current="p")])) == ["q", "p"]
    assert said(document(tmp_path / "c.json", [tree(node("x", "gone", "x"), current="x")])) == ["x"]


def test_a_chain_of_three_thousand_messages_is_walked_without_recursion(tmp_path: Path) -> None:
    texts = [f"message {number}" for number in range(3000)]
    assert said(document(tmp_path / "c.json", [conversation(*texts)])) == texts


def test_times_come_from_the_message_else_from_the_one_before_else_from_the_conversation(tmp_path: Path) -> None:
    nodes = [
        node("a", None, "a", create_time=None),
        node("b", "a", "b", create_time="2026-01-03T04:05:06.5Z"),
        node("c", "b", "c", create_time=None),
    ]
    memory = new_memory()
    imported(document(tmp_path / "c.json", [tree(*nodes, current="c")]), memory)
    late = datetime(2026, 1, 3, 4, 5, 6, 500_000, UTC)
    assert [item.created_at for item in turns(memory)] == [datetime(2026, 1, 2, 10, 30, tzinfo=UTC), late, late]


def test_what_the_user_asked_not_to_remember_is_not_imported(tmp_path: Path) -> None:
    private = conversation("secret", "ok") | {"is_do_not_remember": True}
    assert imported(document(tmp_path / "c.json", [private])).skipped == {"meta": 2}


@pytest.mark.parametrize("title", [None, "", 5])
def test_a_conversation_without_a_title_is_imported(tmp_path: Path, title: Any) -> None:
    assert said(document(tmp_path / "c.json", [conversation("hi") | {"title": title}])) == ["hi"]


@pytest.mark.parametrize(
    "bad", [{"mapping": []}, {"mapping": {"a": 1}}, {"mapping": {"a": {"message": 3}}}, {"x": 1}, []]
)
def test_one_bad_conversation_does_not_cost_the_others(tmp_path: Path, bad: Any) -> None:
    report = imported(document(tmp_path / "c.json", [conversation("one", key="a"), bad, conversation("two", key="b")]))
    assert (report.imported, report.malformed) == (2, 1)


def test_a_conversation_becomes_a_session_with_its_title(tmp_path: Path) -> None:
    memory = new_memory()
    report = imported(document(tmp_path / "c.json", [conversation("hi", "hello")]), memory)
    (session,) = report.sessions
    assert (session.session_id, session.title, session.turns, session.user_id) == ("c1", "A talk", 2, "default")
    assert {item.run_id for item in turns(memory)} == {"c1"}
    assert turns(memory)[0].metadata["import"] == {"format": "chatgpt", "id": "c1-0", "title": "A talk"}


@pytest.mark.parametrize("name", ["id", "conversation_id"])
def test_either_id_of_a_conversation_names_it(tmp_path: Path, name: str) -> None:
    talk = conversation("hi")
    del talk[name]
    assert imported(document(tmp_path / "c.json", [talk])).sessions[0].session_id == "c1"


def test_the_oldest_exports_begin_below_a_root_that_is_not_there(tmp_path: Path) -> None:
    nodes = [node("s", "client-created-root", "be brief", "system"), node("a", "s", "one")]
    path = document(tmp_path / "c.json", [tree(*nodes, current="a")])
    assert said(path) == ["one"]
    assert imported(path).skipped == {"system": 1}


@pytest.mark.parametrize("when", [1_767_349_800, 1_767_349_800.0, "2026-01-02T10:30:00Z", "2026-01-02T10:30:00+00:00"])
def test_the_time_of_a_conversation_may_be_a_number_or_text(tmp_path: Path, when: Any) -> None:
    memory = new_memory()
    talk = tree(node("a", None, "a", create_time=None), current="a", create_time=when)
    imported(document(tmp_path / "c.json", [talk]), memory)
    assert turns(memory)[0].created_at == datetime(2026, 1, 2, 10, 30, tzinfo=UTC)


def test_what_newer_exports_add_to_a_conversation_is_no_obstacle(tmp_path: Path) -> None:
    added = {"gizmo_id": "g-p-1", "voice": {"name": "x"}, "memory_scope": "global", "brand_new": [{"deep": None}]}
    talk = tree(node("a", None, "words", brand_new={"x": 1}), current="a", **added)
    assert said(document(tmp_path / "c.json", [talk])) == ["words"]


def test_overlapping_shards_are_one_conversation(tmp_path: Path) -> None:
    document(tmp_path / "conversations.json", [conversation("one", "two")])
    document(tmp_path / "conversations-000.json", [conversation("one", "two", "three")])
    report = imported(tmp_path)
    assert (report.imported, report.duplicates, len(report.sessions)) == (3, 2, 1)


@pytest.mark.parametrize("newer_first", [True, False])
def test_of_two_copies_of_a_conversation_the_one_updated_last_says_which_branch_counts(
    tmp_path: Path, newer_first: bool
) -> None:
    asked = [node("q", None, "question"), node("a", "q", "first try", "assistant"), node("only", "a", "lost since")]
    older = tree(*asked, current="only", update_time=1_767_350_000)
    newer = tree(*asked[:2], node("b", "q", "second try", "assistant"), current="b", update_time="2026-03-01T00:00:00Z")
    names = ["conversations-000.json", "conversations-001.json"]
    for name, talk in zip(names, [newer, older] if newer_first else [older, newer], strict=True):
        document(tmp_path / name, [talk, conversation("other", key=name)])
    memory = new_memory()
    seen: list[tuple[int, int]] = []
    report = imported(tmp_path, memory, on_progress=lambda done, total: seen.append((done, total)))
    assert sorted(contents(memory)) == ["lost since", "other", "other", "question", "second try"]
    assert report.skipped == {"other_branch": 2}
    assert seen[-1][0] == seen[-1][1] == 2 * sum(path.stat().st_size for path in tmp_path.iterdir())


def test_a_wrapper_around_the_conversations_is_read(tmp_path: Path) -> None:
    assert said(document(tmp_path / "c.json", {"conversations": [conversation("hi")]})) == ["hi"]
