"""The worker's own: what gunicorn's does not do."""

from __future__ import annotations

import os
import time
from types import SimpleNamespace
from typing import Any

import gevent.socket
import pytest

from engine.server.listener import IdleConnections
from engine.server.worker import Worker, _Direct


def worker(grace: int = 30, **known: Any) -> Any:
    """A worker that has not been started."""
    made: Any = Worker.__new__(Worker)
    made.cfg = SimpleNamespace(graceful_timeout=grace, keepalive=5)
    made.tmp, made.alive, made.pid, made.ppid = SimpleNamespace(notify=int), True, 1, os.getppid()
    made.log, made._idle = SimpleNamespace(error=lambda *_, **__: None), IdleConnections()
    made._own_idle = {}
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


def test_a_callers_socket_takes_what_fits_and_says_how_much():
    near, far = gevent.socket.socketpair()
    near.__class__ = _Direct
    near.setblocking(1)
    assert near.send_some(b"abc") == 3
    taken = near.send_some(bytes(50_000_000))
    assert 0 < taken < 50_000_000
    assert near.send_some(b"abc") == 0
    far.close()
    assert near.send_some(b"abc") == 0
    with pytest.raises(OSError, match=r"pipe|reset"):
        near.sendall(b"abc")
    near.close()


def test_an_answer_that_fails_before_its_head_is_one_500_and_noted_by_its_exchange_alone():
    near, far = gevent.socket.socketpair()
    noted: list[object] = []

    def serve(environ: object, start_response: Any, connection: object) -> Any:
        start_response("200 OK", [("Not-Lower-Case", "1")])

    app = SimpleNamespace(
        on_listener=lambda address: serve, malformed=lambda *values: noted.append(values)
    )
    request = SimpleNamespace(method="GET", version=(1, 1), should_close=lambda: False)
    vars(request).update(body=None, unreader=None)
    made = worker(wsgi=app, nr=0, max_requests=9)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("engine.server.worker.environ_of", lambda *_: {})
        made._base, made._applications = {}, {}
        assert not made.handle_request(("127.0.0.1", 1), request, near, ("127.0.0.1", 2))
    near.close()
    assert far.recv(1000).startswith(b"HTTP/1.1 500 ")
    assert noted == []
    far.close()
