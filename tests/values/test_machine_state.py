"""The state of a single process."""

from __future__ import annotations

from engine.values.machine_state import LocalState


def test_a_counter_is_the_same_for_the_same_name():
    state = LocalState()
    state.counter("a").add(3)
    state.counter("a").add(-1)
    assert (state.counter("a").local, state.counter("a").total()) == (2, 2)
    assert state.counter("b").total() == 0


def test_a_number_is_zero_until_it_is_set():
    state = LocalState()
    assert state.number("a").value == 0.0
    state.number("a").value = 1.5
    assert state.number("a").value == 1.5


def test_the_only_process_does_every_task():
    assert LocalState().leads("health")
