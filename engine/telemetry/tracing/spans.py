"""The spans of a request and its attempts, with the attributes of OpenTelemetry's conventions.

https://opentelemetry.io/docs/specs/semconv/http/http-spans/ for the request and
https://github.com/open-telemetry/semantic-conventions-genai for an attempt. Only the attempt that
served has token usage, so that the sum over the spans of a trace is right. A span holds no secrets
and no content: no body, query or header.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum

from msgspec import Struct

from engine.dialects import Dialect
from engine.exchange.exchange import Exchange
from engine.exchange.outcome import Outcome
from engine.exchange.request_record import CANCELLED, Attempt, RequestRecord
from engine.telemetry.tracing.trace_context import Sampler, Trace

Value = str | bool | int | float
Attributes = Mapping[str, Value]

_METHODS = frozenset(
    {"GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH", "QUERY"}
)
_MAX_MODEL_NAME = 256

UsageNames = Sequence[tuple[str, str]]
"""Counts of `Usage`, and the attributes that have those of them that are not 0."""
V1_41: UsageNames = (
    ("cached", "gen_ai.usage.cache_read.input_tokens"),
    ("cache_write", "gen_ai.usage.cache_creation.input_tokens"),
    ("reasoning", "gen_ai.usage.reasoning.output_tokens"),
)
"""Version 1.41, the last one of the conventions for GenAI that was released."""
GENAI_2026_10: UsageNames = (
    ("cached", "gen_ai.usage.cache_read.input_tokens"),
    ("cache_write", "gen_ai.usage.cache_write.input_tokens"),
    ("reasoning", "gen_ai.usage.reasoning.output_tokens"),
    ("audio_input", "gen_ai.usage.audio.input_tokens"),
    ("cached_audio", "gen_ai.usage.audio.cache_read.input_tokens"),
    ("audio_output", "gen_ai.usage.audio.output_tokens"),
    ("image_input", "gen_ai.usage.image.input_tokens"),
    ("cached_image", "gen_ai.usage.image.cache_read.input_tokens"),
    ("image_output", "gen_ai.usage.image.output_tokens"),
)
"""docs/gen-ai/client-inference.md of their repository, commit 024a4f94 (October 2026)."""
_BROKEN = (Outcome.UPSTREAM_CUT, Outcome.SHUTDOWN, Outcome.REVOKED)
"""Outcomes of responses that broke off after their head."""


class Kind(IntEnum):
    """Which side of a request a span is; the numbers are OTLP's."""

    SERVER = 2
    CLIENT = 3


@dataclass(slots=True)
class Span:
    """A span that ended: times in Unix nanoseconds; `error` is the description of its error, which
    may be "", or None; `remote_parent` is true if another program created its parent."""

    trace_id: str
    span_id: str
    parent_id: str
    flags: int
    state: str
    name: str
    kind: Kind
    start: int
    end: int
    attributes: dict[str, Value] = field(default_factory=dict)
    error: str | None = None
    remote_parent: bool = False


class Peer(Struct, frozen=True):
    """An upstream as a span's peer: its dialect (None for that of the request), and its address."""

    dialect: Dialect | None
    host: str
    port: int


class Tracer:
    """Traces the requests of a worker: `add` takes the spans of a request, `peers` are the
    upstreams by name, `usage_names` those of the conventions."""

    def __init__(
        self,
        sampler: Sampler,
        add: Callable[[Sequence[Span]], None],
        peers: Mapping[str, Peer],
        usage_names: UsageNames = V1_41,
    ) -> None:
        self._begin = sampler.begin
        self._add = add
        self._peers = peers
        self._usage_names = usage_names

    def begin(self, exchange: Exchange) -> None:
        """Continue the caller's trace, or begin one."""
        get = exchange.environ.get
        exchange.trace = self._begin(get("HTTP_TRACEPARENT"), get("HTTP_TRACESTATE"))

    def end(self, exchange: Exchange) -> None:
        """Add the spans of an exchange that ended, if its trace is sampled."""
        trace = exchange.trace
        if isinstance(trace, Trace) and trace.sampled:
            self._add(spans_of(exchange, trace, self._peers, self._usage_names))


def spans_of(
    exchange: Exchange, trace: Trace, peers: Mapping[str, Peer], usage_names: UsageNames = V1_41
) -> list[Span]:
    """The spans of a request that ended: first that of the request, then those of its attempts."""
    record = exchange.record
    end = record.start + record.duration
    spans = [_request_span(exchange, trace, end)]
    attempts, last = record.attempts, len(trace.attempts) - 1
    if last == len(attempts) - 1:
        last = record.decisive_attempt
    for number, (span_id, start) in enumerate(trace.attempts):
        # An attempt that the caller did not wait for has no record.
        unrecorded = Attempt("", record.upstream, exchange.model.name, "", 0, start, 0.0)
        attempt = attempts[number] if number < len(attempts) else unrecorded
        ended = attempt.failure or number < last
        stop = attempt.start + attempt.seconds if ended else end
        span = Span(
            trace.trace_id, span_id, trace.span_id, trace.flags, trace.state, exchange.method,
            Kind.CLIENT, _unix_nano(record, start), _unix_nano(record, stop),
        )  # fmt: skip
        if number:
            span.attributes["http.request.resend_count"] = number
        _describe_attempt(span, exchange, attempt, peers)
        if number == last:
            _describe_response(span, exchange, start, usage_names)
        spans.append(span)
    return spans


def _unix_nano(record: RequestRecord, time: float) -> int:
    """A time of the monotonic clock in Unix nanoseconds."""
    return int((time + (record.time - record.start)) * 1e9)


def _request_span(exchange: Exchange, trace: Trace, end: float) -> Span:
    record = exchange.record
    error = None
    attributes = _request_attributes(exchange)
    if record.status >= 500 or record.outcome in _BROKEN:
        error = ""
        attributes["error.type"] = str(record.outcome if record.status < 500 else record.status)
    name = exchange.operation or str(attributes["http.request.method"])
    return Span(
        trace.trace_id, trace.span_id, trace.parent_id, trace.flags, trace.state, name, Kind.SERVER,
        _unix_nano(record, record.start), _unix_nano(record, end), attributes, error,
        bool(trace.parent_id),
    )  # fmt: skip


def _request_attributes(exchange: Exchange) -> dict[str, Value]:
    record = exchange.record
    traffic = record.traffic
    attributes: dict[str, Value] = {
        "http.request.method": exchange.method if exchange.method in _METHODS else "_OTHER",
        "http.response.status_code": record.status,
        "http.request.body.size": exchange.body.size,
        "http.response.body.size": record.bytes_out,
        "modelway.request_id": exchange.request_id,
        "modelway.outcome": str(record.outcome),
        "modelway.attempts": record.attempt_count,
    }
    if record.queue_time:
        attributes["modelway.queue_seconds"] = record.queue_time
    if exchange.operation:
        attributes["modelway.operation"] = exchange.operation
    if exchange.caller is not None:
        attributes["modelway.token"] = exchange.caller.name
    if exchange.model.name:
        attributes["gen_ai.operation.name"] = exchange.dialect.gen_ai_operation(exchange.operation)
        attributes["gen_ai.request.model"] = exchange.model.name[:_MAX_MODEL_NAME]
        attributes["modelway.cost_nano"] = record.cost
        if record.margin:
            attributes["modelway.vendor_cost_nano"] = record.cost - record.margin
    if record.first_byte is not None:
        attributes["modelway.first_byte_seconds"] = record.first_byte
    if traffic is not None:
        attributes["modelway.websocket.close_code"] = traffic.code
        attributes["modelway.websocket.messages_sent"] = traffic.sent.messages
        attributes["modelway.websocket.messages_received"] = traffic.received.messages
    if record.code:
        attributes["modelway.code"] = record.code
    return attributes


def _describe_attempt(
    span: Span, exchange: Exchange, attempt: Attempt, peers: Mapping[str, Peer]
) -> None:
    peer, attributes = peers[attempt.upstream], span.attributes
    attributes["http.request.method"] = exchange.method
    attributes["server.address"], attributes["server.port"] = peer.host, peer.port
    attributes["modelway.upstream"] = attempt.upstream
    if attempt.language:
        attributes["modelway.translated"] = attempt.language
    if exchange.model.name:
        model = attempt.model[:_MAX_MODEL_NAME]
        operation = exchange.dialect.gen_ai_operation(exchange.operation)
        span.name = f"{operation} {model}"
        attributes["gen_ai.operation.name"] = operation
        dialect = peer.dialect or exchange.dialect
        attributes["gen_ai.provider.name"] = dialect.gen_ai_provider(attempt.upstream)
        attributes["gen_ai.request.model"] = model
    if attempt.status:
        attributes["http.response.status_code"] = attempt.status
    if attempt.failure == CANCELLED:
        attributes["modelway.cancelled"] = True
    elif attempt.failure or attempt.status >= 400:
        attributes["error.type"], span.error = attempt.failure or str(attempt.status), ""


def _describe_response(
    span: Span, exchange: Exchange, start: float, usage_names: UsageNames
) -> None:
    """Add to the span of the last attempt, which began at `start`: usage, and how the response
    ended."""
    record, attributes = exchange.record, span.attributes
    usage = record.usage
    if record.stream:
        attributes["gen_ai.request.stream"] = True
        if record.first_byte is not None:
            first = record.start + record.first_byte - start
            attributes["gen_ai.response.time_to_first_chunk"] = max(0.0, first)
    if usage.source != "none":
        attributes["gen_ai.usage.input_tokens"] = usage.input
        attributes["gen_ai.usage.output_tokens"] = usage.output
        attributes["modelway.usage_source"] = usage.source
    for count, name in usage_names:
        if tokens := getattr(usage, count):
            attributes[name] = tokens
    if record.outcome in _BROKEN:
        attributes["error.type"], span.error = str(record.outcome), ""
