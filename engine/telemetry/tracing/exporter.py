"""Telling a collector of spans, beside the requests and never in their way.

The law: what is to be told waits in a queue of bounded length, and what finds it full is lost and
counted. A collector that is away, or asks for patience, is asked again with what it did not take; a
collector that refuses is not (https://opentelemetry.io/docs/specs/otlp/#otlphttp-response).
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Sequence
from itertools import islice
from typing import NamedTuple

import gevent

from engine.telemetry.tracing.spans import Span
from engine.values.periodic import Background

log = logging.getLogger("modelway")

_PATIENCE = frozenset({0, 408, 429, 502, 503, 504})


class Reply(NamedTuple):
    """What came of a POST: its status, or 0 and `why` there is none. `wait` is the seconds that the
    collector asks for."""

    status: int
    why: str = ""
    wait: float | None = None
    body: bytes = b""


class Exporter:
    """Sends spans in the background: `encode` makes a body of some, `post` sends it, `refused`
    reads from the answer how many of them were not taken.

    At most `room` spans wait; `batch` are sent at a time, so that making them a body does not stop
    the worker for long, every `interval` seconds, and after failures at most every `longest_wait`.
    `exported` and `lost` count spans. `complain` is told what goes wrong.
    """

    def __init__(
        self,
        encode: Callable[[Sequence[Span]], bytes],
        post: Callable[[bytes], Reply],
        refused: Callable[[bytes], int],
        *,
        complain: Callable[..., None] = log.warning,
        room: int = 4096,
        batch: int = 32,
        interval: float = 1.0,
        longest_wait: float = 30.0,
    ) -> None:
        self.exported = 0
        self.lost = 0
        self._encode = encode
        self._post = post
        self._refused = refused
        self._complain = complain
        self._room = room
        self._batch = batch
        self._interval = interval
        self._longest_wait = longest_wait
        self._waiting: deque[Span] = deque()
        self._background = Background(self._round, interval, once_more=True)

    def add(self, spans: Sequence[Span]) -> None:
        """Take the spans of one request: all of them, or none where there is no room."""
        if len(self._waiting) + len(spans) > self._room:
            self.lost += len(spans)
            return
        self._waiting.extend(spans)

    def start(self) -> None:
        """Send from now on; in the worker, after the fork."""
        self._background.start()

    def close(self, patience: float = 3.0) -> None:
        """Send what waits, for so many seconds; what is left then is lost."""
        self._background.end(patience)
        if self._waiting:
            log.warning("%d spans are lost: the collector has not taken them", len(self._waiting))
            self.lost += len(self._waiting)
            self._waiting.clear()

    def _round(self, waited: float) -> float:
        """Send all that waits, as far as it is taken; how long to wait before the next round."""
        while self._waiting:
            spans = list(islice(self._waiting, self._batch))
            try:
                reply = self._post(self._encode(spans))
            except Exception:
                log.exception("telling a collector of %d spans failed", len(spans))
                self.lost += self._drop(len(spans))
                return self._longest_wait
            if reply.status in _PATIENCE:
                self._complain("the collector of traces does not take them now: %s", _said(reply))
                asked = reply.wait if reply.wait is not None else waited * 2
                return min(max(asked, self._interval), self._longest_wait)
            self._note(reply, self._drop(len(spans)))
            gevent.sleep(0)
        return self._interval

    def _drop(self, count: int) -> int:
        """Take out what has been told, or never will be."""
        for _ in range(count):
            self._waiting.popleft()
        return count

    def _note(self, reply: Reply, count: int) -> None:
        refused = self._refused(reply.body) if 200 <= reply.status < 300 else count
        if refused:
            self._complain("the collector of traces refuses spans: %s", _said(reply))
        self.lost += refused
        self.exported += count - refused


def _said(reply: Reply) -> str:
    return reply.why or f"status {reply.status}"
