"""What a caller decides about a selection."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, tzinfo

STAMP_FORMAT = "%Y-%m-%d (%a) %H:%M"


@dataclass(frozen=True, slots=True, kw_only=True)
class SelectionOptions:
    """How turns are dated, how many are shown, which sections may stand above them, and whether to explain the outcome.

    The fields are those of :class:`~llmslim_memory.Memory` and :meth:`~llmslim_memory.Memory.search`.
    """

    tz: tzinfo = UTC
    stamp_format: str = STAMP_FORMAT
    date_format: str | None = None
    standing_requests: bool = True
    coverage: str = "auto"
    preferences: bool = True
    conflicts: bool = True
    explain: bool = False
    k: int | None = None
