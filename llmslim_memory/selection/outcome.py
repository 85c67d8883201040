"""What a search decided, before it is handed over."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from llmslim_memory.selection.digest import Digest
from llmslim_memory.selection.fitting import Fitted
from llmslim_memory.selection.shelf import Section
from llmslim_memory.selection.turns import TurnPicker
from llmslim_memory.views import Ranking


@dataclass(frozen=True, slots=True)
class Outcome:
    """The text, what it was chosen from, and the sections.

    ``room`` is what the sections left of the budget for turns, ``left_out`` why some turns were not even considered.
    """

    mode: str
    route: str | None
    ranking: Ranking
    fitted: Fitted
    room: int
    found: bool
    left_out: Mapping[int, str]
    sections: Sequence[Section] = ()
    picker: TurnPicker | Digest | None = None
