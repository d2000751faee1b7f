"""gunicorn's master process: how it handles signals."""

from __future__ import annotations

import logging
import queue
from signal import SIGCHLD, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTTIN, SIGTTOU, SIGUSR1
from types import SimpleNamespace
from typing import Any

import pytest
from gunicorn.arbiter import Arbiter

from engine.server.arbiter import Master


@pytest.fixture
def master(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A master without workers; `reloads` is what happened in its reloads."""
    made: Any = Master.__new__(Master)
    made.SIG_QUEUE, made.reloads, made.changes = queue.SimpleQueue(), [], []
    made.interrupts = []
    boots = SimpleNamespace(look=lambda: False, booted=set(), failures=[])
    made.app = SimpleNamespace(
        renew=lambda: True,
        changed=lambda: bool(made.changes),
        interrupt=lambda: made.interrupts.append("interrupt"),
        boots=boots,
    )
    made.WORKERS, made._next_boot = {}, 0.0
    made.log = logging.getLogger("test")
    monkeypatch.setattr(Arbiter, "handle_hup", lambda self: made.reloads.append("reload"))
    monkeypatch.setattr(Arbiter, "manage_workers", lambda self: None)
    monkeypatch.setattr(Arbiter, "reap_workers", lambda self: None)
    return made


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


def test_what_ends_the_master_is_handled_first(master: Any) -> None:
    for sig in (SIGHUP, SIGCHLD, SIGTERM, SIGTTIN, SIGINT, SIGQUIT):
        master.signal(sig, None)
    came = master.wait_for_signals(1.0)
    assert came == [SIGQUIT, SIGINT, SIGTERM, SIGHUP, SIGCHLD, SIGTTIN]


@pytest.mark.parametrize("sig", [SIGTERM, SIGINT, SIGQUIT])
def test_what_ends_the_master_is_told_to_a_trial_at_once(master: Any, sig: int) -> None:
    for harmless in (SIGHUP, SIGCHLD, SIGUSR1, SIGTTIN):
        master.signal(harmless, None)
    assert master.interrupts == []
    master.signal(sig, None)
    assert master.interrupts == ["interrupt"]


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
    master.changes.append("file")
    master.handle_hup()
    assert master.reloads == ["reload"]


def test_a_reload_that_is_refused_starts_nothing(master: Any) -> None:
    master.app.renew = lambda: False
    master.handle_hup()
    assert master.reloads == []
