"""A heavy worker leaves connections to others, and makes its application when it is asked first."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from typing import Any

import gevent
import pytest
from gevent.os import make_nonblocking, nb_read
from gunicorn.errors import AppImportError
from gunicorn.workers.ggevent import GeventWorker

from engine.config.server import Server
from engine.process.channel import Channel
from engine.server.connection_admission import Admission, IdleConnections
from engine.server.gunicorn_application import GunicornApplication
from engine.server.heavy_worker import HeavyWorker
from engine.server.serving_processes import Role
from tests.support.heavy_pair import LARGE, SMALL, Processes
from tests.support.waiting import PATIENCE


@pytest.fixture
def heavy() -> Iterator[HeavyWorker]:
    channel = Channel()
    gunicorn = GunicornApplication(Server(), object)  # type: ignore[arg-type]
    gunicorn.next_role = Role(is_heavy=True, channel=channel)
    sock = socket.create_server(("127.0.0.1", 0))
    log = gunicorn.cfg.logger_class(gunicorn.cfg)
    worker = HeavyWorker(1, os.getppid(), [sock], gunicorn, 30, gunicorn.cfg, log)
    yield worker
    sock.close()
    channel.close()
    worker.tmp.close()


@pytest.fixture(autouse=True)
def limits(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The numbers of callers for which descriptors were asked."""
    numbers: list[int] = []
    monkeypatch.setattr("engine.process.file_descriptors.raise_limit", numbers.append)
    return numbers


def test_it_has_descriptors_for_bodies_and_reports(heavy: HeavyWorker, limits: list[int]) -> None:
    heavy.open_listeners(Admission(10, IdleConnections(), lambda address: b""))
    assert limits == [2 * Server().connections]


def test_it_has_no_listening_socket(heavy: HeavyWorker) -> None:
    (sock,) = heavy.sockets
    port = sock.getsockname()[1]
    (listener,) = heavy.open_listeners(Admission(10, IdleConnections(), lambda address: b""))
    assert not listener.is_telemetry
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port))


def test_it_keeps_one_end_of_the_channel(heavy: HeavyWorker) -> None:
    channel = heavy.role.channel
    assert channel is not None
    heavy.keep_channel()
    with pytest.raises(OSError, match="Bad file descriptor"):
        channel.send([0])


@pytest.mark.parametrize(
    ("error", "has_trace"), [(AppImportError("the disk is full"), False), (KeyError("x"), True)]
)
def test_it_ends_if_it_cannot_make_its_application(
    heavy: HeavyWorker, monkeypatch: pytest.MonkeyPatch, error: Exception, has_trace: bool
) -> None:
    lines: list[tuple[Any, bool]] = []

    def fail(self: Any) -> None:
        raise error

    monkeypatch.setattr(GeventWorker, "load_wsgi", fail)
    monkeypatch.setattr(
        heavy.log, "error", lambda *text, exc_info=None: lines.append((text, exc_info is error))
    )
    heavy.load_wsgi()
    assert heavy.alive
    assert heavy.load_handlers([("127.0.0.1", 80)]) == []
    assert not heavy.alive
    (line,) = lines
    assert line[1] is has_trace


@pytest.fixture
def processes() -> Iterator[Processes]:
    both = Processes()
    yield both
    both.close()


def test_it_ends_with_the_last_worker(processes: Processes) -> None:
    gevent.sleep(0)
    assert len(processes.listener.connections) == 1
    processes.channel.keep_receiving()
    processes.listener.connections.join(PATIENCE)
    assert not processes.listener.connections


def test_a_process_that_ends_before_it_has_answered(processes: Processes) -> None:
    processes.heavy.dies = True
    assert processes.answers(LARGE, SMALL) == ["500"]


def test_descriptors_without_a_request_are_closed(processes: Processes) -> None:
    read, write = os.pipe()
    processes.channel.send([write])
    os.close(write)
    make_nonblocking(read)
    with gevent.Timeout(PATIENCE):
        assert nb_read(read, 1) == b""  # its end
    os.close(read)
    assert processes.answers(LARGE) == ["heavy /large 10.0.0.1 20"]
