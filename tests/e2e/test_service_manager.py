"""What a running gateway tells systemd."""

from __future__ import annotations

import signal
import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.recording import recorder
from tests.support.running import gateway
from tests.support.small import project
from tests.support.waiting import PATIENCE


@pytest.fixture
def systemd() -> Iterator[tuple[socket.socket, str]]:
    """The socket that systemd reads, and its path."""
    with (
        tempfile.TemporaryDirectory() as folder,
        socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sock,
    ):
        path = f"{folder}/notify"
        sock.bind(path)
        sock.settimeout(PATIENCE)
        yield sock, path


def test_it_is_ready_when_all_workers_serve_and_asks_for_the_time_of_its_drain(
    tmp_path: Path, systemd: tuple[socket.socket, str]
) -> None:
    sock, path = systemd

    def message() -> list[str]:
        return sock.recv(4096).decode().splitlines()

    with recorder() as upstream:
        config = project(tmp_path, upstream.url, {"chat": "[]"})
        config = config.replace("workers: 2", "workers: 2, drain: {delay: 0s, grace: 100s}")
        with gateway(tmp_path, config, {"NOTIFY_SOCKET": path}) as front:
            ready, status = message()
            assert ready == "READY=1"
            assert status.endswith("is served by 2 workers")
            front.process.send_signal(signal.SIGTERM)
            assert message() == [
                "STOPPING=1",
                "STATUS=Ends its requests",
                "EXTEND_TIMEOUT_USEC=110000000",
            ]
            assert front.process.wait(20) == 0
