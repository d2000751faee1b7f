"""Whether an address can be listened on: said in words before gunicorn tries."""

import socket

import pytest

from engine.server import taken


def test_a_free_address_is_not_taken(tmp_path):
    assert taken("127.0.0.1:0") is None
    assert taken(f"unix:{tmp_path}/a.sock") is None
    assert taken(f"unix://{tmp_path}/a.sock") is None


def test_a_socket_that_was_left_behind_is_not_in_the_way(tmp_path):
    with socket.socket(socket.AF_UNIX) as sock:
        sock.bind(str(tmp_path / "a.sock"))
    assert taken(f"unix:{tmp_path}/a.sock") is None


def test_an_address_in_use_is_taken():
    with socket.create_server(("127.0.0.1", 0)) as other:
        listen = f"127.0.0.1:{other.getsockname()[1]}"
        assert taken(listen) == f"cannot listen on {listen}: Address already in use"


@pytest.mark.parametrize("host", ["x" * 64, "no-such-host.invalid", "256.1.1.1"])
def test_a_host_that_is_none_is_told(host):
    assert taken(f"{host}:80").startswith(f"cannot listen on {host}:80: ")


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("nowhere/a.sock", "this user cannot write in the folder"),
        ("file", "there is something else at this path"),
        ("x" * 120, "the path is longer than 100 bytes"),
    ],
)
def test_a_path_that_can_be_no_socket_is_told(tmp_path, monkeypatch, path, why):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("")
    assert why in taken(f"unix:{path}")
