"""Exports spans to a collector in the background, without delaying requests.

Spans wait in a queue of limited length; those that find it full are lost and counted. An export
that the collector could not take (no response, 408, 429, 502, 503, 504) is repeated later; one that
it refused is not (https://opentelemetry.io/docs/specs/otlp/#otlphttp-response).
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Sequence
from itertools import islice

import gevent

from engine.process.periodic import PeriodicTask
from engine.telemetry.tracing.spans import Span
from engine.values.metric import Collector, counter
from engine.values.upstream_request import PostResult

log = logging.getLogger("modelway")

SPANS_SENT = counter("modelway_trace_spans_sent_total", "", "Spans that the collector accepted.")
SPANS_LOST = counter(
    "modelway_trace_spans_lost_total",
    "",
    "Spans lost: the collector was unreachable too long, or refused them.",
)

_RETRYABLE = frozenset({0, 408, 429, 502, 503, 504})


class Exporter:
    """Exports spans: `encode` makes a request body, `post` sends it, `rejected` reads from the
    response body how many spans the collector rejected.

    At most `queue_size` spans wait. Every `interval` seconds, and after failures at most every
    `max_interval`, they are sent in batches of `batch_size`: encoding a large one would block the
    worker. `exported_spans` and `lost_spans` count spans; `warn` logs what goes wrong.
    """

    def __init__(
        self,
        encode: Callable[[Sequence[Span]], bytes],
        post: Callable[[bytes], PostResult],
        rejected: Callable[[bytes], int],
        *,
        warn: Callable[..., None] = log.warning,
        queue_size: int = 4096,
        batch_size: int = 32,
        interval: float = 1.0,
        max_interval: float = 30.0,
    ) -> None:
        self.exported_spans = 0
        self.lost_spans = 0
        self._encode = encode
        self._post = post
        self._rejected = rejected
        self._warn = warn
        self._queue_size = queue_size
        self._batch_size = batch_size
        self._interval = interval
        self._max_interval = max_interval
        self._queue: deque[Span] = deque()
        self._background = PeriodicTask(self._export, interval, run_on_stop=True)

    def add(self, spans: Sequence[Span]) -> None:
        """Queue the spans of one request: all of them, or none if the queue is full."""
        if len(self._queue) + len(spans) > self._queue_size:
            self.lost_spans += len(spans)
            return
        self._queue.extend(spans)

    def start(self) -> None:
        """Export from now on; in the worker, after the fork."""
        self._background.start()

    def close(self, timeout: float = 3.0) -> None:
        """Export the queued spans within `timeout` seconds; the rest are lost."""
        self._background.stop(timeout)
        if self._queue:
            log.warning("%d spans are lost: the collector did not accept them", len(self._queue))
            self.lost_spans += len(self._queue)
            self._queue.clear()

    def _export(self, waited: float) -> float:
        """Export the queue as far as the collector accepts it. Return the seconds until the next
        export."""
        while self._queue:
            spans = list(islice(self._queue, self._batch_size))
            try:
                result = self._post(self._encode(spans))
            except Exception:
                log.exception("the export of %d spans failed", len(spans))
                self.lost_spans += self._remove(len(spans))
                return self._max_interval
            if result.status in _RETRYABLE:
                self._warn("the trace collector is not available: %s", _reason(result))
                delay = result.retry_after if result.retry_after is not None else waited * 2
                return min(max(delay, self._interval), self._max_interval)
            self._count(result, self._remove(len(spans)))
            gevent.sleep(0)
        return self._interval

    def _remove(self, count: int) -> int:
        for _ in range(count):
            self._queue.popleft()
        return count

    def _count(self, result: PostResult, count: int) -> None:
        rejected = self._rejected(result.body) if 200 <= result.status < 300 else count
        if rejected:
            self._warn("the trace collector rejected spans: %s", _reason(result))
        self.lost_spans += rejected
        self.exported_spans += count - rejected


def exporter_collector(exporter: Exporter) -> Collector:
    """Spans that were sent and lost."""
    return lambda: [
        (SPANS_SENT, (), exporter.exported_spans),
        (SPANS_LOST, (), exporter.lost_spans),
    ]


def _reason(result: PostResult) -> str:
    return result.error or f"status {result.status}"
