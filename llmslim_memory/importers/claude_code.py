"""Claude Code transcripts: JSONL that logs a session with all its bookkeeping, rewinds, forks and compactions.

A file is read twice. The first pass keeps no text: it notes the tree of records, so that the second can tell what was
abandoned, and what the user typed while the assistant was at work.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from typing import Any

from llmslim_memory.importers.claude_code_chain import MAX_NODES, Node, abandoned
from llmslim_memory.importers.claude_code_words import (
    FORMAT,
    classify,
    is_record,
    is_tool_result,
    queued_text,
    queued_turn,
)
from llmslim_memory.importers.fields import digest, id_of, object_of
from llmslim_memory.importers.outcomes import MALFORMED, Left, Outcome, Outcomes, Turn
from llmslim_memory.importers.records import Record

__all__ = ["FORMAT", "is_record", "is_transcript", "read"]

_NEAR = 200
"""Records within which the same words are one prompt, logged once as queued and once as said."""

_MAX_QUEUED = 10_000
"""Prompts that may wait at once; of more, the oldest are forgotten."""


def is_transcript(name: str) -> bool:
    """Whether a file of the projects folder can be a transcript; event logs and the prompt history are none."""
    return PurePosixPath(name).name not in ("journal.jsonl", "history.jsonl", "sessions-index.json")


def read(records: Callable[[], Iterable[Record]], name: str, *, tools: bool) -> Outcomes:
    """Yield the outcome of every record of a transcript; ``records`` starts reading it anew."""
    path = PurePosixPath(name)
    if "subagents" in path.parts or path.name.startswith("agent-"):
        yield from (Left(record.problem or "subagent", record.where) for record in records())
        return
    notes = _Notes()
    for position, record in enumerate(records()):
        if isinstance(record.value, dict):
            notes.add(position, record.value, tools)
    notes.finish()
    yield from _merged(_outcomes(records(), notes, tools))


def _outcomes(records: Iterable[Record], notes: _Notes, tools: bool) -> Iterator[tuple[str | None, Outcome]]:
    """Every record's outcome, with the message of the model's that it is a part of."""
    for position, record in enumerate(records):
        value = record.value
        if record.problem is not None or not isinstance(value, dict):
            yield None, Left(record.problem or MALFORMED, record.where)
            continue
        outcome = notes.judge(position, value, classify(value, record.where, tools=tools))
        yield _reply(value) if isinstance(outcome, Turn) and outcome.role == "assistant" else None, outcome


def _merged(outcomes: Iterable[tuple[str | None, Outcome]]) -> Outcomes:
    """Of snapshots of one reply, each the last one and more, only the last."""
    held: tuple[str, Turn] | None = None
    for reply, outcome in outcomes:
        if held is not None and isinstance(outcome, Turn):
            grown = reply == held[0] and outcome.content.startswith(held[1].content)
            yield Left("meta") if grown else held[1]
            held = None
        if reply is not None and isinstance(outcome, Turn):
            held = reply, outcome
        else:
            yield outcome
    if held is not None:
        yield held[1]


def _reply(value: Mapping[str, Any]) -> str | None:
    return id_of(object_of(value, "message"), "id")


@dataclass(slots=True)
class _Notes:
    """What the first pass notes about a transcript."""

    nodes: dict[str, Node] = field(default_factory=dict)
    linear: bool = False
    leaf: str | None = None
    queue: OrderedDict[str, deque[int]] = field(default_factory=OrderedDict)
    said: dict[str, list[int]] = field(default_factory=dict)
    queued: dict[str, list[int]] = field(default_factory=dict)
    absorbed: set[int] = field(default_factory=set)
    lost: set[str] = field(default_factory=set)

    def add(self, position: int, value: Mapping[str, Any], tools: bool) -> None:
        kind = value.get("type")
        if kind == "queue-operation":
            self._queue_operation(position, value)
        elif kind == "last-prompt" and value.get("explicit"):
            self.leaf = id_of(value, "leafUuid") or self.leaf
        key = id_of(value, "uuid")
        if key is None or self.linear:
            return
        outcome = classify(value, "", tools=tools)
        said = outcome if isinstance(outcome, Turn) and outcome.role != "tool" else None
        if said is not None and said.role == "user":
            places = self.said if kind == "user" else self.queued
            places.setdefault(digest(said.content), []).append(position)
        parent = id_of(value, "parentUuid") or id_of(value, "logicalParentUuid")
        carrier = is_tool_result(value) or kind == "attachment"
        self.nodes[key] = Node(parent, position, said.role if said else None, _reply(value), carrier)
        self.linear = len(self.nodes) >= MAX_NODES

    def _queue_operation(self, position: int, value: Mapping[str, Any]) -> None:
        """Pair what was put in the queue with its removal: absorbed by the running turn, or not."""
        text = queued_text(value)
        match value.get("operation"):
            case "enqueue" if text:
                self.queue.setdefault(digest(text), deque()).append(position)
                if len(self.queue) > _MAX_QUEUED:
                    self.queue.popitem(last=False)
            case "remove":
                place = self._leave_queue(digest(text) if text else next(iter(self.queue), ""))
                if place is not None and value.get("reason") == "absorbed_mid_turn" and len(self.absorbed) < MAX_NODES:
                    self.absorbed.add(place)
            case "dequeue":
                self._leave_queue(next(iter(self.queue), ""))
            case "popAll":
                self.queue.clear()

    def _leave_queue(self, name: str) -> int | None:
        """Take the first prompt of these words out of the queue and say where it stood."""
        waiting = self.queue.get(name)
        if waiting is None:
            return None
        place = waiting.popleft()
        if not waiting:
            del self.queue[name]
        return place

    def finish(self) -> None:
        if not self.linear:
            self.lost = abandoned(self.nodes, self.leaf)

    def judge(self, position: int, value: Mapping[str, Any], outcome: Outcome) -> Outcome:
        """The outcome of a record, now that the rest of the transcript is known."""
        key = id_of(value, "uuid")
        if value.get("type") == "queue-operation":
            text = queued_text(value)
            waited = position in self.absorbed and not self._is_said(text, position, queued=True)
            return queued_turn(value, text) if waited else outcome
        if not isinstance(outcome, Turn):
            return outcome
        if key is None:
            return replace(outcome, local_id=True)
        if value.get("type") == "attachment" and self._is_said(outcome.content, position, queued=False):
            return Left("meta")
        if key in self.nodes and not self.linear and self.nodes[key].position != position:
            return Left("meta")
        return Left("other_branch") if key in self.lost else outcome

    def _is_said(self, text: str, position: int, *, queued: bool) -> bool:
        """Whether the same words stand nearby as a prompt, or, where ``queued`` asks for them too, as a queued one."""
        name = digest(text)
        prompts, waiting = self.said.get(name, ()), self.queued.get(name, ())
        return _is_near(prompts, position) or (queued and _is_near(waiting, position))


def _is_near(places: Sequence[int], position: int) -> bool:
    """Whether one of ``places``, which ascend, is within :data:`_NEAR` records of ``position``."""
    index = bisect_left(places, position - _NEAR)
    return index < len(places) and places[index] <= position + _NEAR
