"""gunicorn's master process: how it handles signals."""

from __future__ import annotations

from dataclasses import dataclass
from signal import (
    SIGCHLD,
    SIGHUP,
    SIGINT,
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
from engine.process.channel import Channel
from engine.server.master import Master
from tests.support.clock import Clock
from tests.support.reloads import BOOTING, App, Mark


@dataclass
class Listening:
    """A listening socket that notes what happens to it."""

    cfg_addr: str
    events: list[str]

    def close(self) -> None:
        self.events.append("close")


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


def test_a_master_that_ends_in_a_reload_closes_the_channels_of_both_configs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Old heavy workers end when no process has the other end of theirs."""
    server = Server(workers=1, heavy_processes=1)
    ending: Any = Master(App(server))
    ends: list[Channel] = []

    def start(self: Any) -> int:
        self.worker_age += 1
        ends.append(self.app.next_role.channel)
        if self.worker_age > 1:
            self.signal(SIGTERM, None)
        return int(self.worker_age)

    monkeypatch.setattr(Arbiter, "spawn_worker", start)
    monkeypatch.setattr(Arbiter, "reap_workers", lambda self: None)
    monkeypatch.setattr(Arbiter, "handle_hup", lambda self: self.reload())
    monkeypatch.setattr(Arbiter, "stop", lambda self, graceful: None)
    ending.LISTENERS = []
    monkeypatch.setattr(ending.app, "listen", lambda before, log: [])
    ending.spawn_worker()
    ending.handle_hup()
    ending.stop(False)
    first, *_, last = ends
    assert first is not last
    for channel in (first, last):
        with pytest.raises(OSError, match="Bad file descriptor"):
            channel.send([0])
