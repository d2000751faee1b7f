"""The keys of records in shared memory."""

from __future__ import annotations

import pytest

from engine.stores.counters.record_keys import is_slots, locations_of
from engine.values.calendar import Calendar
from engine.values.counters import Limit

VIENNA = Calendar("month", "Europe/Vienna")


def key_of(name: str, window: float | Calendar) -> bytes:
    (location,) = locations_of((Limit(name, 5, window),))
    return location[0]


def test_limits_of_other_names_or_windows_have_other_keys():
    windows = (0, 1.0, 60.0, VIENNA, Calendar("day"), Calendar("week"))
    keys = {key_of(name, window) for name in ("a", "b", "month:a") for window in windows}
    assert len(keys) == 18


def test_the_calendars_of_other_time_zones_have_the_same_key():
    assert key_of("a", VIENNA) == key_of("a", Calendar("month"))


@pytest.mark.parametrize("window", [0, 60.0, VIENNA])
def test_a_key_is_short_enough_for_the_database_and_differs_still(window):
    first, second = (key_of("x" * 5000 + end, window) for end in "ab")
    assert first != second
    assert max(len(first), len(second)) <= 511


@pytest.mark.parametrize(("window", "slots"), [(0, True), (60.0, False), (VIENNA, False)])
def test_slots_have_no_window(window, slots):
    (location,) = locations_of((Limit("a", 5, window),))
    assert is_slots(location) is slots
