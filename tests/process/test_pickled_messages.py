"""Messages between processes arrive whole, or end with the other process."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator

import pytest

from engine.process.pickled_messages import receive_message, send_message


@pytest.fixture
def pair() -> Iterator[tuple[socket.socket, socket.socket]]:
    near, far = socket.socketpair()
    yield near, far
    near.close()
    far.close()


@pytest.mark.parametrize("value", ["", {"a": (1, None)}, b"x" * 3_000_000], ids=["", "a", "long"])
def test_a_message_arrives_as_it_was_sent(
    pair: tuple[socket.socket, socket.socket], value: object
) -> None:
    near, far = pair
    sender = threading.Thread(target=lambda: [send_message(near, value) for _ in range(2)])
    sender.start()
    assert [receive_message(far) for _ in range(2)] == [value, value]
    sender.join()


@pytest.mark.parametrize("part", [b"", b"\0\0", b"\0\0\0\x09half"])
def test_a_sender_that_dies_ends_the_wait(
    pair: tuple[socket.socket, socket.socket], part: bytes
) -> None:
    near, far = pair
    near.sendall(part)
    near.close()
    with pytest.raises(EOFError):
        receive_message(far)


def test_a_receiver_that_has_died_is_an_error(
    pair: tuple[socket.socket, socket.socket],
) -> None:
    near, far = pair
    far.close()
    with pytest.raises(BrokenPipeError):
        send_message(near, "a")
