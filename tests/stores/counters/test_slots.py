"""The record of slots held at a time."""

from __future__ import annotations

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


def test_a_slot_given_back_is_there_for_all():
    record, _ = take(None, 1, 1, 7, everybody)
    record = slots.give_back(record, 7, 1)
    assert take(record, 1, 1, 8, everybody)[0] is not None


def test_what_the_dead_held_is_free_when_it_is_needed():
    record, _ = take(None, 2, 2, 7, everybody)
    assert take(record, 2, 1, 8, everybody)[0] is None
    record, state = take(record, 2, 1, 8, lambda worker: worker != 7)
    assert slots.read(record) == {8: 1}
    assert state.remaining == 1


def test_nobody_gives_back_more_than_he_holds():
    record, _ = take(None, 5, 2, 7, everybody)
    record, _ = take(record, 5, 2, 8, everybody)
    record = slots.give_back(record, 7, 3)
    assert slots.read(record) == {7: 0, 8: 2}


def test_the_living_are_asked_for_only_where_it_may_matter():
    record, _ = take(None, 5, 1, 7, everybody)

    def check_alive(worker: int) -> bool:
        raise AssertionError("asked")

    assert take(record, 5, 1, 7, check_alive)[0] is not None
