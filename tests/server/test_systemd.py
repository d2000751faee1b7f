"""What systemd reads of the gateway."""

import os
import socket
import tempfile

import pytest

from engine.server.systemd import ServiceManager
from tests.support.waiting import PATIENCE


@pytest.fixture(params=["path", "abstract"])
def systemd(request, tmp_path, monkeypatch):
    """The socket that the service manager reads."""
    with tempfile.TemporaryDirectory() as folder:
        name = f"{folder}/notify" if request.param == "path" else f"@modelway-{tmp_path}"
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sock:
            sock.bind(name.replace("@", "\0"))
            sock.settimeout(PATIENCE)
            monkeypatch.setenv("NOTIFY_SOCKET", name)
            yield sock


def received(sock):
    """The messages so far."""
    messages = []
    sock.setblocking(False)
    try:
        while True:
            messages.append(sock.recv(4096).decode().splitlines())
    except BlockingIOError:
        return messages


def test_it_is_ready_once_and_says_what_is_served(systemd):
    manager = ServiceManager()
    for config, workers in [("a", 2), ("a", 2), ("b", 2)]:
        manager.serving(config, workers)
    assert received(systemd) == [
        ["READY=1", "STATUS=Config a is served by 2 workers"],
        ["STATUS=Config b is served by 2 workers"],
    ]


def test_it_asks_for_the_time_that_its_requests_may_take(systemd):
    ServiceManager().stopping(122.5)
    (message,) = received(systemd)
    assert message[0] == "STOPPING=1"
    assert message[-1] == "EXTEND_TIMEOUT_USEC=122500000"


def test_nothing_follows_the_message_that_it_stops(systemd):
    manager = ServiceManager()
    manager.stopping(1.0)
    manager.serving("a", 1)
    assert len(received(systemd)) == 1


def test_no_other_process_inherits_the_socket(systemd):
    ServiceManager()
    assert "NOTIFY_SOCKET" not in os.environ


def test_without_a_service_manager_nothing_is_sent(monkeypatch):
    monkeypatch.delenv("NOTIFY_SOCKET", raising=False)
    ServiceManager().serving("a", 1)


def test_a_service_manager_that_is_gone_does_not_end_the_gateway(monkeypatch, tmp_path):
    monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "gone"))
    ServiceManager().stopping(1.0)
