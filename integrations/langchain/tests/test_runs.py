"""A run is known by its token until it ends."""

from __future__ import annotations

import pytest
from langchain_llmslim import runs
from langchain_llmslim.runs import Runs


def test_a_run_is_found_by_its_token_until_it_ends() -> None:
    known = Runs()
    run = known.start()
    assert known.get(run.token) is run
    known.end(run.token)
    assert known.get(run.token) is None


def test_an_unknown_token_and_none_find_nothing() -> None:
    assert Runs().get("nobody's") is None
    assert Runs().get(None) is None


def test_the_least_recently_used_run_is_forgotten_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "_MOST_RUNS", 2)
    known = Runs()
    first, second = known.start(), known.start()
    known.get(first.token)
    known.start()
    assert known.get(first.token) is first
    assert known.get(second.token) is None
