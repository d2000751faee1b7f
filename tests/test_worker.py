"""The worker's own: what gunicorn's does not do."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from gunicorn.workers.ggevent import GeventWorker

from engine.worker import Worker


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
