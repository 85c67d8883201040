"""Every import that a test runs, whatever it is about, is held to the sum of its outcomes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from llmslim_memory.history.tally import Tally
from llmslim_memory.importers.report import ImportReport


def check_sums(report: ImportReport) -> None:
    """Every record seen has one outcome, in total and in each session."""
    assert report.seen == report.imported + report.duplicates + report.skipped_total + report.malformed
    for session in report.sessions:
        assert session.turns == session.imported + session.duplicates + session.skipped
    if report.sessions_total == len(report.sessions):
        assert sum(session.imported for session in report.sessions) == report.imported
        assert sum(session.duplicates for session in report.sessions) == report.duplicates


@pytest.fixture(autouse=True, scope="session")
def counts_reconcile() -> Iterator[None]:
    """Check the counts of every report before the test that asked for it sees it."""
    make = Tally.report

    def checked(tally: Tally, **fields: Any) -> ImportReport:
        report = make(tally, **fields)
        check_sums(report)
        return report

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Tally, "report", checked)
        yield
