"""How a worker stops, which gunicorn's own does otherwise."""

from __future__ import annotations

import inspect
import logging
import os
import re
import time
from types import SimpleNamespace
from typing import Any

import gevent
import pytest

from engine.config.server import Server
from engine.server.gunicorn_application import GunicornApplication
from engine.server.worker import Worker


def worker(application: Any = None, ppid: int | None = None) -> Worker:
    """A worker that has not been started, with a grace of 30 seconds."""
    gunicorn = GunicornApplication(Server(), lambda: application)
    parent = os.getppid() if ppid is None else ppid
    log = logging.getLogger("modelway.test")
    return Worker(1, parent, [], gunicorn, 30, gunicorn.cfg, log)


def test_an_application_gets_one_call_of_leaving() -> None:
    calls: list[bool] = []
    stopping = worker(SimpleNamespace(delay=0.0, leaving=calls.append))
    stopping.load_wsgi()
    before = time.monotonic()
    stopping.handle_exit(15, None)
    after = time.monotonic()
    deadlines = stopping.deadlines
    stopping.handle_exit(15, None)  # gunicorn's master repeats it every second
    assert (calls, stopping.alive) == ([False], False)
    assert stopping.deadlines is deadlines
    assert before + 25 < deadlines.interrupt <= after + 28


def test_a_worker_can_be_stopped_while_it_boots() -> None:
    booting = worker()
    booting.handle_exit(15, None)
    assert not booting.alive


def test_a_quick_stop_leaves_time_to_answer_callers() -> None:
    stopping = worker()
    stopping.handle_exit(15, None)
    stopping.handle_quit(3, None)
    now = time.monotonic()
    assert stopping.deadlines.interrupt <= now
    assert 0 < stopping.deadlines.cut - now <= 1.0


def test_a_worker_without_a_master_ends_its_requests_as_on_a_signal(
    caplog: pytest.LogCaptureFixture,
) -> None:
    orphan = worker(ppid=-1)
    orphan.notify()
    orphan.notify()
    assert not orphan.alive
    (message,) = caplog.messages
    assert message.startswith("the master is gone: worker ")


def test_a_stuck_worker_says_where_it_stands_and_ends_its_requests_at_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    stuck = worker()
    with pytest.raises(gevent.GreenletExit):
        stuck.handle_abort(6, inspect.currentframe())
    assert not stuck.alive
    assert stuck.deadlines.interrupt <= time.monotonic()
    (message,) = caplog.messages
    assert message.startswith(f"worker {stuck.pid} is stuck and ends: ")
    assert re.search(r"test_worker\.py:\d+ test_a_stuck_worker", message)


def test_an_application_knows_that_a_successor_serves() -> None:
    calls: list[bool] = []
    stopping = worker(SimpleNamespace(delay=0.0, leaving=calls.append))
    stopping.load_wsgi()
    stopping.leave(has_successor=True)
    assert calls == [True]
