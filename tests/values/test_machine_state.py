"""The state of a single process."""

from __future__ import annotations

from engine.values.machine_state import LocalState


def test_a_counter_is_the_same_for_the_same_name():
    state = LocalState()
    state.record("a").add(0, 3)
    state.record("a").add(0, -1)
    assert state.record("a").total(0) == 2
    assert state.record("b").total(0) == 0


def test_a_number_is_zero_until_it_is_set():
    state = LocalState()
    assert state.record("a").number(0) == 0.0
    state.record("a").set_number(0, 1.5)
    assert state.record("a").number(0) == 1.5


def test_the_only_process_does_every_task():
    assert LocalState().leads("health")
