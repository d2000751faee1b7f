"""The order in which the requests of a socket begin."""

import gevent
import pytest
from gevent.event import Event

from engine.exchange.outcome import CallerLeft
from engine.sockets.lanes import IN_FLIGHT, NAMED_LANES, WAITING, Lanes
from engine.sockets.messages import Create
from engine.values.errors import GatewayError


class Socket:
    """Requests that go on until `go` is set."""

    def __init__(self, max_waiting=1000):
        self.begun, self.ended, self.idle, self.go = [], [], 0, Event()
        self.lanes = Lanes(self.run, max_waiting, self.note_idle)

    def run(self, create):
        name = create.request["n"], create.stream_id
        self.begun.append(name)
        self.go.wait()
        self.ended.append(name)

    def note_idle(self):
        self.idle += 1

    def add(self, number, lane="", size=1):
        self.lanes.add(Create({"n": number}, lane), size)


@pytest.fixture
def socket():
    made = Socket()
    yield made
    made.go.set()
    made.lanes.join(5)


def test_a_lane_answers_one_after_the_other(socket):
    socket.add(1)
    socket.add(2)
    gevent.sleep(0)
    assert socket.begun == [(1, "")]
    socket.go.set()
    socket.lanes.join(5)
    assert socket.ended == [(1, ""), (2, "")]
    assert (socket.lanes.is_idle, socket.idle) == (True, 1)


def test_lanes_go_side_by_side_up_to_a_bound(socket):
    for number in range(IN_FLIGHT + 2):
        socket.add(number, f"lane-{number}")
    gevent.sleep(0)
    assert len(socket.begun) == IN_FLIGHT
    socket.go.set()
    socket.lanes.join(5)
    assert len(socket.ended) == IN_FLIGHT + 2


def test_one_lane_too_many_is_refused_and_known_ones_are_not(socket):
    socket.go.set()
    for number in range(NAMED_LANES):
        socket.add(number, f"lane-{number}")
        gevent.sleep(0)
    with pytest.raises(GatewayError) as refused:
        socket.add(0, "one-more")
    assert (refused.value.status, refused.value.code) == (400, "websocket_stream_limit_reached")
    socket.add(0, "lane-0")
    socket.add(0)


def test_too_many_requests_are_refused(socket):
    socket.add(0)
    gevent.sleep(0)
    for number in range(WAITING):
        socket.add(number)
    with pytest.raises(GatewayError) as refused:
        socket.add(0)
    assert (refused.value.status, refused.value.code) == (429, "websocket_queue_limit_reached")


def test_too_many_bytes_of_requests_are_refused(socket):
    socket.add(1, size=5000)  # nothing waits yet: any size may
    gevent.sleep(0)
    socket.add(2, size=900)
    with pytest.raises(GatewayError):
        socket.add(3, size=101)
    socket.add(4, size=100)


def test_requests_that_wait_can_be_dropped(socket):
    socket.add(1)
    gevent.sleep(0)
    socket.add(2)
    socket.add(3, "other")
    assert [create.request["n"] for create in socket.lanes.drop_waiting()] == [2, 3]
    socket.go.set()
    socket.lanes.join(5)
    assert socket.ended == [(1, "")]
    assert socket.lanes.is_idle


def test_cancelled_requests_end_and_none_begins(socket):
    socket.add(1)
    socket.add(2)
    gevent.sleep(0)
    socket.lanes.cancel(CallerLeft, 5)
    assert (socket.begun, socket.ended, socket.lanes.is_idle) == ([(1, "")], [], True)
