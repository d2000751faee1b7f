"""The worker's own: what gunicorn's does not do."""

from __future__ import annotations

from types import SimpleNamespace

import gevent.socket
import pytest
from gunicorn.workers.ggevent import GeventWorker

from engine.flow import Passage
from engine.outgoing import Outgoing
from engine.worker import Worker, _Direct


def told(monkeypatch: pytest.MonkeyPatch, **known: object) -> None:
    """A worker that is sent SIGTERM."""
    monkeypatch.setattr(GeventWorker, "handle_exit", lambda self, sig, frame: None)
    monkeypatch.setattr("gevent.spawn_later", lambda *arguments: None)
    worker = Worker.__new__(Worker)
    worker.cfg = SimpleNamespace(graceful_timeout=30)
    for name, value in known.items():
        setattr(worker, name, value)
    worker.handle_exit(15, None)


def test_an_application_hears_that_its_worker_is_to_stop(monkeypatch):
    heard = []
    told(monkeypatch, wsgi=SimpleNamespace(leaving=lambda: heard.append(1)))
    assert heard == [1]


def test_a_worker_may_be_told_to_stop_while_it_boots(monkeypatch):
    told(monkeypatch)
    told(monkeypatch, wsgi=object())  # somebody else's application


class Pieces:
    """A body in two pieces; `offers` is what its passage was offered when each was asked for."""

    def __init__(self):
        self.passage = Passage()
        self.offers = []

    def __iter__(self):
        for piece in (b"a", b"b"):
            self.offers.append(self.passage.offer)
            yield piece


@pytest.mark.parametrize("version", [(1, 1), (1, 0)])
def test_a_stream_is_offered_a_way_as_soon_as_its_head_is_out(version):
    near, far = gevent.socket.socketpair()
    near.__class__ = _Direct
    request = SimpleNamespace(method="GET", version=version, should_close=lambda: False)
    out, pieces = Outgoing(request, near, SimpleNamespace()), Pieces()
    served, worker = [pieces], Worker.__new__(Worker)

    def app(environ, start_response):
        start_response("200 OK", [])
        return served.pop()

    worker.wsgi = app
    worker._answer({}, out)
    assert pieces.offers == [None, out.offer]
    assert (out.offer is not None) == (version == (1, 1))
    near.close()
    far.close()


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
