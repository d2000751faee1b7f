"""One side of a WebSocket as messages, over a real socket."""

from __future__ import annotations

import inspect
import tracemalloc
from pathlib import Path

import gevent
import pytest

from engine.relay.websocket.channel import Channel
from engine.relay.websocket.endpoint import Closed, Endpoint, Liveness, Message
from tests.support.frames import BINARY, CONT, PING, PONG, TEXT, Peer
from tests.support.session import PATIENCE, pair


@pytest.fixture
def sides():
    """The server's side as messages, and the client that the test plays."""
    near, far = pair()
    yield Endpoint(Channel(near, client=True, limit=100)), Peer(far, client=True)
    near.close()
    far.close()


def test_a_message_in_fragments_arrives_whole(sides):
    endpoint, peer = sides
    peer.send(TEXT, b"a", fin=False)
    peer.send(CONT, b"b")
    peer.send(BINARY, b"\xff")
    assert endpoint.receive() == Message(True, b"ab")
    assert endpoint.receive() == Message(False, b"\xff")


def test_a_ping_between_fragments_is_answered_and_is_no_message(sides):
    endpoint, peer = sides
    peer.send(TEXT, b"a", fin=False)
    peer.send(PING, b"now")
    peer.send(CONT, b"b")
    assert endpoint.receive() == Message(True, b"ab")
    pong = peer.next()
    assert (pong.opcode, pong.data) == (PONG, b"now")


def test_the_close_of_the_other_side_ends_the_session_with_its_code(sides):
    endpoint, peer = sides
    peer.close(4001, b"bye")
    with pytest.raises(Closed) as excinfo:
        endpoint.receive()
    assert (excinfo.value.code, excinfo.value.reason) == (4001, "bye")


def test_a_disconnection_ends_the_session_with_1006(sides):
    endpoint, peer = sides
    peer.sock.close()
    with pytest.raises(Closed) as excinfo:
        endpoint.receive()
    assert excinfo.value.code == 1006


def test_a_violation_is_told_to_the_other_side_and_ends_the_session(sides):
    endpoint, peer = sides
    peer.send(TEXT, b"x" * 101)
    with pytest.raises(Closed) as excinfo:
        endpoint.receive()
    code, reason = peer.closed()
    assert (excinfo.value.code, excinfo.value.reason) == (code, reason)
    assert code == 1009


def test_texts_and_bytes_are_sent(sides):
    endpoint, peer = sides
    endpoint.send_text("ä")
    endpoint.send_binary(b"\x00")
    assert [peer.next()[::2] for _ in range(2)] == [(TEXT, "ä".encode()), (BINARY, b"\x00")]


def test_nothing_can_be_sent_after_the_close_of_the_other_side(sides):
    endpoint, peer = sides
    peer.close(4001, b"bye")
    with pytest.raises(Closed):
        endpoint.receive()
    with pytest.raises(Closed) as excinfo:
        endpoint.send_text("late")
    assert excinfo.value.code == 4001


def test_a_close_waits_for_that_of_the_other_side(sides):
    endpoint, peer = sides
    closing = gevent.spawn(endpoint.close, 1000, "done")
    gevent.sleep(0)
    assert peer.closed() == (1000, "done")
    assert not closing.ready()
    peer.close(1000)
    closing.get(timeout=PATIENCE)


def test_a_closed_error_says_code_and_reason():
    assert str(Closed(1008, "too many messages")) == "1008 too many messages"


def traced_by(endpoint):
    """The bytes that the modules beside that of the messages have allocated and not freed."""
    folder = Path(inspect.getfile(type(endpoint))).parent
    of_folder = tracemalloc.Filter(inclusive=True, filename_pattern=f"{folder}/*")
    snapshot = tracemalloc.take_snapshot().filter_traces([of_folder])
    return sum(trace.size for trace in snapshot.traces)


def test_fragments_of_no_bytes_take_no_memory(sides):
    endpoint, peer = sides
    receiving = gevent.spawn(endpoint.receive)
    peer.send(TEXT, b"a", fin=False)
    tracemalloc.start()
    try:
        for _ in range(20_000):
            peer.send(CONT, b"", fin=False)
        peer.send(PING, b"")  # is answered behind all of them
        assert peer.next().opcode == PONG
        assert traced_by(endpoint) < 150_000
    finally:
        tracemalloc.stop()
    peer.send(CONT, b"b")
    assert receiving.get(timeout=PATIENCE) == Message(True, b"ab")


class Side:
    def __init__(self):
        self.alive, self.pings = 0.0, 0

    def ping(self, data):
        self.pings += 1


def test_a_side_that_is_not_silent_gets_no_ping():
    side = Side()
    assert not Liveness(side, 5).is_lost(4.9)
    assert side.pings == 0


def test_a_silent_side_gets_one_ping_and_is_lost_without_an_answer():
    side = Side()
    liveness = Liveness(side, 5)
    assert [liveness.is_lost(now) for now in (5.0, 9.9, 10.0)] == [False, False, True]
    assert side.pings == 1


def test_a_side_that_answers_is_alive():
    side = Side()
    liveness = Liveness(side, 5)
    liveness.is_lost(5.0)
    side.alive = 6.0
    assert not liveness.is_lost(10.5)
    assert not liveness.is_lost(11.0)
    assert side.pings == 2


def test_a_side_that_is_not_read_is_not_lost():
    liveness = Liveness(Side(), 5)
    liveness.is_lost(5.0)
    assert not liveness.is_lost(20.0, paused=True)
    assert not liveness.is_lost(21.0)
