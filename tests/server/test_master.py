"""gunicorn's master process: how it handles signals."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from signal import (
    SIGABRT,
    SIGCHLD,
    SIGHUP,
    SIGINT,
    SIGKILL,
    SIGQUIT,
    SIGTERM,
    SIGTTIN,
    SIGTTOU,
    SIGUSR1,
)
from types import SimpleNamespace
from typing import Any

import pytest
from gunicorn.arbiter import Arbiter

from engine.config.server import Server
from engine.server.gunicorn_application import GunicornApplication
from engine.server.master import Master
from engine.server.shutdown import DUMP_SIGNAL
from tests.support.clock import Clock


@dataclass
class Listening:
    """A listening socket that notes what happens to it."""

    cfg_addr: str
    events: list[str]

    def close(self) -> None:
        self.events.append("close")


@dataclass
class Mark:
    """The file of a worker whose times tell its master that it goes on."""

    time: float

    def last_update(self) -> float:
        return self.time


BOOTING = 1e9
"""The mark of a worker that does not serve yet."""


class App(GunicornApplication):
    """An application that agrees to reload, and notes that it is interrupted."""

    renews = True
    has_changed = False

    def __init__(self) -> None:
        super().__init__(Server(workers=1, delay=5.0, grace=2.0, heavy_processes=0), object)
        self.interrupts: list[str] = []

    def renew(self) -> bool:
        return self.renews

    def changed(self) -> bool:
        return self.has_changed

    def interrupt(self) -> None:
        self.interrupts.append("interrupt")


@pytest.fixture
def clock() -> Clock:
    return Clock(1000.0)


@pytest.fixture
def master(monkeypatch: pytest.MonkeyPatch, clock: Clock) -> Any:
    """A master without workers; `reloads` is what happened in its reloads, `starts` are the times
    at which gunicorn would have started missing workers."""
    new_master: Any = Master(App(), clock)
    new_master.reloads, new_master.starts = [], []
    monkeypatch.setattr(Arbiter, "handle_hup", lambda self: new_master.reloads.append("reload"))
    monkeypatch.setattr(Arbiter, "manage_workers", lambda self: new_master.starts.append(clock.now))
    monkeypatch.setattr(Arbiter, "reap_workers", lambda self: None)
    return new_master


def test_of_many_hangups_that_wait_one_is_handled(master: Any) -> None:
    for sig in [SIGHUP, SIGCHLD] * 80:
        master.signal(sig, None)
    assert master.wait_for_signals(1.0) == [SIGHUP, SIGCHLD]
    master.signal(SIGHUP, None)  # came while that one was handled
    assert master.wait_for_signals(1.0) == [SIGHUP]


def test_signals_that_count_are_all_handled(master: Any) -> None:
    for sig in (SIGTTIN, SIGUSR1, SIGTTIN, SIGTTOU, SIGUSR1):
        master.signal(sig, None)
    assert master.wait_for_signals(1.0) == [SIGUSR1, SIGTTIN, SIGTTIN, SIGTTOU]


def test_signals_that_end_the_master_are_handled_first(master: Any) -> None:
    for sig in (SIGHUP, SIGCHLD, SIGTERM, SIGTTIN, SIGINT, SIGQUIT):
        master.signal(sig, None)
    signals = master.wait_for_signals(1.0)
    assert signals == [SIGQUIT, SIGINT, SIGTERM, SIGHUP, SIGCHLD, SIGTTIN]


@pytest.mark.parametrize("sig", [SIGTERM, SIGINT, SIGQUIT])
def test_a_signal_that_ends_the_master_ends_a_trial_at_once(master: Any, sig: int) -> None:
    for harmless in (SIGHUP, SIGCHLD, SIGUSR1, SIGTTIN):
        master.signal(harmless, None)
    assert master.app.interrupts == []
    master.signal(sig, None)
    assert master.app.interrupts == ["interrupt"]


def test_a_reload_does_not_wait_for_old_workers_when_the_master_is_to_end(
    master: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def waiting(self: Any) -> None:
        for turn in range(100):
            if turn == 3:
                master.signal(SIGTERM, None)
            master.reap_workers()
            master.reloads.append(turn)

    monkeypatch.setattr(Arbiter, "handle_hup", waiting)
    master.handle_hup()
    assert master.reloads == [0, 1, 2]
    master.reap_workers()  # outside of a reload it only reaps
    assert master.wait_for_signals(1.0) == [SIGTERM]


def test_a_changed_config_is_not_taken_in_the_middle_of_a_reload(
    master: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def reload(self: Any) -> None:
        master.reloads.append("reload")
        master.manage_workers()

    monkeypatch.setattr(Arbiter, "handle_hup", reload)
    master.app.has_changed = True
    master.handle_hup()
    assert master.reloads == ["reload"]


def test_a_new_worker_that_dies_while_old_ones_end_is_replaced(
    master: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    living = master.WORKERS = {}

    def start(self: Any) -> int:
        self.worker_age += 1
        living[self.worker_age] = SimpleNamespace(age=self.worker_age, tmp=Mark(BOOTING))
        self.app.boots.booted.add(self.worker_age)
        return int(self.worker_age)

    monkeypatch.setattr(Arbiter, "spawn_worker", start)
    master.spawn_worker()
    monkeypatch.setattr(master.app, "confirm", lambda: living.pop(2))  # it is killed

    def reap(self: Any) -> None:
        if 3 in living:
            living.pop(1, None)  # the old one ends once the dead one is replaced

    monkeypatch.setattr(Arbiter, "reap_workers", reap)
    master.reload()
    assert list(living) == [3]


def test_a_reload_that_is_refused_starts_nothing(master: Any) -> None:
    master.app.renews = False
    master.handle_hup()
    assert master.reloads == []


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


@pytest.fixture
def events(master: Any, monkeypatch: pytest.MonkeyPatch, clock: Clock) -> list[str]:
    """What happens while a master with one worker stops; the clock goes on while it waits."""
    happened: list[str] = []
    master.WORKERS = {1: SimpleNamespace(age=1)}
    master.LISTENERS = [Listening("/run/api.sock", happened)]
    files = master.app.sockets

    def wait(self: Any, timeout: float = 1.0) -> list[int]:
        clock.now += 1
        return [master.SIG_QUEUE.get_nowait() for _ in range(master.SIG_QUEUE.qsize())]

    def note(name: str) -> Any:
        return lambda self, *options: happened.append(f"{name} {[*options]} at {clock.now:g}")

    monkeypatch.setattr(Arbiter, "wait_for_signals", wait)
    monkeypatch.setattr(Arbiter, "kill_workers", note("signal"))
    monkeypatch.setattr(Arbiter, "stop", note("stop"))
    monkeypatch.setattr(files, "remove_files", lambda paths: note("remove")(files, *paths))
    return happened


def test_workers_accept_for_the_delay_when_the_master_stops(master: Any, events: list[str]) -> None:
    master.stop()
    assert events == [
        "close",
        f"signal [{SIGTERM!r}] at 1000",
        "remove ['/run/api.sock'] at 1005",
        "stop [True] at 1005",
    ]


def test_a_delay_is_over_when_all_workers_have_ended(master: Any, events: list[str]) -> None:
    master.WORKERS = {}
    master.stop()
    assert events[-1] == "stop [True] at 1000"


def test_an_interrupt_ends_the_delay(master: Any, events: list[str]) -> None:
    master.signal(SIGINT, None)
    master.stop()
    assert events[-1] == "stop [False] at 1001"


def test_a_quick_stop_has_no_delay(master: Any, events: list[str]) -> None:
    master.stop(False)
    assert events[1:] == [
        f"signal [{SIGQUIT!r}] at 1000",
        "remove ['/run/api.sock'] at 1000",
        "stop [False] at 1000",
    ]


def test_a_worker_that_stands_still_is_told_to_end_and_then_killed(
    master: Any, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[tuple[int, int]] = []
    monkeypatch.setattr(Arbiter, "kill_worker", lambda self, pid, sig: sent.append((pid, sig)))
    going_on, stuck = Mark(clock.now), Mark(clock.now)
    master.WORKERS = {
        pid: SimpleNamespace(age=pid, tmp=mark) for pid, mark in ((-1, going_on), (-2, stuck))
    }
    for _ in range(60):
        going_on.time = clock.now
        master.murder_workers()
        clock.advance(1.0)
    assert sent == [(-2, SIGABRT), (-2, DUMP_SIGNAL), (-2, SIGKILL), (-2, SIGKILL)]
