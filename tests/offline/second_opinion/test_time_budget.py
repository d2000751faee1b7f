"""Blocks that go on for too long are interrupted."""

from __future__ import annotations

import signal
import threading

import pytest

from engine.offline.second_opinion.time_budget import TimeBudget, TimeExceeded


def test_a_block_within_the_time_is_not_interrupted() -> None:
    with TimeBudget(60).bounded():
        pass


def run_for_ever() -> None:
    while True:
        pass


def ignore_interrupts() -> None:
    for _ in range(3):
        try:
            run_for_ever()
        except TimeExceeded:
            continue


def test_an_endless_block_is_interrupted() -> None:
    with pytest.raises(TimeExceeded, match=r"more than 0\.05 s"), TimeBudget(0.05).bounded():
        run_for_ever()


def test_a_block_that_goes_on_is_interrupted_again() -> None:
    with pytest.raises(TimeExceeded), TimeBudget(0.05).bounded():
        ignore_interrupts()


def test_a_block_does_not_begin_after_the_time() -> None:
    now = [0.0]
    budget = TimeBudget(1, lambda: now[0])
    with budget.bounded():
        now[0] = 2.0
    ran = []
    with pytest.raises(TimeExceeded), budget.bounded():
        ran.append(1)
    assert ran == []


def test_the_timer_and_the_handler_of_others_stay() -> None:
    def handler(number: int, frame: object) -> None:
        raise AssertionError

    handler_before = signal.signal(signal.SIGPROF, handler)
    timer_before = signal.setitimer(signal.ITIMER_PROF, 1_000)
    try:
        with TimeBudget(60).bounded():
            pass
        assert signal.getsignal(signal.SIGPROF) is handler
        assert 900 < signal.getitimer(signal.ITIMER_PROF)[0] < 1_001
    finally:
        signal.setitimer(signal.ITIMER_PROF, *timer_before)
        signal.signal(signal.SIGPROF, handler_before)


def test_in_another_thread_a_block_runs_to_its_end() -> None:
    ran = []

    def run() -> None:
        with TimeBudget(60).bounded():
            ran.append(1)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert ran == [1]
