"""A master without workers."""

from __future__ import annotations

import gc
from typing import Any

import pytest
from gunicorn.arbiter import Arbiter

from engine.server.master import Master
from tests.support.clock import Clock
from tests.support.reloads import App


@pytest.fixture(autouse=True)
def _frozen_objects() -> None:
    """As in a master: a recorder patches locks, for which gevent looks among all other objects.
    Those of the tests, classes that SDKs make on demand among them, take it two seconds."""
    gc.freeze()


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
