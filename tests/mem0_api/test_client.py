"""`MemoryClient` and `AsyncMemoryClient`: the hosted service's calls and shapes, answered on this machine."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from mem0_api.answers import texts

from llmslim_memory import Memory as TurnMemory
from llmslim_memory.mem0 import AsyncMemoryClient, Memory, MemoryClient
from llmslim_memory.mem0.client.types import AddMemoryOptions, GetAllMemoryOptions, SearchMemoryOptions
from llmslim_memory.mem0.exceptions import MemoryNotFoundError, UnsupportedFeatureError

SAID = [{"role": "user", "content": "I am vegetarian"}, {"role": "assistant", "content": "Noted."}]


def test_no_key_is_needed_and_one_that_is_given_has_no_effect(
    turns: TurnMemory, caplog: pytest.LogCaptureFixture
) -> None:
    MemoryClient(db=turns)
    assert caplog.records == []
    with caplog.at_level(logging.WARNING):
        client = MemoryClient(api_key="k", host="h", org_id="o", project_id="p", db=turns)
    assert "no effect" in caplog.text
    assert (client.api_key, client.host) == ("k", "h")


def test_add_answers_in_the_services_shape(client: MemoryClient) -> None:
    answer = client.add(SAID, user_id="ann", app_id="chef", metadata={"k": 1}, custom_categories=[], infer=False)
    assert (answer["status"], answer["message"]) == ("SUCCEEDED", "Memories stored successfully")
    assert answer["event_id"]
    assert [(entry["data"], entry["event"]) for entry in answer["results"]] == [
        ({"memory": "I am vegetarian"}, "ADD"),
        ({"memory": "Noted."}, "ADD"),
    ]


def test_items_name_all_four_ids_whether_set_or_not(client: MemoryClient) -> None:
    memory_id = client.add("x", user_id="ann", app_id="chef", run_id="r")["results"][0]["id"]
    found = client.get(memory_id)
    assert {name: found[name] for name in ("user_id", "agent_id", "app_id", "run_id", "session_id")} == {
        "user_id": "ann",
        "agent_id": None,
        "app_id": "chef",
        "run_id": "r",
        "session_id": "r",
    }
    assert (found["metadata"], found["categories"], found["expiration_date"]) == ({}, None, None)


def test_options_may_be_an_object_a_dict_or_arguments(client: MemoryClient) -> None:
    client.add(SAID, AddMemoryOptions(user_id="ann", metadata={"k": 1}))
    client.add("It rains", {"user_id": "ann"})
    assert texts(client.search("vegetarian", SearchMemoryOptions(filters={"user_id": "ann"}, top_k=1))) == [
        "I am vegetarian"
    ]
    assert len(texts(client.get_all(GetAllMemoryOptions(filters={"user_id": "ann"})))) == 3
    assert texts(client.get_all({"filters": {"user_id": "ann"}}, metadata={"k": 1})) == ["I am vegetarian", "Noted."]


class TestApps:
    @pytest.fixture
    def apps(self, client: MemoryClient) -> MemoryClient:
        client.add("a: opens at nine", app_id="shop")
        client.add("b: likes tea", app_id="shop", user_id="ann")
        client.add("c: likes rain", user_id="ann")
        client.add("d: opens late", app_id="bar")
        client.add("e: the other one", agent_id="shop")
        return client

    @pytest.mark.parametrize(
        ("filters", "expected"),
        [
            ({"app_id": "shop"}, "ab"),
            ({"app_id": "shop", "user_id": "ann"}, "b"),
            ({"user_id": "ann"}, "bc"),
            ({"app_id": {"in": ["shop", "bar"]}}, "abd"),
            ({"AND": [{"app_id": "bar"}]}, "d"),
            ({"user_id": "ann", "app_id": "*"}, "b"),
            ({"agent_id": "shop"}, "e"),
        ],
    )
    def test_an_app_is_a_scope_of_its_own(self, apps: MemoryClient, filters: dict[str, Any], expected: str) -> None:
        assert [text[0] for text in texts(apps.get_all(filters=filters))] == list(expected)
        assert sorted(text[0] for text in texts(apps.search("opens", filters=filters, threshold=0))) == list(expected)

    def test_the_app_of_a_memory_shows_and_no_agent(self, apps: MemoryClient) -> None:
        found = apps.get_all(filters={"app_id": "bar"})["results"][0]
        assert (found["app_id"], found["agent_id"]) == ("bar", None)

    def test_users_counts_by_kind_and_name(self, apps: MemoryClient) -> None:
        listed = apps.users()
        assert [(entry["type"], entry["name"], entry["total_memories"]) for entry in listed["results"]] == [
            ("agent", "shop", 1),
            ("app", "bar", 1),
            ("app", "shop", 2),
            ("user", "ann", 2),
        ]
        assert listed["count"] == 4

    @pytest.mark.parametrize("purge", [False, True])
    def test_deleting_an_app_deletes_what_is_its_own_and_no_more(self, apps: MemoryClient, purge: bool) -> None:
        apps.delete_users(app_id="shop", purge=purge)
        assert texts(apps.get_all(filters={"OR": [{"user_id": "ann"}, {"app_id": "bar"}, {"agent_id": "shop"}]})) == [
            "c: likes rain",
            "d: opens late",
            "e: the other one",
        ]

    def test_metadata_cannot_move_a_memory_into_an_app(self, apps: MemoryClient) -> None:
        apps.add("f: sneaks in", user_id="mallory", metadata={"app_id": "bar"})
        assert texts(apps.get_all(filters={"app_id": "bar"})) == ["d: opens late"]


def test_get_all_gives_pages_where_they_are_asked_for(client: MemoryClient) -> None:
    for number in range(7):
        client.add(f"n{number}", user_id="ann")
    first = client.get_all(filters={"user_id": "ann"}, page=1, page_size=3)
    last = client.get_all(filters={"user_id": "ann"}, page=3, page_size=3)
    assert (first["count"], first["next"], first["previous"]) == (7, "?page=2&page_size=3", None)
    assert (texts(last), last["next"], last["previous"]) == (["n6"], None, "?page=2&page_size=3")
    assert client.get_all(filters={"user_id": "ann"})["next"] is None
    assert texts(client.get_all(user_id="ann", version="v1")) == [f"n{number}" for number in range(7)]
    assert client.get_all(user_id="ann", version="v1", page=1, page_size=3)["count"] == 7
    with pytest.raises(ValueError, match="non-negative"):
        client.get_all(user_id="ann", page=-1)


def test_get_all_takes_a_span_of_days_and_categories(client: MemoryClient) -> None:
    for month in (1, 2, 3):
        client.add(
            f"m{month}", user_id="ann", timestamp=f"2026-0{month}-10T00:00:00Z", metadata={"categories": [f"c{month}"]}
        )
    assert texts(client.get_all(filters={"user_id": "ann"}, start_date="2026-02-01", end_date="2026-02-28")) == ["m2"]
    assert texts(client.get_all(filters={"user_id": "ann"}, categories=["c1", "c3"])) == ["m1", "m3"]


def test_search_takes_ids_either_way_and_its_own_count(client: MemoryClient) -> None:
    for number in range(15):
        client.add(f"note {number}", user_id="ann")
    assert len(texts(client.search("note", filters={"user_id": "ann"}))) == 10
    assert len(texts(client.search("note", user_id="ann", limit=12))) == 12
    assert texts(client.search("note", user_id="ann", top_k=0)) == []
    assert len(texts(client.search("note", version="v2", filters={"AND": [{"user_id": "ann"}]}, top_k=2))) == 2


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({"user_id": "ann", "memory_ids": ["{id}"]}, 1),
        ({"user_id": "ann", "keywords": {"icontains": "VEGET"}}, 1),
        ({"user_id": "ann", "text": {"contains": "Noted"}}, 1),
        ({"user_id": "ann", "metadata": {"k": 1}}, 2),
        ({"user_id": "ann", "NOT": {"keywords": {"contains": "Noted"}}}, 1),
        ({"user_id": "ann", "timestamp": {"gte": "2020-01-01"}}, 2),
    ],
)
def test_the_services_own_filter_names_work(client: MemoryClient, filters: dict[str, Any], expected: int) -> None:
    memory_id = client.add(SAID, user_id="ann", metadata={"k": 1})["results"][0]["id"]
    filters = {name: [memory_id] if value == ["{id}"] else value for name, value in filters.items()}
    assert len(texts(client.get_all(filters=filters))) == expected


def test_get_of_an_unknown_id_is_not_found(client: MemoryClient) -> None:
    with pytest.raises(MemoryNotFoundError, match="not found"):
        client.get("nothing")


def test_update_returns_the_memory_as_it_is_now(client: MemoryClient) -> None:
    memory_id = client.add("one", user_id="ann")["results"][0]["id"]
    assert client.update(memory_id, text="two", metadata={"k": 1}, timestamp=5)["memory"] == "two"
    assert client.update(memory_id, "three")["metadata"] == {"k": 1}
    assert client.update(memory_id, {"expiration_date": "2999-01-01"})["expiration_date"] == "2999-01-01"
    assert client.update(memory_id, expiration_date=None)["expiration_date"] is None


def test_history_names_the_message_that_was_said(client: MemoryClient) -> None:
    said = {"role": "user", "content": "I moved", "name": "Ann"}
    memory_id = client.add([said], user_id="ann")["results"][0]["id"]
    client.update(memory_id, text="I moved to Goa")
    rows = client.history(memory_id)
    assert [(row["event"], row["input"]) for row in rows] == [("ADD", [said]), ("UPDATE", [said])]
    client.delete(memory_id)
    assert [row["input"] for row in client.history(memory_id)] == [[], [], []]


def test_delete_and_delete_all_answer_with_a_message(client: MemoryClient) -> None:
    first, second = (entry["id"] for entry in client.add(SAID, user_id="ann")["results"])
    assert client.delete(first, delete_linked=True) == {"message": "Memory deleted successfully!"}
    client.delete(second, purge=True)
    assert client.history(second) == []
    client.add(SAID, user_id="ann")
    assert client.delete_all(user_id="ann") == {"message": "Memories deleted successfully!"}
    assert texts(client.get_all(user_id="ann")) == []


def test_delete_all_takes_filters_and_refuses_a_star(client: MemoryClient) -> None:
    client.add("x", user_id="ann", metadata={"k": 1})
    client.add("y", user_id="ann")
    for wrong in ({"user_id": "*"}, {"user_id": "*", "run_id": "r"}):
        with pytest.raises(ValueError, match=r"at least one of|cannot be deleted"):
            client.delete_all(filters=wrong)
    client.delete_all(filters={"user_id": "ann", "metadata": {"k": 1}})
    assert texts(client.get_all(user_id="ann")) == ["y"]
    with pytest.raises(TypeError, match="usr_id"):
        client.delete_all(user_id="ann", usr_id="x")


def test_delete_users_takes_only_the_four_ids_and_without_one_deletes_everyone(client: MemoryClient) -> None:
    client.add("x", user_id="ann")
    client.add("y", user_id="bob")
    with pytest.raises(TypeError, match="usr_id"):
        client.delete_users(usr_id="ann")  # type: ignore[call-arg]
    client.delete_users(user_id="ann")
    assert [entry["name"] for entry in client.users()["results"]] == ["bob"]
    client.delete_users()
    assert client.users()["count"] == 0


def test_reset_deletes_everything(client: MemoryClient) -> None:
    client.add("x", user_id="ann")
    assert "All users and memories deleted" in client.reset()["message"]
    assert client.users()["results"] == []


def test_batches_update_and_delete(client: MemoryClient) -> None:
    first, second = (entry["id"] for entry in client.add(SAID, user_id="ann")["results"])
    updated = client.batch_update([{"memory_id": first, "text": "one"}, {"memory_id": second, "text": "two"}])
    assert "2" in updated["message"]
    assert texts(client.get_all(user_id="ann")) == ["one", "two"]
    assert "1" in client.batch_delete([{"memory_id": first}])["message"]
    assert texts(client.get_all(user_id="ann")) == ["two"]


def test_what_only_the_service_has_says_so_when_it_is_called(client: MemoryClient) -> None:
    calls: list[Any] = [
        lambda: client.create_memory_export(schema="{}"),
        lambda: client.get_memory_export(memory_export_id="x"),
        lambda: client.get_summary(),
        lambda: client.feedback("id", feedback="POSITIVE"),
        lambda: client.get_project(),
        lambda: client.project.update(custom_instructions="x"),
        lambda: client.get_webhooks(project_id="p"),
        lambda: client.chat("x"),
    ]
    for call in calls:
        with pytest.raises(UnsupportedFeatureError, match="service") as error:
            call()
        assert isinstance(error.value, NotImplementedError)
    assert not hasattr(client, "no_such_method")


def test_arguments_without_effect_here_are_passed_over(client: MemoryClient) -> None:
    client.add(
        "x", user_id="ann", output_format="v1.1", async_mode=False, enable_graph=True, immutable=True, includes="y"
    )
    assert texts(client.search("x", user_id="ann", rerank=True, fields=["memory"], keyword_search=True)) == ["x"]
    with pytest.raises(TypeError, match="usr_id"):
        client.search("x", user_id="ann", usr_id="bob")


def test_both_apis_read_the_same_memories(client: MemoryClient, memory: Memory) -> None:
    client.add("from the client", user_id="ann")
    memory.add("from the memory", user_id="ann")
    assert texts(client.get_all(user_id="ann")) == texts(memory.get_all(user_id="ann"))


async def test_the_async_client_has_the_same_calls() -> None:
    async with AsyncMemoryClient(api_key="k", db=":memory:") as client:
        memory_id = (await client.add(SAID, user_id="ann"))["results"][0]["id"]
        assert texts(await client.search("vegetarian", filters={"user_id": "ann"}))[0] == "I am vegetarian"
        assert (await client.update(memory_id, text="I eat fish"))["memory"] == "I eat fish"
        assert (await client.get(memory_id))["memory"] == "I eat fish"
        assert len(await client.history(memory_id)) == 2
        assert len(texts(await client.get_all(user_id="ann"))) == 2
        await client.batch_update([{"memory_id": memory_id, "text": "I eat peas"}])
        await client.batch_delete([{"memory_id": memory_id}])
        assert (await client.users())["count"] == 1
        await client.delete_all(user_id="ann")
        await client.delete_users(user_id="ann")
        await client.reset()
        with pytest.raises(UnsupportedFeatureError):
            client.project.get()
