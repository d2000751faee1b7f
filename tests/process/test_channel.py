"""Sockets are passed between processes, which notice when no other end is left."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Iterator

import gevent
import pytest

from engine.process.channel import Channel, receive_message, send_message
from tests.support.waiting import PATIENCE


@pytest.fixture
def channel() -> Iterator[Channel]:
    new_channel = Channel()
    yield new_channel
    new_channel.close()


def received(channel: Channel) -> list[int] | None:
    with gevent.Timeout(PATIENCE):
        return channel.receive()


def test_a_descriptor_that_was_passed_reads_the_same_file(channel: Channel) -> None:
    read, write = os.pipe()
    assert channel.send([read])
    os.close(read)
    (copy,) = received(channel) or []
    os.write(write, b"hello")
    os.close(write)
    with open(copy, "rb") as file:
        assert file.read() == b"hello"


def test_a_receiver_waits(channel: Channel) -> None:
    waiting = gevent.spawn(channel.receive)
    gevent.sleep(0)
    assert not waiting.ready()
    assert channel.send([0])
    for descriptor in waiting.get(timeout=PATIENCE):
        os.close(descriptor)


def test_each_message_has_one_receiver(channel: Channel) -> None:
    waiting = [gevent.spawn(channel.receive) for _ in range(2)]
    gevent.sleep(0)
    assert channel.send([0])
    done = gevent.wait(waiting, timeout=PATIENCE, count=1)
    os.close(done[0].get()[0])
    gevent.sleep(0)
    assert [each.ready() for each in waiting].count(False) == 1
    assert channel.send([0])
    for each in gevent.joinall(waiting, timeout=PATIENCE):
        if each is not done[0]:
            os.close(each.get()[0])


def test_a_channel_that_nobody_reads_is_full_at_last(channel: Channel) -> None:
    count = 0
    while channel.send([0]) and count < 100_000:
        count += 1
    assert 0 < count < 100_000
    for descriptor in received(channel) or []:
        os.close(descriptor)
    assert channel.send([0])


def test_a_receiver_ends_when_no_sender_is_left(channel: Channel) -> None:
    channel.keep_receiving()
    assert received(channel) is None


def test_what_was_sent_before_the_end_is_received(channel: Channel) -> None:
    channel.send([0])
    channel.keep_receiving()
    for descriptor in received(channel) or []:
        os.close(descriptor)
    assert received(channel) is None


def test_a_sender_without_receivers_gets_an_error(channel: Channel) -> None:
    channel.keep_sending()
    with pytest.raises(OSError, match="Broken pipe"):
        channel.send([0])


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
