"""A master starts workers and heavy workers, watches them, and replaces those that end."""

from __future__ import annotations

import os
import socket
import sys
import time
from collections.abc import Iterator
from signal import SIGABRT, SIGKILL
from types import SimpleNamespace
from typing import Any

import pytest
from gunicorn.arbiter import Arbiter

from engine.config.server import Server
from engine.process.channel import Channel
from engine.server.heavy_worker import HeavyWorker
from engine.server.master import Master
from engine.server.recorder_process import RecorderProcess
from engine.server.shutdown import DUMP_SIGNAL
from engine.server.supervisor import BootBackoff
from engine.server.worker import Worker
from tests.support.clock import Clock
from tests.support.reloads import App, Mark
from tests.support.waiting import PATIENCE, until


def test_a_worker_that_crashed_is_replaced_after_a_pause_that_grows(
    master: Any, clock: Clock
) -> None:
    pauses = []
    for _ in range(6):
        master.app.boots.tell_crashed("ZeroDivisionError()")
        since, master.starts[:] = clock.now, []
        while not master.starts:
            master.manage_workers()
            clock.now += 1
        pauses.append(master.starts[0] - since)
        clock.now = master.starts[0]
    assert pauses == [2, 4, 8, 16, 30, 30]


def test_the_pause_is_reset_once_a_worker_has_lasted(master: Any, clock: Clock) -> None:
    for _ in range(3):
        master.app.boots.tell_crashed("ZeroDivisionError()")
        master.manage_workers()
        clock.now += 60
    master.manage_workers()
    assert master.starts == [clock.now]
    master.app.boots.tell_crashed("ZeroDivisionError()")
    master.manage_workers()
    clock.now += 2
    master.manage_workers()
    assert master.starts[1:] == [clock.now]


def test_a_worker_that_fails_after_it_has_booted_tells_the_master_why(
    master: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def serve(self: Any) -> None:
        """gunicorn's end of a worker whose `run` has raised."""
        try:
            raise ZeroDivisionError("a fault of ours")
        except ZeroDivisionError:
            sys.exit(-1)

    monkeypatch.setattr(Arbiter, "spawn_worker", serve)
    with pytest.raises(SystemExit):
        master.spawn_worker()
    monkeypatch.setattr(Arbiter, "spawn_worker", lambda self: sys.exit(0))
    with pytest.raises(SystemExit):
        master.spawn_worker()
    master.app.boots.receive()
    assert master.app.boots.failures == ["ZeroDivisionError('a fault of ours')"]
    assert master.app.boots.crashes == 1


def test_a_worker_that_stands_still_is_told_to_end_and_then_killed(
    master: Any, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    signals: list[tuple[int, int]] = []
    monkeypatch.setattr(Arbiter, "kill_worker", lambda self, pid, sig: signals.append((pid, sig)))
    going_on, stuck = Mark(clock.now), Mark(clock.now)
    master.WORKERS = {
        pid: SimpleNamespace(age=pid, tmp=mark) for pid, mark in ((-1, going_on), (-2, stuck))
    }
    for _ in range(60):
        going_on.time = clock.now
        master.murder_workers()
        clock.advance(1.0)
    assert signals == [(-2, SIGABRT), (-2, DUMP_SIGNAL), (-2, SIGKILL), (-2, SIGKILL)]


@pytest.fixture
def supervisor(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A master of two workers and a heavy one; `WORKERS` has its processes by their ages."""
    living: dict[int, Any] = {}

    def start(self: Any) -> int:
        self.worker_age += 1
        process = SimpleNamespace(age=self.worker_age, role=self.app.next_role)
        process.kind = self.worker_class
        living[self.worker_age] = process
        return int(self.worker_age)

    monkeypatch.setattr(Arbiter, "spawn_worker", start)
    monkeypatch.setattr(Arbiter, "kill_worker", lambda self, pid, sig: living.pop(pid))
    monkeypatch.setattr(Arbiter, "stop", lambda self, graceful: None)
    new_master: Any = Master(App(Server(workers=2, heavy_processes=1)))
    new_master.WORKERS = living
    yield new_master
    new_master.stop(False)  # which closes the channel


def kinds(master: Any) -> list[tuple[int, type]]:
    return [(age, process.kind) for age, process in master.WORKERS.items()]


def test_workers_are_started_first(supervisor: Any) -> None:
    supervisor.manage_workers()
    assert kinds(supervisor) == [(1, Worker), (2, Worker), (3, HeavyWorker)]


def test_no_process_waits_for_another(supervisor: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    pauses: list[float] = []
    with monkeypatch.context() as context:
        context.setattr(time, "sleep", pauses.append)
        supervisor.manage_workers()
    assert pauses == []
    assert len(supervisor.WORKERS) == 3


def test_each_kind_is_replaced_by_its_kind(supervisor: Any) -> None:
    supervisor.manage_workers()
    del supervisor.WORKERS[1]
    supervisor.manage_workers()
    del supervisor.WORKERS[3]
    supervisor.manage_workers()
    assert kinds(supervisor) == [(2, Worker), (4, Worker), (5, HeavyWorker)]


def test_fewer_processes_are_fewer_workers(supervisor: Any) -> None:
    """gunicorn ends the oldest process, which may be the heavy worker, and the last one stays."""
    supervisor.manage_workers()
    del supervisor.WORKERS[1], supervisor.WORKERS[2]
    supervisor.manage_workers()
    for _ in range(5):
        supervisor.handle_ttou()
        supervisor.manage_workers()
    assert sorted(kind.__name__ for _, kind in kinds(supervisor)) == ["HeavyWorker", "Worker"]


def test_more_processes_are_more_workers(supervisor: Any) -> None:
    supervisor.manage_workers()
    supervisor.handle_ttin()
    assert kinds(supervisor)[-1] == (4, Worker)


def serve(channel: Channel) -> None:
    """What a recorder does that has nothing to do."""
    while channel.receive() is not None:
        pass


class Recording(App):
    """An application whose config has a database."""

    recorder = staticmethod(serve)


@pytest.fixture
def recording(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A master with a recorder, whose workers are left out."""
    monkeypatch.setattr(Arbiter, "manage_workers", lambda self: None)
    monkeypatch.setattr(Arbiter, "stop", lambda self, graceful: None)
    new_master: Any = Master(Recording(Server(workers=1, heavy_processes=0)))
    new_master.pids = []
    yield new_master
    new_master.stop(False)
    for pid in new_master.pids:
        os.waitpid(pid, 0)


def test_the_recorder_is_started_beside_the_workers(recording: Any) -> None:
    for _ in range(2):
        recording.manage_workers()
    (recorder,) = recording.recorders
    recording.pids.append(recorder.pid)
    assert recorder.lives()
    assert recording.WORKERS == {}


def test_the_recorder_is_started_before_the_workers(
    recording: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A caller whose token is in the database waits until it serves."""
    starts: list[str] = []
    monkeypatch.setattr(RecorderProcess, "keep", lambda self, release: starts.append("recorder"))
    monkeypatch.setattr(Arbiter, "manage_workers", lambda self: starts.append("workers"))
    recording.manage_workers()
    assert starts == ["recorder", "workers"]


def test_the_recorder_has_no_listening_socket(recording: Any) -> None:
    sock = socket.create_server(("127.0.0.1", 0))
    recording.LISTENERS = [sock]
    recording.manage_workers()
    recording.pids.append(recording.recorders[0].pid)
    recording.LISTENERS = []
    address = sock.getsockname()
    sock.close()
    until(lambda: refuses(address), "an address that nobody listens at")


def refuses(address: Any) -> bool:
    try:
        socket.create_connection(address).close()
    except ConnectionRefusedError:
        return True
    return False


def test_a_master_that_stops_waits_for_the_recorder(
    recording: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.server.master.RECORDER_SECONDS", PATIENCE)  # on a busy machine
    recording.manage_workers()
    (recorder,) = recording.recorders
    recording.stop(False)
    assert not recorder.lives()
    assert os.waitstatus_to_exitcode(os.waitpid(recorder.pid, 0)[1]) == 0


def test_a_config_without_a_database_has_no_recorder(supervisor: Any) -> None:
    supervisor.manage_workers()
    assert supervisor.recorders == []
    assert supervisor.app.next_role.recorder is None


def test_a_recorder_that_dies_while_workers_end_is_replaced(
    recording: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody has to ship their last rows."""
    monkeypatch.setattr("engine.server.master.RECORDER_SECONDS", PATIENCE)  # on a busy machine
    recording.manage_workers()
    (recorder,) = recording.recorders
    first = recorder.pid

    def wait(self: Any, graceful: bool) -> None:
        os.kill(first, SIGKILL)
        until(lambda: not recorder.lives(), "its end")
        self.reap_workers()

    monkeypatch.setattr(Arbiter, "stop", wait)
    monkeypatch.setattr(Arbiter, "reap_workers", lambda self: os.waitpid(first, 0))
    recording.stop(False)
    assert recorder.pid != first
    assert os.waitstatus_to_exitcode(os.waitpid(recorder.pid, 0)[1]) == 0
    monkeypatch.setattr(Arbiter, "stop", lambda self, graceful: None)


def test_a_recorder_that_died_in_a_reload_that_failed_is_waited_for(
    recording: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is started again for the config that goes on."""
    recording.manage_workers()
    (recorder,) = recording.recorders

    def fail() -> None:
        os.kill(recorder.pid, SIGKILL)
        os.waitpid(recorder.pid, 0)
        until(lambda: not recorder.lives(), "its end")
        recording.keep_recorder()
        (new,) = recording.recorders
        recording.pids.append(new.pid)
        raise OSError("no worker can be forked")

    recording.pid = os.getpid()
    monkeypatch.setattr(recording, "spawn_worker", fail)
    recording.reload()
    recording.keep_recorder()
    recording.pids.append(recorder.pid)
    assert recorder in recording.recorders


def failing(clock: Clock, backoff: BootBackoff, times: int) -> list[float]:
    """The pauses of workers that fail as soon as they have started."""
    pauses = []
    for _ in range(times):
        pauses.append(backoff.fail())
        clock.now += pauses[-1]
    return pauses


def test_each_pause_is_twice_the_one_before_up_to_the_longest():
    clock = Clock(1000.0)
    assert failing(clock, BootBackoff(clock), 6) == [2, 4, 8, 16, 30, 30]


def test_no_worker_starts_before_the_pause_is_over():
    clock = Clock(1000.0)
    backoff = BootBackoff(clock)
    assert backoff.is_over
    backoff.fail()
    clock.now += 1.9
    assert not backoff.is_over
    clock.now += 0.1
    assert backoff.is_over


def test_a_worker_that_lasts_ends_the_series():
    clock = Clock(1000.0)
    backoff = BootBackoff(clock)
    failing(clock, backoff, 4)
    clock.now += 31
    assert backoff.fail() == 2


def test_a_reload_resets_the_backoff():
    clock = Clock(1000.0)
    backoff = BootBackoff(clock)
    failing(clock, backoff, 4)
    backoff.fail()
    backoff.reset()
    assert backoff.is_over
    assert backoff.fail() == 2
