"""Feeds any bytes to the importer and checks what must hold of every import; for hypothesis and for atheris."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from llmslim_memory import HistoryImportError, ImportLimits, import_history
from llmslim_memory.importers.detect import FORMATS

LIMITS = ImportLimits(max_file_bytes=1 << 20, max_record_bytes=1 << 16, max_depth=32, max_zip_members=50)
NAMES = ("a.json", "a.jsonl", "a.zip", "a.jsonl.gz", "storage.sqlite", "a.pkl")
CHOICES = ("auto", *FORMATS)


def try_import(data: bytes, *, name: str = "a.json", format: str = "auto", tools: bool = False) -> int:  # noqa: A002
    """Import the bytes as a file of this name and say how many records were seen.

    Only :class:`HistoryImportError` may be raised; every record has one outcome; a second pass counts the same.
    """
    with TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(data)
        try:
            one, other = (
                import_history(path, None, format=format, dry_run=True, include_tool_output=tools, limits=LIMITS)
                for _ in range(2)
            )
        except HistoryImportError:
            return 0
    assert one.seen == one.imported + one.duplicates + one.skipped_total + one.malformed
    assert one == other
    return one.seen
