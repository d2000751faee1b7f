"""An OpenTelemetry collector of the tests' own: OTLP over HTTP, read by opentelemetry-proto."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from tests.support.recording import ReceivedRequest, Recorder, recorder
from tests.support.waiting import Deadline

KINDS = {2: "server", 3: "client"}


@dataclass(frozen=True)
class Span:
    """A span as the collector received it."""

    trace_id: str
    span_id: str
    parent_id: str
    name: str
    kind: str
    start: int
    end: int
    error: bool
    state: str
    attributes: dict[str, Any] = field(default_factory=dict)


class Collector:
    """A collector of traces: `spans()` are those that have come until now."""

    def __init__(self, recording: Recorder) -> None:
        self.recorder = recording

    @property
    def url(self) -> str:
        return self.recorder.url

    @property
    def requests(self) -> list[ReceivedRequest]:
        return self.recorder.requests

    def spans(self) -> list[Span]:
        return [_span(span) for scoped in self._scoped() for span in scoped.spans]

    def resources(self) -> list[dict[str, Any]]:
        """The attributes of the resources that have sent spans."""
        return [_pairs(r.resource.attributes) for r in self._resources()]

    def trace(self, trace_id: str, count: int) -> list[Span]:
        """The spans of a trace in the order in which they began, once there are so many."""
        deadline = Deadline()
        while True:
            spans = [span for span in self.spans() if span.trace_id == trace_id]
            if len(spans) >= count or deadline.passed():
                assert len(spans) == count, spans
                return sorted(spans, key=lambda span: (span.start, span.kind != "server"))
            time.sleep(0.02)

    def _resources(self) -> Iterator[Any]:
        for request in list(self.recorder.requests):
            yield from ExportTraceServiceRequest.FromString(request.body).resource_spans

    def _scoped(self) -> Iterator[Any]:
        for resource in self._resources():
            yield from resource.scope_spans


@contextmanager
def collector() -> Iterator[Collector]:
    """A Collector that listens on a port of 127.0.0.1, and takes everything."""
    with recorder() as recording:
        yield Collector(recording)


def _span(span: Any) -> Span:
    return Span(
        span.trace_id.hex(),
        span.span_id.hex(),
        span.parent_span_id.hex(),
        span.name,
        KINDS[span.kind],
        span.start_time_unix_nano,
        span.end_time_unix_nano,
        span.status.code == span.status.STATUS_CODE_ERROR,
        span.trace_state,
        _pairs(span.attributes),
    )


def _pairs(attributes: Any) -> dict[str, Any]:
    return {p.key: getattr(p.value, p.value.WhichOneof("value")) for p in attributes}
