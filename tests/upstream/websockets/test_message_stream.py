"""The messages of an upstream's socket, read in the background."""

import gevent
import gevent.socket
import pytest

from engine.relay.websocket.channel import Channel
from engine.upstream.client.failures import Reset
from engine.upstream.websockets.message_stream import MessageStream
from tests.support.frames import CLOSE, PING, PONG, TEXT, Peer


@pytest.fixture
def sides():
    mine, other = gevent.socket.socketpair()
    other.settimeout(10)
    stream = MessageStream(Channel(mine, client=False, limit=1_000_000), mine)
    yield stream, Peer(other, client=False)
    stream.close()
    other.close()


def test_messages_come_in_their_order(sides):
    stream, peer = sides
    peer.text("a")
    peer.send(TEXT, b"b", fin=False)
    peer.send(0, b"c")
    assert [stream.take(5), stream.take(5)] == [b"a", b"bc"]
    assert stream.take(0.001) is None
    assert not stream.has_message


def test_a_message_is_sent_as_text(sides):
    stream, peer = sides
    stream.send(b"a")
    assert peer.next() == (TEXT, True, b"a")


def test_pings_are_answered_between_requests(sides):
    _, peer = sides
    peer.send(PING, b"x")
    assert peer.next() == (PONG, True, b"x")


def test_what_came_before_the_end_is_read_first(sides):
    stream, peer = sides
    peer.text("a")
    peer.close()
    gevent.sleep(0.05)
    assert stream.has_ended
    assert stream.take(5) == b"a"
    with pytest.raises(Reset):
        stream.take(5)
    with pytest.raises(Reset):
        stream.send(b"x")


def test_an_upstream_that_sends_more_than_is_read_is_slowed_down(sides):
    stream, peer = sides
    sending = gevent.spawn(lambda: [peer.text("x" * 200_000) for _ in range(20)])
    gevent.sleep(0.1)
    assert not sending.ready()
    assert [len(stream.take(5)) for _ in range(20)] == [200_000] * 20


def test_a_wait_ends_when_the_socket_is_closed(sides):
    stream, _ = sides
    waiting = gevent.spawn(stream.take, 60)
    gevent.sleep(0.01)
    stream.close()
    with pytest.raises(Reset):
        waiting.get(timeout=5)


def test_the_socket_of_an_upstream_that_has_closed_is_closed_at_once(sides):
    stream, peer = sides
    peer.close()
    assert peer.next().opcode == CLOSE
    with pytest.raises(EOFError):
        peer.next()
    assert stream.has_ended
