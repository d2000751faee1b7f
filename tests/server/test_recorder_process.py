"""The recorder's process is started, replaced when it ends, and ends with the last worker."""

from __future__ import annotations

import errno
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from engine.process.channel import Channel
from engine.server.recorder_process import MAX_PAUSE, RECORDER_NAME, RecorderProcess
from tests.support.clock import Clock
from tests.support.waiting import PATIENCE, until

Starter = Callable[..., RecorderProcess]


def serve(channel: Channel) -> None:
    """What a recorder does that has nothing to do."""
    while channel.receive() is not None:
        pass


def nothing() -> None:
    pass


@pytest.fixture
def clock() -> Clock:
    return Clock(1000.0)


@pytest.fixture
def started(clock: Clock) -> Iterator[Starter]:
    """Starts recorders, whose processes end with the test."""
    recorders: list[RecorderProcess] = []

    def start(
        run: Callable[[Channel], None] = serve, release: Callable[[], None] = nothing
    ) -> RecorderProcess:
        recorder = RecorderProcess(run, 30.0, clock)
        recorders.append(recorder)
        recorder.keep(release)
        return recorder

    yield start
    for recorder in recorders:
        recorder.channel.close()
        if recorder.pid:
            end(recorder)
    for recorder in recorders:
        assert not recorder.lives()


def end(recorder: RecorderProcess) -> int:
    """Kill its process, as anybody may; the process id."""
    pid = recorder.pid
    os.kill(pid, signal.SIGKILL)
    reap(pid)
    return pid


def reap(pid: int) -> int:
    """The status of a process that has ended."""
    return os.waitpid(pid, 0)[1]


def is_named(recorder: RecorderProcess) -> bool:
    return Path(f"/proc/{recorder.pid}/comm").read_text().strip() == RECORDER_NAME


def test_it_runs_beside_its_master_under_a_name_of_its_own(started: Starter) -> None:
    recorder = started()
    assert recorder.lives()
    assert recorder.pid != os.getpid()
    until(lambda: is_named(recorder), "its name")


def test_it_closes_what_belongs_to_workers(started: Starter) -> None:
    read, write = os.pipe()
    recorder = started(release=lambda: os.close(write))
    os.close(write)
    assert os.read(read, 1) == b""  # nobody else has that end
    os.close(read)
    assert recorder.lives()


def test_a_worker_closes_what_the_master_watches_it_with(started: Starter) -> None:
    recorder = started()
    pid = os.fork()
    if not pid:
        before = os.listdir("/proc/self/fd")
        recorder.leave_to_master()
        os._exit(len(before) - len(os.listdir("/proc/self/fd")))
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 1
    assert recorder.lives()


@pytest.mark.parametrize("sig", [signal.SIGTERM, signal.SIGINT, signal.SIGQUIT, signal.SIGHUP])
def test_it_ends_when_no_worker_is_left_and_not_by_a_signal(
    started: Starter, sig: signal.Signals
) -> None:
    recorder = started()
    until(lambda: is_named(recorder), "its signals are ignored")
    os.kill(recorder.pid, sig)
    assert recorder.lives()
    recorder.channel.close()
    until(lambda: not recorder.lives(), "its end")
    assert os.waitstatus_to_exitcode(reap(recorder.pid)) == 0
    recorder.pid = 0


def test_one_that_ends_is_replaced_at_once_and_further_ones_after_pauses(
    started: Starter, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    recorder = started()
    pauses = []
    for _ in range(8):
        pid = end(recorder)
        until(lambda: not recorder.lives(), "its end")
        recorder.keep(nothing)
        before = clock.now
        while not recorder.pid:
            clock.now += 0.5
            recorder.keep(nothing)
        assert recorder.pid != pid
        pauses.append(clock.now - before)
    assert pauses == [0.0, 1.0, 3.0, 7.0, 15.0, MAX_PAUSE, MAX_PAUSE, MAX_PAUSE]
    assert f"process {pid}, has ended; the next one starts in 30 s" in caplog.text
    clock.now += MAX_PAUSE + 1
    end(recorder)
    until(lambda: not recorder.lives(), "its end")
    recorder.keep(nothing)
    assert recorder.pid


def test_one_that_fails_is_logged_and_replaced(started: Starter) -> None:
    def fail(channel: Channel) -> None:
        raise KeyError("a bug")

    recorder = started(fail)
    until(lambda: not recorder.lives(), "its end")
    assert os.waitstatus_to_exitcode(reap(recorder.pid)) == 1
    recorder.keep(nothing)
    assert recorder.pid
    until(lambda: not recorder.lives(), "its end")
    reap(recorder.pid)
    recorder.pid = 0


def test_one_that_is_stuck_is_killed(
    started: Starter, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    recorder = started(lambda channel: signal.pause())
    until(lambda: is_named(recorder), "a recorder")
    for _ in range(3):
        recorder.keep(nothing)
        clock.now += 20.0
    recorder.keep(nothing)
    assert os.waitstatus_to_exitcode(reap(recorder.pid)) == -signal.SIGKILL
    assert "is stuck and is killed" in caplog.text
    recorder.pid = 0


def test_one_that_goes_on_is_not_stuck(started: Starter, clock: Clock) -> None:
    recorder = started()
    for _ in range(3):
        clock.now += 31.0
        until(lambda: recorder.lives() and recorder.last_beat == clock.now, "a beat")
        recorder.keep(nothing)
    assert recorder.lives()


def test_a_master_that_cannot_fork_tries_again(
    clock: Clock, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fails() -> int:
        raise OSError(errno.EAGAIN, "Resource temporarily unavailable")

    monkeypatch.setattr("engine.server.recorder_process.os.fork", fails)
    recorder = RecorderProcess(serve, clock=clock)
    recorder.keep(nothing)
    assert not recorder.lives()
    assert "cannot be started: Resource temporarily unavailable" in caplog.text
    recorder.channel.close()


def test_one_that_does_not_end_is_killed(
    started: Starter, caplog: pytest.LogCaptureFixture
) -> None:
    recorder = started(lambda channel: signal.pause())
    recorder.await_end(0.0)
    assert not recorder.lives()
    assert "stays in the journal" in caplog.text
    reap(recorder.pid)
    recorder.pid = 0


def test_a_master_waits_for_the_end(started: Starter) -> None:
    recorder = started()
    recorder.channel.close()
    recorder.await_end(PATIENCE)
    assert os.waitstatus_to_exitcode(reap(recorder.pid)) == 0
    recorder.pid = 0
