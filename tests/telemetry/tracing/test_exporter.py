"""Spans wait in a queue of limited length and reach a collector that was away."""

import time
from functools import partial

import gevent
import pytest

from engine.telemetry.tracing.exporter import (
    SPANS_LOST,
    SPANS_SENT,
    Exporter,
    PostResult,
    exporter_collector,
)
from tests.support import waiting
from tests.support.waiting import PATIENCE


class Collector:
    """Answers with the results in turn, then always with the last, and keeps accepted spans."""

    def __init__(self, *results):
        self.results = list(results)
        self.spans = []
        self.posts = 0

    def post(self, body):
        self.posts += 1
        result = self.results.pop(0) if len(self.results) > 1 else self.results[0]
        if isinstance(result, Exception):
            raise result
        if result.status == 200:
            self.spans += body
        return result


def exporter(collector, **more):
    more = {"interval": 0.005, "max_interval": 0.02, "warn": lambda *words: None} | more
    return Exporter(list, collector.post, lambda body: int(body or 0), **more)


until = partial(waiting.until, sleep=gevent.sleep)


def test_spans_are_exported_in_batches():
    collector = Collector(PostResult(200))
    exporting = exporter(collector, batch_size=2)
    exporting.start()
    exporting.add([1, 2, 3])
    exporting.add([4, 5])
    until(lambda: exporting.exported_spans == 5)
    exporting.close()
    assert collector.spans == [1, 2, 3, 4, 5]
    assert collector.posts == 3


@pytest.mark.parametrize("status", [0, 429, 502, 503, 504])
def test_a_collector_that_was_away_gets_each_span_once(status):
    collector = Collector(PostResult(status), PostResult(status), PostResult(200))
    exporting = exporter(collector)
    exporting.start()
    exporting.add([1, 2])
    until(lambda: exporting.exported_spans == 2)
    exporting.close()
    assert (collector.spans, exporting.lost_spans) == ([1, 2], 0)


def test_the_queue_is_limited_and_lost_spans_are_counted():
    exporting = exporter(Collector(PostResult(0)), queue_size=3)
    for span in range(10):
        exporting.add([span])
    assert exporting.lost_spans == 7
    exporting.close()
    assert exporting.lost_spans == 10


def test_the_spans_of_a_request_are_queued_together_or_not_at_all():
    exporting = exporter(Collector(PostResult(0)), queue_size=3)
    exporting.add([1, 2])
    exporting.add([3, 4])
    assert exporting.lost_spans == 2


def test_a_refused_export_is_not_repeated():
    warnings = []
    collector = Collector(PostResult(401), PostResult(200))
    exporting = exporter(collector, warn=lambda *words: warnings.append(words[0] % words[1:]))
    exporting.start()
    exporting.add([1])
    until(lambda: exporting.lost_spans == 1)
    exporting.add([2])
    until(lambda: exporting.exported_spans == 1)
    exporting.close()
    assert collector.spans == [2]
    assert warnings == ["the trace collector rejected spans: status 401"]


def test_rejected_spans_are_counted_as_lost():
    exporting = exporter(Collector(PostResult(200, body=b"2")))
    exporting.start()
    exporting.add([1, 2, 3])
    until(lambda: exporting.exported_spans + exporting.lost_spans == 3)
    exporting.close()
    assert (exporting.exported_spans, exporting.lost_spans) == (1, 2)


def test_an_exception_does_not_stop_the_exporter():
    collector = Collector(RuntimeError("a fault"), PostResult(200))
    exporting = exporter(collector)
    exporting.start()
    exporting.add([1])
    until(lambda: exporting.lost_spans == 1)
    exporting.add([2])
    until(lambda: exporting.exported_spans == 1)
    exporting.close()


def test_closing_exports_the_queue():
    collector = Collector(PostResult(200))
    exporting = exporter(collector, interval=60)
    exporting.start()
    exporting.add([1])
    exporting.close()
    assert collector.spans == [1]


def test_closing_does_not_wait_for_a_silent_collector():
    collector = Collector(PostResult(200))
    collector.post = lambda body: gevent.sleep(60)
    exporting = exporter(collector)
    exporting.start()
    exporting.add([1])
    gevent.sleep(0.02)
    with gevent.Timeout(PATIENCE):
        exporting.close(timeout=0.05)
    assert exporting.lost_spans == 1


def test_an_export_is_repeated_after_the_time_that_the_collector_asks_for():
    collector = Collector(PostResult(429, retry_after=0.2), PostResult(200))
    exporting = exporter(collector, max_interval=30.0)
    start = time.monotonic()
    exporting.start()
    exporting.add([1])
    until(lambda: exporting.exported_spans == 1)
    exporting.close()
    assert time.monotonic() - start >= 0.16  # each delay varies by 20 %


def test_sent_and_lost_spans_are_collected():
    exporting = exporter(Collector(PostResult(200)))
    exporting.exported_spans, exporting.lost_spans = 5, 1
    assert list(exporter_collector(exporting)()) == [(SPANS_SENT, (), 5), (SPANS_LOST, (), 1)]
