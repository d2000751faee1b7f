"""Addresses that can be listened on, and those that cannot."""

import socket

import pytest

from engine.server.listen_addresses import why_unavailable


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
