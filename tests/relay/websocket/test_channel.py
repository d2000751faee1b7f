"""One side on its socket: what waits, what is answered, how it ends; plain and over TLS."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import gevent
import gevent.ssl
import pytest
from gevent import get_hub
from websockets.frames import BINARY, TEXT, Close

from engine.process import loop_turn
from engine.relay.websocket.channel import Channel, PeerDisconnected, Stopped
from engine.relay.websocket.frames import Violation
from engine.relay.websocket.handshake import deflate_offer, negotiate_deflate, negotiated_deflate
from engine.relay.websocket.outbox import FULL
from engine.values.event_json import LONG_EVENT
from tests.support.frames import CLOSE, PING, PONG, Peer, RawFrame
from tests.support.peer import Authority, server_context
from tests.support.session import PATIENCE, pair
from tests.support.waiting import Deadline

WAYS = ["plain", "tls"]
LONG = b"x" * (LONG_EVENT + 1)


@pytest.fixture(scope="module")
def contexts(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Any]:
    folder: Path = tmp_path_factory.mktemp("authority")
    authority = Authority(folder)
    client = gevent.ssl.SSLContext(gevent.ssl.PROTOCOL_TLS_CLIENT)
    client.load_verify_locations(authority.path)
    return server_context(authority.issue("localhost")), client


@pytest.fixture(params=WAYS)
def sides(request: pytest.FixtureRequest, contexts: tuple[Any, Any]) -> Iterator[Any]:
    """A channel to a server, and the server's end of it."""
    near, far = pair(small=True)
    if request.param == "tls":
        accepting = gevent.spawn(contexts[0].wrap_socket, far, server_side=True)
        near = contexts[1].wrap_socket(near, server_hostname="localhost")
        far = accepting.get(timeout=PATIENCE)
    yield Channel(near, client=False, limit=10**7), Peer(far, client=False)
    near.close()
    far.close()


def begin(channel: Channel) -> tuple[Any, list[RawFrame]]:
    """A greenlet that takes all frames of a channel, and what it has taken."""
    frames_read: list[RawFrame] = []

    def take() -> None:
        for frame in channel.frames():
            frames_read.append(RawFrame(int(frame.opcode), frame.fin, bytes(frame.data)))  # noqa: PERF401

    return gevent.spawn(take), frames_read


def test_bytes_that_the_socket_does_not_accept_wait_in_order(sides: Any) -> None:
    channel, peer = sides
    for number in range(20):
        channel.send(BINARY, bytes([number]) * 20_000)
    assert channel.outbox.backlog > 0
    for number in range(20):
        assert peer.next().data == bytes([number]) * 20_000
    assert channel.outbox.room(PATIENCE)
    gevent.sleep(0)
    assert channel.outbox.backlog == 0


def test_there_is_room_again_once_half_was_taken(sides: Any) -> None:
    channel, peer = sides
    channel.send(BINARY, b"x" * 2 * FULL)
    channel.send(TEXT, b"behind it")
    assert channel.outbox.full
    assert not channel.outbox.room(0.05)
    waiting = gevent.spawn(channel.outbox.room, PATIENCE)
    assert len(peer.next().data) == 2 * FULL
    assert waiting.get(timeout=PATIENCE)
    assert peer.next().data == b"behind it"


def test_a_pong_waits_for_the_end_of_a_frame_and_only_the_last_one_does(sides: Any) -> None:
    channel, peer = sides
    running, frames_read = begin(channel)
    channel.send(BINARY, b"x" * 200_000)
    channel.send(TEXT, b"after")
    assert channel.outbox.backlog
    for number in range(50):
        peer.send(PING, b"%d" % number)
    deadline = Deadline()
    while len(frames_read) < 50:
        assert not deadline.passed()
        gevent.sleep(0.005)
    assert len(peer.next().data) == 200_000
    assert peer.next() == RawFrame(PONG, True, b"49")
    assert peer.next().data == b"after"
    running.kill()


def test_a_close_is_answered_at_once_and_ends_the_frames(sides: Any) -> None:
    channel, peer = sides
    running, frames_read = begin(channel)
    peer.text("a")
    peer.close(4000, b"why")
    running.get(timeout=PATIENCE)
    assert [each_frame.opcode for each_frame in frames_read] == [1, CLOSE]
    assert channel.closed == Close(4000, "why")
    assert peer.closed() == (4000, "why")
    channel.send(TEXT, b"too late")
    finishing = gevent.spawn(channel.finish, 1.0)
    assert peer.ended() == b""
    peer.sock.close()
    finishing.get(timeout=PATIENCE)


def test_a_close_of_ours_is_waited_for(sides: Any) -> None:
    channel, peer = sides
    channel.send(BINARY, b"x" * 100_000)
    channel.close(Close(1006, "words"))
    channel.close(Close(1000, "only the first counts"))
    finishing = gevent.spawn(channel.finish, PATIENCE)
    assert len(peer.next().data) == 100_000
    assert peer.closed() == (1011, "words")
    peer.text("what is said meanwhile is not heard")
    assert not finishing.ready()
    peer.close(1011)
    peer.sock.close()
    finishing.get(timeout=PATIENCE)
    assert channel.closed == Close(1011, "")


SENDERS: dict[str, Callable[[Channel], None]] = {
    "frame": lambda channel: channel.send(TEXT, LONG),
    "message": lambda channel: channel.send_text(LONG),
}


@pytest.mark.parametrize("name", SENDERS)
def test_a_long_message_does_not_follow_a_close_that_overtakes_it(sides: Any, name: str) -> None:
    channel, peer = sides
    sending = gevent.spawn(SENDERS[name], channel)
    gevent.sleep(0)
    channel.close(Close(1000, ""))
    sending.get(timeout=PATIENCE)
    assert (peer.next().opcode, channel.outbox.backlog) == (CLOSE, 0)


@pytest.mark.parametrize("name", SENDERS)
def test_the_loop_itself_may_send_a_long_message(sides: Any, name: str) -> None:
    channel, peer = sides
    get_hub().loop.run_callback(SENDERS[name], channel)
    assert peer.next().data == LONG


def test_a_silent_peer_is_not_waited_for_long(sides: Any) -> None:
    channel, _ = sides
    channel.send(BINARY, b"x" * 500_000)
    channel.close(Close(1001, ""))
    with gevent.Timeout(PATIENCE):
        channel.finish(0.3)
    assert channel.outbox.broken


def test_a_peer_that_disconnects_ends_the_frames(sides: Any) -> None:
    channel, peer = sides
    peer.text("a")
    peer.sock.close()
    running, frames_read = begin(channel)
    with pytest.raises(PeerDisconnected):
        running.get(timeout=PATIENCE)
    assert len(frames_read) == 1


def test_a_wait_for_frames_can_be_stopped(sides: Any) -> None:
    channel, peer = sides
    running, frames_read = begin(channel)
    peer.text("a")
    while not frames_read:
        gevent.sleep(0.005)
    channel.stop()
    with pytest.raises(Stopped):
        running.get(timeout=PATIENCE)
    with pytest.raises(Stopped):
        next(channel.frames())


def test_a_large_message_comes_in(sides: Any) -> None:
    channel, peer = sides
    running, frames_read = begin(channel)
    for size in (300_000, 16_384, 65_536, 1):
        peer.send(2, b"x" * size)
    peer.close()
    running.get(timeout=PATIENCE)
    assert [len(each_frame.data) for each_frame in frames_read[:-1]] == [300_000, 16_384, 65_536, 1]


def test_a_breach_is_raised(sides: Any) -> None:
    channel, peer = sides
    peer.sock.sendall(b"\xff\xff")
    with pytest.raises(Violation):
        next(channel.frames())
    channel.close(Close(1002, ""))
    peer.sock.close()
    with gevent.Timeout(PATIENCE):
        channel.finish(1e6)


def test_a_pong_is_matched_by_the_data_of_its_ping(sides: Any) -> None:
    channel, peer = sides
    for data in (b"1", b"2", b"3"):
        channel.ping(data)
        assert peer.next() == RawFrame(PING, True, data)
    assert not channel.is_answer(b"x")
    assert channel.is_answer(b"2")
    assert not channel.is_answer(b"1")
    assert channel.is_answer(b"3")
    assert not channel.is_answer(b"3")


def test_nothing_is_sent_to_a_disconnected_peer(sides: Any) -> None:
    channel, peer = sides
    peer.sock.close()
    deadline = Deadline()
    while not channel.outbox.broken:
        assert not deadline.passed()
        channel.send(BINARY, b"x" * 10_000)
        gevent.sleep(0.001)
    assert (channel.outbox.backlog, channel.outbox.full) == (0, False)
    assert channel.outbox.room(0)
    assert channel.is_disconnected()


def test_what_is_compressed_by_two_at_once_can_be_read() -> None:
    """The window of a compressor is that of all messages before, in their order."""
    answered, server = negotiate_deflate(deflate_offer())
    client = negotiated_deflate([answered], True)
    near, far = pair()
    sender = Channel(near, client=True, limit=10**7, extensions=server)
    receiver = Channel(far, client=False, limit=10**7, extensions=client)
    messages = [random.Random(number).randbytes(1_200_000).hex().encode() for number in range(3)]
    messages[1] = messages[0][:1_000]
    texts: list[bytes] = []

    def take() -> None:
        for frame in receiver.frames():
            texts.append(bytes(frame.data))
            if len(texts) == len(messages):
                return

    with patch.object(loop_turn, "SECONDS", 0.0):
        greenlets = [gevent.spawn(sender.send, TEXT, message) for message in messages]
        greenlets.append(gevent.spawn(take))
        try:
            gevent.joinall(greenlets, timeout=PATIENCE, raise_error=True)
        finally:
            gevent.killall(greenlets)
            near.close()
            far.close()
    assert sorted(texts) == sorted(messages)
