"""The event loop goes on while a greenlet computes."""

from __future__ import annotations

import signal
import time

import gevent
import pytest
from gevent.event import Event

from engine.process.preemption import INTERVAL, Preemption
from tests.support.preempting import interrupting, until_set


def computing(preemption: Preemption, *events: Event) -> bool:
    """Whether each event was set while a greenlet computed."""
    preemption.begin()
    try:
        return all(map(until_set, events))
    finally:
        preemption.end()


def test_others_go_on_while_one_computes() -> None:
    preemption, events = Preemption(), [Event(), Event()]

    def other() -> None:
        for event in events:
            event.set()
            gevent.sleep(2 * INTERVAL)

    with interrupting(preemption):
        greenlet = gevent.spawn(computing, preemption, *events)
        gevent.spawn(other)
        assert greenlet.get()


def test_several_compute_in_turns() -> None:
    preemption, first, second = Preemption(), Event(), Event()

    def compute(mine: Event, other: Event) -> bool:
        preemption.begin()
        mine.set()
        try:
            return until_set(other)
        finally:
            preemption.end()

    with interrupting(preemption):
        greenlets = [gevent.spawn(compute, first, second), gevent.spawn(compute, second, first)]
        assert [greenlet.get() for greenlet in greenlets] == [True, True]
        assert signal.getitimer(signal.ITIMER_PROF) == (0.0, 0.0)


def test_without_being_enabled_nothing_is_interrupted() -> None:
    event = Event()
    gevent.spawn(event.set)
    preemption = Preemption()
    preemption.begin()
    assert not until_set(event, 10 * INTERVAL)
    preemption.end()


def test_others_are_not_interrupted() -> None:
    preemption, event, last = Preemption(), Event(), Event()

    def other() -> bool:
        event.set()
        gevent.spawn(last.set)
        return until_set(last, 10 * INTERVAL)

    with interrupting(preemption):
        greenlet = gevent.spawn(computing, preemption, event)
        assert not gevent.spawn(other).get()
        assert greenlet.get()


def test_a_greenlet_that_computes_for_too_long_is_stuck() -> None:
    preemption = Preemption()
    with interrupting(preemption, limit=4 * INTERVAL) as stuck:
        gevent.spawn(until_stuck, preemption, stuck).get()
    (frame,) = stuck
    assert frame is not None
    assert frame.f_code.co_name == "until_stuck"


def until_stuck(preemption: Preemption, stuck: list[object]) -> None:
    preemption.begin()
    while not stuck:
        pass
    preemption.end()


def test_one_that_begins_has_not_computed_yet(monkeypatch: pytest.MonkeyPatch) -> None:
    """A signal comes within `begin`, long after another greenlet has computed."""
    preemption = Preemption()
    with interrupting(preemption, limit=4 * INTERVAL) as stuck:

        def interrupted() -> float:
            signal.raise_signal(signal.SIGPROF)
            return 1000.0

        monkeypatch.setattr(time, "thread_time", interrupted)
        preemption.begin()
        preemption.end()
    assert stuck == []
