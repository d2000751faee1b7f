"""The sockets of a master: those that systemd passed, and those that it opens."""

from __future__ import annotations

import logging
import os
import socket
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from engine.server.sockets.listening_sockets import ListeningSockets, PassedSockets, why_unavailable
from tests.support.ports import free_port

LOG = logging.getLogger("modelway.test")


@contextmanager
def passed_socket() -> Iterator[tuple[PassedSockets, str, socket.socket]]:
    """A socket as systemd passes it, and its address."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        name = server.getsockname()
        yield PassedSockets({name: server.fileno()}), f"127.0.0.1:{name[1]}", server


def test_a_passed_socket_is_used_for_its_address() -> None:
    with passed_socket() as (passed, address, server):
        (listener,) = ListeningSockets(passed).open([address], (), LOG)
        try:
            assert os.fstat(listener.fileno()).st_ino == os.fstat(server.fileno()).st_ino
        finally:
            listener.close()
        with socket.create_connection(server.getsockname(), 5):
            pass  # the socket of systemd listens on


def test_another_address_is_opened_beside_it() -> None:
    with passed_socket() as (passed, address, _):
        other = f"127.0.0.1:{free_port()}"
        listeners = ListeningSockets(passed).open([address, other], (), LOG)
        names = ["{}:{}".format(*listener.getsockname()) for listener in listeners]
        for listener in listeners:
            listener.close()
        assert names == [address, other]


def test_a_passed_socket_of_another_address_is_refused() -> None:
    with passed_socket() as (passed, address, _), pytest.raises(SystemExit) as excinfo:
        passed.exit_if_unused({"server.listen": "127.0.0.1:1"})
    message = str(excinfo.value)
    assert message.startswith(f"modelway: systemd passed a socket on {address}, and server.listen")
    assert "ListenStream=" in message


def test_without_the_variables_of_systemd_nothing_is_passed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("LISTEN_FDS", "1")
    monkeypatch.setenv("LISTEN_PID", str(os.getpid() + 1))
    assert PassedSockets.from_environment().find("127.0.0.1:80") is None


def test_two_may_listen_on_a_port_that_is_reused() -> None:
    address = f"127.0.0.1:{free_port()}"
    sockets = [ListeningSockets().open([address], {address}, LOG)[0] for _ in range(2)]
    for each in sockets:
        each.close()


def test_the_file_of_a_unix_socket_is_removed_unless_another_replaced_it(tmp_path: Path) -> None:
    path = tmp_path / "api.sock"
    first, second = ListeningSockets(), ListeningSockets()
    (old,) = first.open([f"unix:{path}"], (), LOG)
    (new,) = second.open([f"unix:{path}"], (), LOG)  # takes over the path
    first.close([old])
    first.remove_files([str(path)])
    assert stat.S_ISSOCK(path.stat().st_mode)
    second.close([new])
    second.remove_files([str(path)])
    assert not path.exists()


def wrong_with(listen):
    """Why an address cannot be listened on, or None."""
    return why_unavailable({"server.listen": listen})


def test_a_free_address_can_be_listened_on(tmp_path):
    assert wrong_with("127.0.0.1:0") is None
    assert wrong_with(f"unix:{tmp_path}/a.sock") is None
    assert wrong_with(f"unix://{tmp_path}/a.sock") is None


def test_a_socket_that_was_left_behind_is_not_in_the_way(tmp_path):
    with socket.socket(socket.AF_UNIX) as sock:
        sock.bind(str(tmp_path / "a.sock"))
    assert wrong_with(f"unix:{tmp_path}/a.sock") is None


def test_an_address_in_use_cannot_be_listened_on():
    with socket.create_server(("127.0.0.1", 0)) as other:
        listen = f"127.0.0.1:{other.getsockname()[1]}"
        assert (
            wrong_with(listen)
            == f"cannot listen on {listen} (server.listen): Address already in use"
        )


def test_a_port_that_is_reused_may_be_in_use():
    with socket.socket() as other:
        other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        other.bind(("127.0.0.1", 0))
        other.listen()
        listen = f"127.0.0.1:{other.getsockname()[1]}"
        assert wrong_with(listen) is not None
        assert why_unavailable({"server.listen": listen}, reuse_port=True) is None
        assert why_unavailable({"telemetry.listen": listen}, reuse_port=True) is not None


@pytest.mark.parametrize("host", ["x" * 64, "no-such-host.invalid", "256.1.1.1"])
def test_an_invalid_host_name_is_an_error(host):
    assert wrong_with(f"{host}:80").startswith(f"cannot listen on {host}:80 (server.listen): ")


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("nowhere/a.sock", "this user cannot write in the folder"),
        ("file", "a file that is not a socket is at this path"),
        ("x" * 120, "the path is longer than 100 bytes"),
    ],
)
def test_a_path_that_cannot_be_a_socket_is_an_error(tmp_path, monkeypatch, path, why):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("")
    assert why in wrong_with(f"unix:{path}")
