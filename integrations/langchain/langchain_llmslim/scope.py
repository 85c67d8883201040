"""Whose memory a run reads and writes, found before anything else happens."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypedDict
from uuid import UUID

from llmslim_memory import InvalidValueError, Scope

IdSource = str | Callable[[Any, Mapping[str, Any]], str | None] | None
"""An id, a function ``(runtime, config)`` that returns one, or ``None``: look it up in the run."""


class Ids(TypedDict):
    """The ids that the methods of a memory take."""

    user_id: str | None
    agent_id: str | None
    run_id: str | None


@dataclass(frozen=True, slots=True)
class RunScope:
    """The user, agent and session of one run; at least one of user and session is known."""

    user_id: str | None
    agent_id: str | None
    session_id: str | None

    def own(self) -> Ids:
        """The ids under which this run's turns are stored."""
        return Ids(user_id=self.user_id, agent_id=self.agent_id, run_id=self.session_id)

    def readable(self) -> Ids:
        """The ids to recall from: all sessions of a known user, else this session alone."""
        return self.own() if self.user_id is None else Ids(user_id=self.user_id, agent_id=self.agent_id, run_id=None)


@dataclass(frozen=True, slots=True)
class ScopeRule:
    """Where the three ids come from; see :meth:`resolve`."""

    user_id: IdSource = None
    agent_id: IdSource = None
    session_id: IdSource = None

    def resolve(self, runtime: Any, config: Mapping[str, Any] | None) -> RunScope:
        """Find the ids of a run.

        An id comes from the first of these that has it: this rule; for the user, whom the server authenticated; the
        run's context (``context.user_id``, ``context["user_id"]``); ``config["configurable"]``. The session there is
        ``thread_id``, or ``session_id``. Numbers and UUIDs count as their text.

        Raises:
            ValueError: Neither a user nor a session is known, or an id is blank.
            TypeError: An id is not text.
        """
        config = config or {}
        named = {
            "user_id": _find(self.user_id, _identity(runtime), ("user_id",), runtime, config),
            "agent_id": _find(self.agent_id, None, ("agent_id",), runtime, config),
            "session_id": _find(self.session_id, None, ("session_id", "thread_id"), runtime, config),
        }
        if named["user_id"] is None and named["session_id"] is None:
            raise InvalidValueError(
                "whose memory is this? pass user_id=... (or a context or config with a user_id), or run with a "
                'thread: config={"configurable": {"thread_id": "..."}}'
            )
        scope = RunScope(**named)
        Scope(**scope.own())
        return scope


def _find(
    given: IdSource, authenticated: Any, names: tuple[str, ...], runtime: Any, config: Mapping[str, Any]
) -> str | None:
    if callable(given):
        if (named := given(runtime, config)) is None:
            raise InvalidValueError(
                f"the function given as {names[0]} returned None: return an id, or pass no function"
            )
        return _as_id(named)
    context = getattr(runtime, "context", None)
    places = [_get(place, name) for place in (context, config.get("configurable")) for name in names]
    known = (value for value in (given, authenticated, *places) if value is not None)
    return _as_id(next(known, None))


def _get(place: Any, name: str) -> Any:
    return place.get(name) if isinstance(place, Mapping) else getattr(place, name, None)


def _identity(runtime: Any) -> str | None:
    # Only the server sets this, while a client may write what it likes into the config.
    user = getattr(getattr(runtime, "server_info", None), "user", None)
    return (getattr(user, "identity", None) or None) if getattr(user, "is_authenticated", False) else None


def _as_id(value: Any) -> str | None:
    # What is no id at all is refused where the scope is made.
    plain: str | None = str(value) if isinstance(value, int | UUID) and not isinstance(value, bool) else value
    return plain
