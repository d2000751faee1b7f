"""The deadlines of a worker that was told to stop."""

import os
import signal
import socket

import pytest

from engine.config.server import Server
from engine.server.gunicorn_application import settings
from engine.server.shutdown import deadlines, in_order, master_listens


@pytest.mark.parametrize("grace", [0.0, 0.4, 1.0, 1.5, 4.0, 30.0, 3600.0])
def test_requests_end_before_the_master_kills_their_worker(grace):
    timeout = settings(Server(grace=grace))["graceful_timeout"]
    assert timeout >= grace
    interrupt, cut = deadlines(timeout)
    assert 0 < interrupt < cut < timeout
    assert timeout - interrupt >= 1.0


def test_requests_have_nearly_all_of_a_long_grace():
    assert deadlines(30.0) == (28.0, 29.5)


def test_many_connections_take_longer_to_end():
    assert deadlines(30.0, 3_000) == (25.0, 28.75)
    assert deadlines(30.0, 1_000_000).interrupt == 15.0


def test_the_master_waits_for_delay_and_grace():
    assert settings(Server(delay=5.0, grace=120.0))["graceful_timeout"] == 125


def test_a_master_that_stops_has_closed_its_listening_sockets(monkeypatch):
    monkeypatch.setattr(os, "getppid", os.getpid)  # its own master: what it has open is shared
    with socket.create_server(("127.0.0.1", 0)):
        assert master_listens()
    assert not master_listens()


def test_a_process_without_a_common_socket_is_no_master(monkeypatch):
    with socket.create_server(("127.0.0.1", 0)):
        assert not master_listens()


def test_a_master_handles_what_ends_it_first_and_each_change_of_workers():
    received = [signal.SIGTTIN, signal.SIGHUP, signal.SIGTTIN, signal.SIGTERM]
    received += [signal.SIGCHLD, signal.SIGHUP, signal.SIGINT, signal.SIGCHLD]
    first, second, *others = in_order(received)
    assert (first, second) == (signal.SIGINT, signal.SIGTERM)
    repeatable = [signal.SIGHUP, signal.SIGCHLD]
    assert others == [*repeatable, signal.SIGTTIN, signal.SIGTTIN]
