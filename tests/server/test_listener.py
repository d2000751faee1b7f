"""What a listening socket does with connections at once, and without file descriptors."""

from __future__ import annotations

import socket
from typing import Any

import gevent
import gevent.socket
from gevent.pool import Pool
from gevent.server import StreamServer

from engine.server.connection_admission import Admission, IdleConnections
from engine.server.listener import Listener


def test_a_listener_without_descriptors_pauses_and_says_so_once(monkeypatch, caplog):
    def full(server: StreamServer) -> Any:
        raise OSError(24, "Too many open files")

    warnings: list[int] = []
    monkeypatch.setattr(
        "engine.process.file_descriptors.warn_exhausted", lambda: warnings.append(1)
    )
    monkeypatch.setattr(StreamServer, "do_read", full)
    monkeypatch.setattr("engine.process.file_descriptors.capacity", lambda: (10, 16))
    admission = Admission(10, IdleConnections(), lambda address: b"")
    sock = socket.socket(socket.AF_INET)
    sock.bind(("127.0.0.1", 0))
    sock.listen()
    server = Listener(sock, lambda *_: None, Pool(10), admission)
    server.start()
    with socket.create_connection(sock.getsockname()):
        until = gevent.get_hub().loop.now() + 10
        while len(warnings) < 3 and gevent.get_hub().loop.now() < until:
            gevent.sleep(0.01)
    server.stop()
    assert len(warnings) >= 3
    assert "Traceback" not in caplog.text


def test_connections_that_come_at_once_are_accepted_in_turns_of_their_own() -> None:
    admission = Admission(10, IdleConnections(), lambda address: b"")
    sock = gevent.socket.socket(socket.AF_INET)
    sock.bind(("127.0.0.1", 0))
    sock.listen()
    turns: list[int] = []
    turn = 0

    def count() -> None:
        nonlocal turn
        turn += 1

    check = gevent.get_hub().loop.check()
    server = Listener(sock, lambda *_: turns.append(turn), Pool(10), admission)
    callers = [socket.create_connection(sock.getsockname()) for _ in range(5)]
    check.start(count)
    server.start()
    with gevent.Timeout(10):
        while len(turns) < len(callers):
            gevent.sleep(0.01)
    check.stop()
    check.close()
    server.stop()
    for caller in callers:
        caller.close()
    assert len(set(turns)) == len(callers)
