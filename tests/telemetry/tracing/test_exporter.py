"""Spans wait in bounded room, come to a collector that was away, and never stop anybody."""

import gevent
import pytest

from engine.telemetry.tracing.exporter import Exporter, Reply


class Collector:
    """Answers what it is told to, in turn and then for ever the last, and keeps what it took."""

    def __init__(self, *replies):
        self.replies = list(replies)
        self.taken = []
        self.asked = 0

    def post(self, body):
        self.asked += 1
        reply = self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]
        if isinstance(reply, Exception):
            raise reply
        if reply.status == 200:
            self.taken += body
        return reply


def exporter(collector, **more):
    more = {"interval": 0.005, "longest_wait": 0.02, "complain": lambda *words: None} | more
    return Exporter(list, collector.post, lambda body: int(body or 0), **more)


def until(condition):
    with gevent.Timeout(5):
        while not condition():
            gevent.sleep(0.002)


def test_what_is_added_is_told_in_batches():
    collector = Collector(Reply(200))
    sending = exporter(collector, batch=2)
    sending.start()
    sending.add([1, 2, 3])
    sending.add([4, 5])
    until(lambda: sending.exported == 5)
    sending.close()
    assert collector.taken == [1, 2, 3, 4, 5]
    assert collector.asked == 3


@pytest.mark.parametrize("status", [0, 429, 502, 503, 504])
def test_a_collector_that_is_away_gets_everything_once_when_it_is_back(status):
    collector = Collector(Reply(status), Reply(status), Reply(200))
    sending = exporter(collector)
    sending.start()
    sending.add([1, 2])
    until(lambda: sending.exported == 2)
    sending.close()
    assert (collector.taken, sending.lost) == ([1, 2], 0)


def test_what_waits_is_bounded_and_what_is_lost_is_counted():
    sending = exporter(Collector(Reply(0)), room=3)
    for span in range(10):
        sending.add([span])
    assert sending.lost == 7
    sending.close()
    assert sending.lost == 10


def test_the_spans_of_one_request_are_taken_together_or_not_at_all():
    sending = exporter(Collector(Reply(0)), room=3)
    sending.add([1, 2])
    sending.add([3, 4])
    assert sending.lost == 2


def test_a_collector_that_refuses_is_not_asked_again():
    said = []
    collector = Collector(Reply(401), Reply(200))
    sending = exporter(collector, complain=lambda *words: said.append(words[0] % words[1:]))
    sending.start()
    sending.add([1])
    until(lambda: sending.lost == 1)
    sending.add([2])
    until(lambda: sending.exported == 1)
    sending.close()
    assert collector.taken == [2]
    assert said == ["the collector of traces refuses spans: status 401"]


def test_spans_that_a_collector_took_only_in_part_are_counted_as_lost():
    sending = exporter(Collector(Reply(200, body=b"2")))
    sending.start()
    sending.add([1, 2, 3])
    until(lambda: sending.exported + sending.lost == 3)
    sending.close()
    assert (sending.exported, sending.lost) == (1, 2)


def test_a_fault_of_ours_does_not_end_the_sending():
    collector = Collector(RuntimeError("a fault"), Reply(200))
    sending = exporter(collector)
    sending.start()
    sending.add([1])
    until(lambda: sending.lost == 1)
    sending.add([2])
    until(lambda: sending.exported == 1)
    sending.close()


def test_closing_sends_what_waits():
    collector = Collector(Reply(200))
    sending = exporter(collector, interval=60)
    sending.start()
    sending.add([1])
    sending.close()
    assert collector.taken == [1]


def test_closing_does_not_wait_for_a_collector_that_says_nothing():
    collector = Collector(Reply(200))
    collector.post = lambda body: gevent.sleep(60)
    sending = exporter(collector)
    sending.start()
    sending.add([1])
    gevent.sleep(0.02)
    with gevent.Timeout(5):
        sending.close(patience=0.05)
    assert sending.lost == 1


def test_a_collector_is_asked_again_when_it_says_so():
    waits = []
    sending = exporter(Collector(Reply(429, wait=7.0)), longest_wait=30.0)
    sending.add([1])
    waits.append(sending._round(0.005))
    assert waits == [7.0]
