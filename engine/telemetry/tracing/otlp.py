"""Spans as OTLP has them: protobuf for `POST /v1/traces`, and what a collector answers.

https://opentelemetry.io/docs/specs/otlp/#otlphttp. This module alone needs the extra `otel`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from google.protobuf.message import DecodeError
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.proto.common.v1.common_pb2 import InstrumentationScope
from opentelemetry.proto.resource.v1.resource_pb2 import Resource
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, ScopeSpans, Span, Status

from engine.telemetry.tracing.spans import Said, Value
from engine.telemetry.tracing.spans import Span as Ours

_KIND: Mapping[type, str] = {
    str: "string_value",
    bool: "bool_value",
    int: "int_value",
    float: "double_value",
}
_HAS_REMOTE = 0x100  # what follows is known
_IS_REMOTE = 0x200


class Encoder:
    """Makes requests to a collector of spans of one `resource`; `version` is the gateway's."""

    def __init__(self, resource: Mapping[str, Value], version: str) -> None:
        self._resource = Resource(attributes=_pairs(resource))
        self._scope = InstrumentationScope(name="modelway", version=version)

    def encode(self, spans: Sequence[Ours]) -> bytes:
        """The body that tells a collector of these spans."""
        scoped = ScopeSpans(scope=self._scope, spans=[_span(span) for span in spans])
        told = ResourceSpans(resource=self._resource, scope_spans=[scoped])
        return bytes(ExportTraceServiceRequest(resource_spans=[told]).SerializeToString())


def refused(body: bytes) -> int:
    """How many spans a collector that answered 2xx did not take, by that answer."""
    try:
        answer = ExportTraceServiceResponse.FromString(body)
    except DecodeError:
        return 0  # a proxy's words, or none: the status is all there is to go by
    return int(answer.partial_success.rejected_spans)


def _span(span: Ours) -> Span:
    flags = span.flags & 0xFF | _HAS_REMOTE | (_IS_REMOTE if span.from_afar else 0)
    made = Span(
        trace_id=bytes.fromhex(span.trace_id),
        span_id=bytes.fromhex(span.span_id),
        parent_span_id=bytes.fromhex(span.parent_id),
        trace_state=span.state,
        flags=flags,
        name=_text(span.name),
        kind=span.kind.value,  # type: ignore[arg-type]
        start_time_unix_nano=span.start,
        end_time_unix_nano=span.end,
        attributes=_pairs(span.attributes),
    )
    if span.error is not None:
        made.status.code = Status.STATUS_CODE_ERROR
        made.status.message = _text(span.error)
    return made


def _pairs(said: Said) -> list[Any]:
    return [
        {"key": key, "value": {_KIND[type(v)]: _text(v) if isinstance(v, str) else v}}
        for key, v in said.items()
    ]


def _text(value: str) -> str:
    """Text as protobuf takes it: callers may send what is no Unicode."""
    return value if value.isascii() else value.encode("utf-8", "replace").decode()
