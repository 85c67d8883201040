"""State machines: any sequence of calls does to a store what it does to a list."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from llmslim_memory.errors import DuplicateIdError
from llmslim_memory.testing import strategies
from llmslim_memory.testing.turns import NOON
from llmslim_memory.types import MemoryItem, MemoryStore, Scope

machine_settings = settings(
    max_examples=20, stateful_step_count=25, deadline=None, suppress_health_check=list(HealthCheck)
)

_users = st.sampled_from(["u1", "u10"])
_agents = st.sampled_from([None, "bot"])
_runs = st.sampled_from([None, "r", "R"])
_times = st.integers(-2, 2).map(lambda n: NOON + timedelta(microseconds=n))
_ids = st.integers(0, 11)
_scopes = st.tuples(_users, _agents, _runs)
_turns = st.tuples(_ids, strategies.texts(20), _times, _scopes, strategies.metadata(3))


@dataclass
class Model:
    """A store that is a list of turns, in the order of adding."""

    items: list[MemoryItem] = field(default_factory=list)

    def add(self, new: list[MemoryItem]) -> bool:
        """Add turns unless an id is taken or stands there twice."""
        ids = [item.id for item in new]
        if len(set(ids)) < len(ids) or any(item.id in ids for item in self.items):
            return False
        self.items += new
        return True

    def edit(self, item_id: str, changes: dict[str, Any]) -> bool:
        """Replace fields of a turn."""
        known = any(item.id == item_id for item in self.items)
        self.items = [replace(item, **changes) if item.id == item_id else item for item in self.items]
        return known

    def remove(self, doomed: list[MemoryItem]) -> int:
        """Delete turns."""
        ids = {item.id for item in doomed}
        self.items = [item for item in self.items if item.id not in ids]
        return len(ids)

    def list(self, scope: Scope, since: datetime | None = None, until: datetime | None = None) -> list[MemoryItem]:
        """Turns of a scope in a window, oldest first."""
        found = [
            item
            for item in self.items
            if scope.matches(item.user_id, item.agent_id, item.run_id)
            and (since is None or item.created_at >= since)
            and (until is None or item.created_at < until)
        ]
        return sorted(found, key=lambda item: item.created_at)


def _bare(item: MemoryItem | None) -> MemoryItem | None:
    """A turn without what the store chooses."""
    return None if item is None else replace(item, seq=0, updated_at=None)


class StoreMachine(RuleBasedStateMachine):
    """The six methods beside a list. All examples share a store, so each has ids and users of its own."""

    def __init__(self, store: MemoryStore) -> None:
        super().__init__()
        self.store = store
        self.model = Model()
        self.mark = uuid4().hex

    def item_id(self, number: int) -> str:
        """The id of a turn of this example."""
        return f"{self.mark}-{number}"

    def scope(self, ids: tuple[str, str | None, str | None]) -> Scope:
        """A scope of this example."""
        return Scope(f"{ids[0]}-{self.mark}", ids[1], ids[2])

    @rule(drafts=st.lists(_turns, max_size=4))
    def add(self, drafts: list[tuple[int, str, datetime, tuple[str, str | None, str | None], dict[str, Any]]]) -> None:
        """A batch is stored whole, or refused whole where the list refuses it."""
        items = [
            MemoryItem(self.item_id(number), "user", text, at, metadata=metadata, **self.scope(ids).ids())
            for number, text, at, ids, metadata in drafts
        ]
        if self.model.add(items):
            self.store.add(items)
        else:
            with pytest.raises(DuplicateIdError):
                self.store.add(items)

    @rule(number=_ids, content=st.none() | strategies.texts(20), metadata=st.none() | strategies.metadata(3))
    def update(self, number: int, content: str | None, metadata: dict[str, Any] | None) -> None:
        """An update replaces what it names."""
        given = {"content": content, "metadata": metadata}
        known = self.model.edit(self.item_id(number), {k: v for k, v in given.items() if v is not None})
        updated = self.store.update(self.item_id(number), content=content, metadata=metadata)
        assert (updated is not None) == known

    @rule(number=_ids)
    def delete(self, number: int) -> None:
        """A delete says whether the turn existed."""
        item_id = self.item_id(number)
        gone = self.model.remove([item for item in self.model.items if item.id == item_id])
        assert self.store.delete(item_id) == bool(gone)

    @rule(ids=_scopes)
    def delete_scope(self, ids: tuple[str, str | None, str | None]) -> None:
        """Deleting a scope counts its turns."""
        scope = self.scope(ids)
        assert self.store.delete_scope(scope) == self.model.remove(self.model.list(scope))

    @rule(ids=_scopes, since=st.none() | _times, until=st.none() | _times)
    def list_window(
        self, ids: tuple[str, str | None, str | None], since: datetime | None, until: datetime | None
    ) -> None:
        """A window of a scope holds the same turns in the same order."""
        found = self.store.list(self.scope(ids), since=since, until=until)
        assert [_bare(item) for item in found] == self.model.list(self.scope(ids), since, until)

    @rule(number=_ids)
    def get(self, number: int) -> None:
        """A turn is found by its id, or not at all."""
        item_id = self.item_id(number)
        expected = next((item for item in self.model.items if item.id == item_id), None)
        assert _bare(self.store.get(item_id)) == expected

    @invariant()
    def both_users_have_the_same_turns(self) -> None:
        """Every turn of the list is in the store, and no other."""
        for user in ("u1", "u10"):
            scope = self.scope((user, None, None))
            assert [_bare(item) for item in self.store.list(scope)] == self.model.list(scope)


class FollowMachine(StoreMachine):
    """A follower that asks what changed, at any time, knows the same turns as one that reads everything."""

    store: Any

    def __init__(self, store: MemoryStore) -> None:
        super().__init__(store)
        self.followed: dict[str, int] = {}
        self.cursor: str | None = None

    @rule()
    def follow(self) -> None:
        """What the follower knows is what there is, each turn at its revision."""
        scope = self.scope(("u1", None, None))
        changes = self.store.changes(scope, after=self.cursor)
        for item_id in changes.deleted:
            self.followed.pop(item_id, None)
        self.followed |= {head.id: head.revision for head in changes.heads}
        self.cursor = changes.cursor
        assert self.followed == {head.id: head.revision for head in self.store.changes(scope).heads}
        assert set(self.followed) == {item.id for item in self.store.list(scope)}

    @precondition(lambda self: self.cursor is not None)
    @rule()
    def follow_from_the_start(self) -> None:
        """A follower may start again at any time."""
        self.followed, self.cursor = {}, None
        self.follow()


class MachineContract:
    """Any sequence of the six methods, compared with a list."""

    def test_any_sequence_of_calls_does_what_it_does_to_a_list(self, store: MemoryStore) -> None:
        run_state_machine_as_test(partial(StoreMachine, store), settings=machine_settings)  # type: ignore[arg-type]


class FollowMachineContract:
    """Any sequence of writes, followed by :meth:`~llmslim_memory.types.SupportsChanges.changes`."""

    def test_a_follower_knows_what_a_full_read_knows(self, store: MemoryStore) -> None:
        run_state_machine_as_test(partial(FollowMachine, store), settings=machine_settings)  # type: ignore[arg-type]
