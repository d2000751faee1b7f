"""The worker's own: what gunicorn's does not do."""

from __future__ import annotations

import os
import time
from types import SimpleNamespace
from typing import Any

from engine.server.listener import IdleConnections
from engine.server.worker import Worker


def worker(grace: int = 30, **known: Any) -> Any:
    """A worker that has not been started."""
    made: Any = Worker.__new__(Worker)
    made.cfg, made._keepalive = SimpleNamespace(graceful_timeout=grace), 5
    made.tmp, made.alive, made.pid, made.ppid = SimpleNamespace(notify=int), True, 1, os.getppid()
    made.log, made._idle = SimpleNamespace(error=lambda *_, **__: None), IdleConnections()
    made._telemetry_idle = IdleConnections()
    vars(made).update(known)
    return made


def test_an_application_hears_once_that_its_worker_is_to_stop():
    heard: list[int] = []
    made = worker(wsgi=SimpleNamespace(leaving=lambda: heard.append(1)), _loaded=True)
    made.handle_exit(15, None)
    deadlines = made._deadlines
    made.handle_exit(15, None)  # gunicorn's master repeats it every second
    assert (heard, made.alive) == ([1], False)
    assert made._deadlines is deadlines
    assert 25 < deadlines.interrupt - time.monotonic() <= 28


def test_a_worker_may_be_told_to_stop_while_it_boots():
    made = worker()
    made.handle_exit(15, None)
    assert not made.alive


def test_a_quick_end_leaves_time_to_tell_callers():
    made = worker()
    made.handle_exit(15, None)
    made.handle_quit(3, None)
    now = time.monotonic()
    assert made._deadlines.interrupt <= now
    assert 0 < made._deadlines.cut - now <= 1.0


def test_a_worker_whose_master_is_gone_ends_its_requests_as_on_a_signal():
    said: list[str] = []
    log = SimpleNamespace(error=lambda words, *values: said.append(words % values))
    made = worker(ppid=-1, log=log)
    made.notify()
    made.notify()
    assert not made.alive
    assert said == ["the master is gone: worker 1 ends its requests and stops"]
