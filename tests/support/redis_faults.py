"""Faults of a Redis server in tests."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gevent
import pytest
from redis import Connection
from redis.exceptions import ConnectionError as Broken

from engine.values.counters import CountersAway
from tests.support.waiting import Deadline


def break_next_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the connection fail once, when the next answer is read."""
    read, broken = Connection.read_response, []

    def read_response(connection: Connection, **options: Any) -> object:
        if not broken:
            broken.append(connection)
            raise Broken("in the middle of the answer")
        return read(connection, **options)

    monkeypatch.setattr(Connection, "read_response", read_response)


def back(check: Callable[[], object]) -> None:
    """Call `check` until it raises no CountersAway; gevent's loop runs in between."""
    deadline = Deadline(20)
    while not deadline.passed():
        try:
            check()
        except CountersAway:
            gevent.sleep(0.01)
        else:
            return
    raise AssertionError("the server was not found again")
