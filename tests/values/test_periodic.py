"""Work beside the requests: when it is done, and how it ends."""

from __future__ import annotations

import gevent
from gevent.event import Event

from engine.values.periodic import PeriodicTask


def test_it_works_at_once_and_waits_as_long_as_it_says() -> None:
    waited: list[float] = []
    third = Event()

    def work(wait: float) -> float:
        waited.append(wait)
        if len(waited) == 3:
            third.set()
        return 0.001 * len(waited)

    background = PeriodicTask(work, 7.0)
    background.start()
    assert third.wait(5)
    background.stop(1.0)
    assert waited[:3] == [7.0, 0.001, 0.002]


def test_it_ends_in_the_middle_of_a_wait() -> None:
    running = Event()

    def work(wait: float) -> float:
        running.set()
        return 3600.0

    background = PeriodicTask(work, 1.0)
    background.start()
    assert running.wait(5)
    with gevent.Timeout(5):
        background.stop(60.0)


def test_what_is_under_way_is_cut_short() -> None:
    running, cut = Event(), Event()

    def work(wait: float) -> float:
        running.set()
        try:
            gevent.sleep(3600)
        finally:
            cut.set()
        return wait

    background = PeriodicTask(work, 1.0)
    background.start()
    assert running.wait(5)
    background.stop(0.01)
    assert cut.is_set()


def test_it_works_once_more_where_that_is_asked() -> None:
    waited: list[float] = []
    running = Event()

    def work(wait: float) -> float:
        waited.append(wait)
        running.set()
        return 3600.0

    background = PeriodicTask(work, 1.0, once_more=True)
    background.start()
    assert running.wait(5)
    background.stop(5.0)
    assert waited == [1.0, 3600.0]


def test_what_never_began_ends() -> None:
    PeriodicTask(lambda wait: wait, 1.0, once_more=True).stop(1.0)
