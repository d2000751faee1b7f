"""Periodic tasks: when they run, and how they end."""

from __future__ import annotations

import gevent
from gevent.event import Event

from engine.process.periodic import PeriodicTask
from tests.support.waiting import PATIENCE


def test_the_first_call_is_immediate_and_each_call_sets_the_next_wait() -> None:
    waited: list[float] = []
    third = Event()

    def work(wait: float) -> float:
        waited.append(wait)
        if len(waited) == 3:
            third.set()
        return 0.001 * len(waited)

    background = PeriodicTask(work, 7.0)
    background.start()
    assert third.wait(PATIENCE)
    background.stop(1.0)
    assert waited[:3] == [7.0, 0.001, 0.002]


def test_stop_interrupts_a_wait() -> None:
    running = Event()

    def work(wait: float) -> float:
        running.set()
        return 3600.0

    background = PeriodicTask(work, 1.0)
    background.start()
    assert running.wait(PATIENCE)
    with gevent.Timeout(PATIENCE):
        background.stop(60.0)


def test_stop_kills_a_running_call_after_its_timeout() -> None:
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
    assert running.wait(PATIENCE)
    background.stop(0.01)
    assert cut.is_set()


def test_run_on_stop_calls_it_a_last_time() -> None:
    waited: list[float] = []
    running = Event()

    def work(wait: float) -> float:
        waited.append(wait)
        running.set()
        return 3600.0

    background = PeriodicTask(work, 1.0, run_on_stop=True)
    background.start()
    assert running.wait(PATIENCE)
    background.stop(5.0)
    assert waited == [1.0, 3600.0]


def test_a_task_that_was_never_started_can_be_stopped() -> None:
    PeriodicTask(lambda wait: wait, 1.0, run_on_stop=True).stop(1.0)


def test_an_exception_of_the_last_call_is_logged(caplog) -> None:
    running = Event()

    def work(wait: float) -> float:
        if running.is_set():
            raise OSError("the collector is gone")
        running.set()
        return 3600.0

    background = PeriodicTask(work, 1.0, run_on_stop=True)
    background.start()
    assert running.wait(PATIENCE)
    background.stop(5.0)
    assert "the last run of a periodic task failed" in caplog.text
    assert "the collector is gone" in caplog.text
