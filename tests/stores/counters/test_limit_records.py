"""The keys of records in shared memory."""

from __future__ import annotations

import pytest

from engine.machine import worker_counts
from engine.stores.counters import limit_records
from engine.stores.counters.limit_records import is_slots, locations_of
from engine.values.calendar import Calendar
from engine.values.counters import Limit, LimitState

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


def everybody(worker: int) -> bool:
    return True


def take(record, amount, cost, worker, alive):
    """The record, None when it is denied, and how it stands then."""
    update = limit_records.take(record, amount, cost, worker, alive)
    if update is None:
        return None, limit_records.look(record, amount, cost, alive)
    return update[0], LimitState(*update[1:])


def test_slots_are_taken_until_none_is_left():
    record = None
    for remaining in (2, 1, 0):
        record, state = take(record, 3, 1, remaining, everybody)
        assert state.remaining == remaining
    denied, state = take(record, 3, 1, 1, everybody)
    assert denied is None
    assert (state.remaining, state.wait > 0) == (0, True)


def test_a_released_slot_is_free_for_all():
    record, _ = take(None, 1, 1, 7, everybody)
    record = limit_records.give_back(record, 7, 1)
    assert take(record, 1, 1, 8, everybody)[0] is not None


def test_slots_of_dead_workers_are_free_when_needed():
    record, _ = take(None, 2, 2, 7, everybody)
    assert take(record, 2, 1, 8, everybody)[0] is None
    record, state = take(record, 2, 1, 8, lambda worker: worker != 7)
    assert worker_counts.read(record) == {8: 1}
    assert state.remaining == 1


def test_a_worker_releases_at_most_its_own_slots():
    record, _ = take(None, 5, 2, 7, everybody)
    record, _ = take(record, 5, 2, 8, everybody)
    record = limit_records.give_back(record, 7, 3)
    assert worker_counts.read(record) == {7: 0, 8: 2}


def test_liveness_is_checked_only_when_a_record_is_full():
    record, _ = take(None, 5, 1, 7, everybody)

    def check_alive(worker: int) -> bool:
        raise AssertionError("asked")

    assert take(record, 5, 1, 7, check_alive)[0] is not None
