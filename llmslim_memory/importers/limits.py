"""Bounds on what an import reads, checked before anything is built from it."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

from llmslim_memory.errors import InvalidTypeError, InvalidValueError

_MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class ImportLimits:
    """How much of an untrusted file an import is willing to read; what lies beyond is refused or skipped and counted.

    Args:
        max_file_bytes: Largest file, and largest member of an archive, in uncompressed bytes.
        max_record_bytes: Largest record, in characters: a line of JSONL, or one element of a JSON array.
        max_depth: Deepest nesting of arrays and objects within a record.
        max_turn_chars: Longest turn stored, in characters.
        max_zip_members: Most entries that a zip archive or a folder may list.
        max_zip_ratio: Highest ratio of uncompressed to compressed size of what is larger than 1 MiB uncompressed.

    Raises:
        ValueError: A limit is not positive.
        TypeError: A limit is not a number.
    """

    max_file_bytes: int = 1 << 30
    max_record_bytes: int = 32 * _MIB
    max_depth: int = 64
    max_turn_chars: int = 100_000
    max_zip_members: int = 100_000
    max_zip_ratio: float = 100.0

    def __post_init__(self) -> None:
        for entry in fields(self):
            value = getattr(self, entry.name)
            if isinstance(value, bool) or not isinstance(value, int | float):
                raise InvalidTypeError(f"{entry.name} must be a number, not {type(value).__name__}")
            if not (value > 0 and math.isfinite(value)):
                raise InvalidValueError(f"{entry.name} is {value!r}: pass a positive number")

    @property
    def max_record_cost(self) -> int:
        """Most bytes of memory that reading one record may take: eight for each character allowed in it."""
        return 8 * int(self.max_record_bytes)
