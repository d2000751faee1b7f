"""A silent peer gets a ping, and has to answer."""

from engine.relay.websocket.liveness import Liveness


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
