"""When a worker is stuck, by what it computes and by the clock."""

from __future__ import annotations

import inspect
import os
import signal
import time
from collections.abc import Iterator
from types import FrameType

import gevent
import pytest

from engine.server.shutdown import DUMP_SIGNAL
from engine.server.watchdog import TurnTimer, Watchdog, main_thread_cpu, stack
from tests.support.clock import Clock

PID = 7
LIMIT = 30.0


class Master:
    """A watchdog, the worker that it looks at once a second, and the signals that it sends."""

    def __init__(self, limit: float = LIMIT) -> None:
        self.clock = Clock(1000.0)
        self.cpu = 5.0
        self.mark = self.clock.now
        self.signals: list[tuple[float, int]] = []
        self._watchdog = Watchdog(limit, self.clock, lambda pid: self.cpu)

    def look(self, seconds: int, cpu: float = 0.0, *, marks: bool = False) -> list[int]:
        """Let so many seconds pass, in each of which the worker computes for `cpu` seconds and
        marks its turn or not. The signals that it was sent."""
        before = len(self.signals)
        for _ in range(seconds):
            self.clock.advance(1.0)
            self.cpu += cpu
            if marks:
                self.mark = self.clock.now
            if remedy := self._watchdog.check(PID, self.mark):
                self.signals.append((self.clock.now, remedy.signal))
        return [sig for _, sig in self.signals[before:]]

    def forget(self) -> None:
        self._watchdog.keep([])


def test_a_worker_that_marks_its_turns_is_not_stuck() -> None:
    master = Master()
    assert master.look(1000, marks=True) == []
    assert master.look(1000, 1.0, marks=True) == []


def test_a_worker_that_computes_slowly_on_a_busy_machine_is_not_stuck() -> None:
    """25 seconds of computing that take half an hour."""
    assert Master().look(1800, 25 / 1800) == []


def test_a_worker_that_computes_for_too_long_is_ended_step_by_step() -> None:
    master = Master()
    assert master.look(30, 1.0) == []
    assert master.look(1, 1.0) == [signal.SIGABRT]
    assert master.look(9, 1.0) == []
    assert master.look(2, 1.0) == [DUMP_SIGNAL, signal.SIGKILL]
    assert master.look(9, 1.0) == []
    assert master.look(1, 1.0) == [signal.SIGKILL]


def test_a_worker_that_does_nothing_is_ended_step_by_step() -> None:
    master = Master()
    assert master.look(30) == []
    assert master.look(1) == [signal.SIGABRT]
    assert master.look(11) == [DUMP_SIGNAL, signal.SIGKILL]


def test_a_worker_that_ends_its_requests_after_the_first_signal_is_not_killed() -> None:
    master = Master()
    assert master.look(31) == [signal.SIGABRT]
    assert master.look(100, 0.5, marks=True) == []
    assert master.look(12) == [DUMP_SIGNAL, signal.SIGKILL]


def test_a_turn_that_ends_begins_the_count_anew() -> None:
    master = Master()
    for _ in range(10):
        assert master.look(29, 1.0) == []
        assert master.look(1, 1.0, marks=True) == []


def test_a_worker_that_does_not_serve_yet_is_not_judged() -> None:
    """Its mark is the time at which gunicorn made the file, by the wall clock."""
    master = Master()
    master.mark = time.time()
    assert master.look(1000, 1.0) == []


def test_a_limit_of_zero_is_none() -> None:
    assert Master(limit=0).look(1000, 1.0) == []


def test_another_worker_with_the_same_pid_is_judged_anew() -> None:
    master = Master()
    master.look(30, 1.0)
    master.forget()
    assert master.look(30, 1.0) == []


def test_the_cpu_of_a_process_is_that_of_its_main_thread() -> None:
    begin = main_thread_cpu(os.getpid())
    while main_thread_cpu(os.getpid()) < begin + 0.05:
        pass
    assert main_thread_cpu(0) == 0.0


class Worker:
    """What a timer tells its worker."""

    def __init__(self, limit: float = 1.0) -> None:
        self.marks = 0
        self.stuck: list[FrameType | None] = []
        self.timer = TurnTimer(limit, self.mark, self.stuck.append)

    def mark(self) -> None:
        self.marks += 1

    def interrupt(self) -> None:
        self.timer.interrupt(signal.SIGVTALRM, None)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(time, "thread_time", clock)
    return clock


def test_each_interrupt_marks_the_turn_until_one_greenlet_has_computed_too_long(
    clock: Clock,
) -> None:
    worker = Worker()
    for _ in range(4):
        worker.interrupt()
        clock.advance(0.25)
    assert (worker.marks, worker.stuck) == (4, [])
    worker.interrupt()
    assert (worker.marks, worker.stuck) == (4, [None])


def test_greenlets_that_compute_one_after_the_other_are_not_stuck(clock: Clock) -> None:
    """As many as one turn of the event loop has."""
    worker = Worker()

    def compute() -> None:
        for _ in range(3):
            worker.interrupt()
            clock.advance(0.25)

    gevent.joinall([gevent.spawn(compute) for _ in range(20)], raise_error=True)
    assert (worker.marks, worker.stuck) == (60, [])


def test_a_greenlet_that_computes_again_in_another_turn_is_not_stuck(clock: Clock) -> None:
    worker = Worker()
    for _ in range(20):
        worker.interrupt()
        clock.advance(0.5)
        worker.timer.turn()
    assert worker.stuck == []


def test_without_a_limit_nothing_is_stuck(clock: Clock) -> None:
    worker = Worker(limit=0)
    for _ in range(100):
        worker.interrupt()
        clock.advance(1.0)
    assert (worker.marks, worker.stuck) == (100, [])


@pytest.fixture
def timer() -> Iterator[Worker]:
    before = signal.getsignal(signal.SIGVTALRM)
    worker = Worker(limit=0.3)
    worker.timer.start()
    yield worker
    worker.timer.stop()
    signal.signal(signal.SIGVTALRM, before)


def test_the_operating_system_interrupts_what_computes(timer: Worker) -> None:
    while not timer.stuck:
        pass
    assert timer.marks
    (frame,) = timer.stuck
    assert (
        stack(frame)
        .splitlines()[-1]
        .endswith(" test_the_operating_system_interrupts_what_computes")
    )
    assert signal.getitimer(signal.ITIMER_VIRTUAL) == (0.0, 0.0)


def test_a_stack_has_places_and_no_values() -> None:
    def frame_of(secret: str) -> str:
        return stack(inspect.currentframe())

    text = frame_of("sesame")
    assert "frame_of" in text.splitlines()[-1]
    assert "sesame" not in text
    assert stack(None) == ""
