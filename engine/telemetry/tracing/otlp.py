"""OTLP/HTTP: spans as protobuf for `POST /v1/traces`, the resource that they belong to, and the
collector's response.

https://opentelemetry.io/docs/specs/otlp/#otlphttp. Only this module needs the extra `otel`.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import unquote

from google.protobuf.message import DecodeError
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.proto.common.v1.common_pb2 import InstrumentationScope
from opentelemetry.proto.resource.v1.resource_pb2 import Resource
from opentelemetry.proto.trace.v1 import trace_pb2 as proto

from engine.telemetry.tracing.spans import Attributes, Span

log = logging.getLogger("modelway")

_FIELDS: Mapping[type, str] = {
    str: "string_value",
    bool: "bool_value",
    int: "int_value",
    float: "double_value",
}
_HAS_IS_REMOTE = 0x100
_IS_REMOTE = 0x200
"""Bits of a span's flags: whether its parent is known to be remote or not, and whether it is."""


class Encoder:
    """Encodes export requests for spans of one `resource`; `version` is the gateway's."""

    def __init__(self, resource: Attributes, version: str) -> None:
        self._resource = Resource(attributes=attribute_pairs(resource))
        self._scope = InstrumentationScope(name="modelway", version=version)

    def encode(self, spans: Sequence[Span]) -> bytes:
        """The request body that exports these spans."""
        scope = proto.ScopeSpans(scope=self._scope, spans=[_message(span) for span in spans])
        resource = proto.ResourceSpans(resource=self._resource, scope_spans=[scope])
        return bytes(ExportTraceServiceRequest(resource_spans=[resource]).SerializeToString())


def resource_attributes(
    environ: Mapping[str, str], version: str, host: str, pid: int
) -> dict[str, str | int]:
    """The OpenTelemetry resource of this worker.

    OTEL_RESOURCE_ATTRIBUTES (`key=value,...`, percent-encoded) overrides the defaults, and
    OTEL_SERVICE_NAME overrides both:
    https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/.
    """
    attributes: dict[str, str | int] = {
        "service.name": "modelway",
        "service.version": version,
        "service.instance.id": f"{host}:{pid}",
        "host.name": host,
        "process.pid": pid,
    }
    attributes |= _parse_attributes(environ.get("OTEL_RESOURCE_ATTRIBUTES", ""))
    if name := environ.get("OTEL_SERVICE_NAME"):
        attributes["service.name"] = name
    return attributes


def rejected_spans(body: bytes) -> int:
    """How many spans a collector rejected, by the body of its 2xx response."""
    try:
        response = ExportTraceServiceResponse.FromString(body)
    except DecodeError:
        return 0  # a proxy's body, or none: only the status counts
    return int(response.partial_success.rejected_spans)


def _parse_attributes(text: str) -> dict[str, str]:
    pairs = [part.partition("=") for part in text.split(",") if part.strip()]
    if any(not key.strip() or not equals for key, equals, _ in pairs):
        log.warning("OTEL_RESOURCE_ATTRIBUTES is ignored: it is not key=value,key=value")
        return {}
    return {key.strip(): unquote(value.strip()) for key, _, value in pairs}


def _message(span: Span) -> proto.Span:
    flags = span.flags & 0xFF | _HAS_IS_REMOTE | (_IS_REMOTE if span.remote_parent else 0)
    message = proto.Span(
        trace_id=bytes.fromhex(span.trace_id),
        span_id=bytes.fromhex(span.span_id),
        parent_span_id=bytes.fromhex(span.parent_id),
        trace_state=span.state,
        flags=flags,
        name=_unicode(span.name),
        kind=span.kind.value,  # type: ignore[arg-type]
        start_time_unix_nano=span.start,
        end_time_unix_nano=span.end,
        attributes=attribute_pairs(span.attributes),
    )
    if span.error is not None:
        message.status.code = proto.Status.STATUS_CODE_ERROR
        message.status.message = _unicode(span.error)
    return message


def attribute_pairs(attributes: Attributes) -> list[Any]:
    """The attributes as members of OTLP's messages."""
    return [
        {"key": key, "value": {_FIELDS[type(v)]: _unicode(v) if isinstance(v, str) else v}}
        for key, v in attributes.items()
    ]


def _unicode(text: str) -> str:
    """Text without lone surrogates, which callers can send and protobuf refuses."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()
