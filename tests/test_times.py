"""Times in every usual form become UTC, and nonsense is named."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any

import pytest

from llmslim_memory.errors import InvalidTypeError, InvalidValueError
from llmslim_memory.times import parse_time

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    "value",
    [
        NOON,
        datetime(2026, 3, 1, 12),  # noqa: DTZ001 - naive times are taken as UTC
        datetime(2026, 3, 1, 15, tzinfo=timezone(timedelta(hours=3))),
        1772366400,
        1772366400.0,
        "2026-03-01T12:00:00Z",
        " 2026-03-01T12:00:00 ",
        "2026-03-01 17:30:00+05:30",
    ],
)
def test_every_form_of_the_same_instant_is_read_alike(value: Any) -> None:
    assert parse_time(value) == NOON
    assert parse_time(value).tzinfo is UTC


def test_a_date_is_its_first_moment() -> None:
    assert parse_time(date(2026, 3, 1)) == parse_time("2026-03-01") == datetime(2026, 3, 1, tzinfo=UTC)


def test_microseconds_survive() -> None:
    assert parse_time("2026-03-01T12:00:00.123456Z").microsecond == 123456


@pytest.mark.parametrize("value", ["", "yesterday", "2026-13-01", float("nan"), float("inf"), 1772366400000, -1e18])
def test_nonsense_is_named(value: Any) -> None:
    with pytest.raises(InvalidValueError, match="since"):
        parse_time(value, "since")


def test_a_time_that_leaves_the_calendar_in_utc_is_refused() -> None:
    with pytest.raises(InvalidValueError):
        parse_time(datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=5))))


@pytest.mark.parametrize("value", [None, True, [], object()])
def test_other_types_are_refused(value: Any) -> None:
    with pytest.raises(InvalidTypeError, match="timestamp"):
        parse_time(value)
