"""How an application runs under gunicorn: its settings, and its start in a worker."""

from __future__ import annotations

from typing import Any

import pytest
from gunicorn.errors import AppImportError

from engine.config.server import Server
from engine.server.gunicorn_application import GunicornApplication


def fail() -> Any:
    raise ZeroDivisionError("a fault of ours")


def offline() -> Any:
    raise OSError("the store is away")


def test_it_listens_for_callers_and_for_telemetry() -> None:
    server = Server(listen="127.0.0.1:8080", keepalive=7.9)
    gunicorn = GunicornApplication(server, object, telemetry="127.0.0.1:9464")
    assert gunicorn.addresses() == {
        "server.listen": "127.0.0.1:8080",
        "telemetry.listen": "127.0.0.1:9464",
    }
    assert gunicorn.cfg.bind == ["127.0.0.1:8080", "127.0.0.1:9464"]
    assert (gunicorn.cfg.keepalive, gunicorn.cfg.forwarded_allow_ips) == (7, [])


def test_a_worker_is_stuck_after_the_seconds_of_the_config() -> None:
    assert GunicornApplication(Server(stuck_after=7.2), object).cfg.timeout == 8


def test_an_application_that_cannot_start_tells_the_master_why() -> None:
    gunicorn = GunicornApplication(Server(), offline)
    with pytest.raises(AppImportError, match="modelway: the store is away"):
        gunicorn.load()
    broken = GunicornApplication(Server(), fail)
    with pytest.raises(ZeroDivisionError):
        broken.load()
    for each in (gunicorn, broken):
        each.boots.receive()
    assert gunicorn.boots.failures == ["the store is away"]
    assert broken.boots.failures == ["ZeroDivisionError: a fault of ours"]
