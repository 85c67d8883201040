"""Which turns of a Claude Code transcript were abandoned: asked again, edited, or rewound from.

Records name their parent. Most records say nothing (tools, hooks, bookkeeping), so a tree of the speaking records alone
is built first. Where the user spoke twice at the same point, or the assistant replied twice to the same words, the
branch that was written last is the conversation; the others are left out, unless the user went on for long there.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

MAX_NODES = 200_000
_KEPT_USER_TURNS = 3


@dataclass(frozen=True, slots=True)
class Node:
    """A record in the tree. ``speaks`` is the role of what it says, ``None`` if nothing; ``reply`` names the message
    of the model's that it is a part of; ``carrier`` is set where it carries what a tool answered."""

    parent: str | None
    position: int
    speaks: str | None = None
    reply: str | None = None
    carrier: bool = False


@dataclass(slots=True)
class _Branch:
    last: int
    prompts: int
    children: list[str] = field(default_factory=list)


def abandoned(nodes: Mapping[str, Node], leaf: str | None = None) -> set[str]:
    """The ids of speaking records on abandoned branches; ``leaf`` names a record that is on the current one."""
    nearest = _nearest_speaking(nodes)
    ancestors = {key: nearest[key] for key, node in nodes.items() if node.speaks}
    pinned = leaf if leaf in ancestors else nearest.get(leaf or "")
    branches = _branches(nodes, ancestors, pinned)
    by_parent: dict[str, list[str]] = {}
    for key, parent in ancestors.items():
        if parent is not None and not nodes[key].carrier:
            by_parent.setdefault(parent, []).append(key)
    lost = [key for parent, children in by_parent.items() for key in _losers(nodes, parent, children, branches)]
    return _with_descendants(lost, branches)


def _nearest_speaking(nodes: Mapping[str, Node]) -> dict[str, str | None]:
    """For every record the nearest speaking one above it; ``None`` at a root, and where parents run in a circle."""
    nearest: dict[str, str | None] = {}
    for key in nodes:
        path: list[str] = []
        here = nodes[key].parent
        walked = {key}
        found: str | None = None
        while here is not None and here in nodes and here not in walked:
            if nodes[here].speaks:
                found = here
                break
            if here in nearest:
                found = nearest[here]
                break
            walked.add(here)
            path.append(here)
            here = nodes[here].parent
        nearest[key] = found
        nearest.update(dict.fromkeys(path, found))
    return nearest


def _branches(nodes: Mapping[str, Node], ancestors: Mapping[str, str | None], pinned: str | None) -> dict[str, _Branch]:
    """For every speaking record, how late its branch was written to and how often the user speaks on it."""
    branches = {key: _Branch(nodes[key].position, int(nodes[key].speaks == "user")) for key in ancestors}
    if pinned is not None:
        branches[pinned].last = max(node.position for node in nodes.values()) + 1
    for key, parent in ancestors.items():
        if parent is not None:
            branches[parent].children.append(key)
    for key in _leaves_first(ancestors, branches):
        parent = ancestors[key]
        if parent is not None:
            branches[parent].last = max(branches[parent].last, branches[key].last)
            branches[parent].prompts += branches[key].prompts
    return branches


def _leaves_first(ancestors: Mapping[str, str | None], branches: Mapping[str, _Branch]) -> list[str]:
    order = [key for key, parent in ancestors.items() if parent is None]
    for key in order:
        order.extend(branches[key].children)
    return list(reversed(order))


def _losers(
    nodes: Mapping[str, Node], parent: str, children: Sequence[str], branches: Mapping[str, _Branch]
) -> list[str]:
    prompts = {key: key for key in children if nodes[key].speaks == "user"}
    replies = {key: nodes[key].reply or key for key in children if nodes[key].speaks == "assistant"}
    groups = [prompts] + ([replies] if nodes[parent].speaks == "user" else [])
    lost: list[str] = []
    for names in groups:
        if len(set(names.values())) > 1:
            winner = names[max(names, key=lambda key: branches[key].last)]
            lost += [key for key, name in names.items() if name != winner and branches[key].prompts <= _KEPT_USER_TURNS]
    return lost


def _with_descendants(keys: Collection[str], branches: Mapping[str, _Branch]) -> set[str]:
    found = set(keys)
    waiting = list(keys)
    while waiting:
        children = [key for key in branches[waiting.pop()].children if key not in found]
        found.update(children)
        waiting.extend(children)
    return found
