"""The record of slots held at a time."""

from __future__ import annotations

from engine.machine import worker_counts
from engine.stores.counters import slots
from engine.values.counters import LimitState


def everybody(worker: int) -> bool:
    return True


def take(record, amount, cost, worker, alive):
    """The record, None when it is denied, and how it stands then."""
    update = slots.take(record, amount, cost, worker, alive)
    if update is None:
        return None, slots.look(record, amount, cost, alive)
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
    record = slots.give_back(record, 7, 1)
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
    record = slots.give_back(record, 7, 3)
    assert worker_counts.read(record) == {7: 0, 8: 2}


def test_liveness_is_checked_only_when_a_record_is_full():
    record, _ = take(None, 5, 1, 7, everybody)

    def check_alive(worker: int) -> bool:
        raise AssertionError("asked")

    assert take(record, 5, 1, 7, check_alive)[0] is not None
