"""What is asked: a question with all that belongs to it, checked, in a form that another process can be given."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from llmslim_memory.selection import SelectionOptions
from llmslim_memory.types import Scope


@dataclass(frozen=True, slots=True, kw_only=True)
class Extent:
    """Whose turns, and which of them may be shown."""

    scope: Scope
    since: datetime | None = None
    until: datetime | None = None
    only: frozenset[str] | None = None
    exclude: frozenset[str] = frozenset()
    exclude_runs: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question about the turns of an extent.

    ``now`` is what relative times refer to; ``most`` how many tokens a search may spend, or passages a ranking gives.
    """

    text: str
    extent: Extent
    now: datetime
    relevance: Any
    options: SelectionOptions
    most: int
