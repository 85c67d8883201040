"""Searches of one process let a write go first, and compute one after the other, as long as nobody waits for ever."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event, Thread

import pytest
from memories import say

from llmslim_memory import Memory, pacing
from llmslim_memory.pacing import Pace

LONG = 60.0
MOMENT = 0.05


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> Pace:
    """A pace whose searches wait longer than any test takes."""
    monkeypatch.setattr(pacing, "PATIENCE", LONG)
    monkeypatch.setattr(pacing, "LONGEST_QUEUE", LONG)
    return Pace()


def test_a_search_holds_still_until_a_write_is_done(patient: Pace) -> None:
    computes, went_on = Event(), Event()
    may_go_on = Event()

    def search() -> None:
        with patient.computing():
            computes.set()
            may_go_on.wait(LONG)
            patient.give_way()
            went_on.set()

    searching = Thread(target=search)
    searching.start()
    assert computes.wait(LONG)
    with patient.writing():
        may_go_on.set()
        assert not went_on.wait(MOMENT)
    searching.join(LONG)
    assert went_on.is_set()


def test_a_search_that_begins_during_two_writes_waits_for_both(patient: Pace) -> None:
    computes = Event()

    def search() -> None:
        with patient.computing():
            computes.set()

    searching = Thread(target=search)
    with patient.writing():
        with patient.writing():
            searching.start()
            assert not computes.wait(MOMENT)
        assert not computes.wait(MOMENT)
    searching.join(LONG)
    assert computes.is_set()


def test_a_write_that_fails_holds_nobody_up(patient: Pace) -> None:
    with pytest.raises(ZeroDivisionError), patient.writing():
        raise ZeroDivisionError
    with patient.computing():
        patient.give_way()


def test_a_search_that_held_still_for_long_goes_on_beside_the_write(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pacing, "PATIENCE", 0.001)
    pace = Pace()
    with pace.writing(), pace.computing():
        for _ in range(100):
            pace.give_way()


def test_searches_compute_one_after_the_other_in_the_order_in_which_they_came(patient: Pace) -> None:
    begun: list[int] = []

    def search(number: int) -> None:
        with patient.computing():
            begun.append(number)

    threads = [Thread(target=search, args=(number,)) for number in range(8)]
    with patient.computing():
        for waiting, thread in enumerate(threads, 1):
            thread.start()
            while len(patient._queue) < waiting:
                Event().wait(0.001)
        assert not begun
    for thread in threads:
        thread.join(LONG)
    assert begun == list(range(8))


def test_a_search_that_waits_for_a_store_lets_the_next_one_compute(patient: Pace) -> None:
    computed = Event()

    def search() -> None:
        with patient.computing():
            computed.set()

    with patient.computing():
        other = Thread(target=search)
        other.start()
        assert not computed.wait(MOMENT)
        with patient.elsewhere():
            assert computed.wait(LONG)
    other.join(LONG)


def test_a_search_goes_on_without_its_turn_when_that_does_not_come(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pacing, "LONGEST_QUEUE", 0.001)
    pace = Pace()
    computed = Event()

    def search() -> None:
        with pace.computing():
            computed.set()

    with pace.computing():
        Thread(target=search).start()
        assert computed.wait(LONG)
    assert not pace._queue
    with pace.computing():
        pass
    assert pace._places == pacing.COMPUTING


def test_a_search_within_a_search_does_not_wait_for_itself(patient: Pace) -> None:
    with patient.computing():
        with patient.computing():
            pass
        with patient.elsewhere(), patient.computing():
            pass
    assert patient._places == pacing.COMPUTING


def test_a_scorer_may_search_the_same_memory_in_other_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pacing, "LONGEST_QUEUE", LONG)
    memory = Memory()
    memory.add([say(f"The heron stood on stone {n}.") for n in range(30)], user_id="u1")

    def scorer(query: str, texts: Sequence[str]) -> list[float]:
        with ThreadPoolExecutor(2) as pool:
            found = list(pool.map(lambda text: memory.rank(text, user_id="u1", k=1)[0].score, [query, query]))
        return [found[0]] * len(texts)

    assert "stone" in memory.search("heron", user_id="u1", budget=60, relevance=scorer).text


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_child_searches_though_a_search_was_under_way_in_its_parent(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(pacing, "LONGEST_QUEUE", LONG)
    memory = Memory(tmp_path / "m.db")
    memory.add(say("The heron is grey."), user_id="u1")
    forked, computes = Event(), Event()

    def search() -> None:
        with pacing.pace.computing():
            computes.set()
            forked.wait(LONG)

    searching = Thread(target=search)
    searching.start()
    assert computes.wait(LONG)
    pid = os.fork()
    if not pid:
        os._exit(0 if "grey" in memory.search("heron", user_id="u1").text else 1)
    forked.set()
    searching.join(LONG)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    memory.close()


def test_what_is_added_while_threads_search_is_stored_and_every_search_is_answered(tmp_path: Path) -> None:
    with Memory(tmp_path / "m.db") as memory, ThreadPoolExecutor(8) as pool:
        for user in range(4):
            memory.add([say(f"The heron stood on stone {n}.") for n in range(50)], user_id=f"u{user}")
        searches = [pool.submit(memory.search, "heron stone 7", user_id=f"u{n % 4}", budget=90) for n in range(80)]
        written = [pool.submit(memory.add, say(f"Note {n}"), user_id="writer") for n in range(40)]
        assert all("stone 7" in search.result(LONG).text for search in searches)
        assert len({item.id for write in written for item in write.result(LONG)}) == 40
        assert len(memory.get_all(user_id="writer")) == 40
