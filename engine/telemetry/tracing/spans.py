"""A request and its attempts as spans, named as OpenTelemetry's conventions have it.

https://opentelemetry.io/docs/specs/semconv/http/http-spans/ for the request and
https://github.com/open-telemetry/semantic-conventions-genai for an attempt. Tokens stand on the
attempt that served alone: whoever adds up the spans of a trace must not count them twice. Neither
what is said nor any secret is in a span: no body, no query, no header.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum

from engine.exchange.exchange import Exchange
from engine.exchange.record import Attempt, Outcome, RequestRecord
from engine.telemetry.tracing.genai import operation_name, provider_name
from engine.telemetry.tracing.trace_context import Trace

Value = str | bool | int | float
Said = Mapping[str, Value]

_METHODS = frozenset(
    {"GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH", "QUERY"}
)
_LONGEST = 256
_BROKEN = (Outcome.UPSTREAM_CUT, Outcome.SHUTDOWN)
"""Outcomes of answers that broke after their head."""


class Kind(IntEnum):
    """Which side of a request a span is; the numbers are OTLP's."""

    SERVER = 2
    CLIENT = 3


@dataclass(slots=True)
class Span:
    """A span that is over: times in Unix nanoseconds, `error` what went wrong ("": nobody says),
    `from_afar` whether its parent is another program's."""

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
    from_afar: bool = False


@dataclass(frozen=True, slots=True)
class Peer:
    """An upstream as spans tell of it: its dialect ("": as its caller speaks), and where it
    listens."""

    dialect: str
    host: str
    port: int


def spans_of(exchange: Exchange, trace: Trace, peers: Mapping[str, Peer]) -> list[Span]:
    """The spans of a request that is over: its own, then its attempts'.

    `peers` are the upstreams by name.
    """
    record = exchange.record
    clock, end = _Clock(record), record.start + record.duration
    spans = [_request(exchange, trace, clock, end)]
    tries, last = record.attempts, len(trace.attempts) - 1
    for number, (span_id, began) in enumerate(trace.attempts):
        # Of an attempt that its caller did not wait for, there is no more to tell.
        unknown = Attempt("", record.upstream, exchange.model, "", 0, began, 0.0)
        tried = tries[number] if number < len(tries) else unknown
        over = tried.failure or number < last
        made = Span(
            trace.trace_id, span_id, trace.span_id, trace.flags, trace.state, exchange.method,
            Kind.CLIENT, clock.at(began), clock.at(tried.start + tried.seconds if over else end),
        )  # fmt: skip
        if number:
            made.attributes["http.request.resend_count"] = number
        _attempt(made, exchange, tried, peers)
        if number == last:
            _served(made, exchange, began)
        spans.append(made)
    return spans


class _Clock:
    """The steady clock's moments as Unix time."""

    def __init__(self, record: RequestRecord) -> None:
        self._offset = record.time - record.start

    def at(self, moment: float) -> int:
        return int((moment + self._offset) * 1e9)


def _request(exchange: Exchange, trace: Trace, clock: _Clock, end: float) -> Span:
    record = exchange.record
    method = exchange.method if exchange.method in _METHODS else "_OTHER"
    said: dict[str, Value] = {
        "http.request.method": method,
        "http.response.status_code": record.status,
        "http.request.body.size": exchange.body.size,
        "http.response.body.size": record.bytes_out,
        "modelway.request_id": exchange.request_id,
        "modelway.outcome": record.outcome,
        "modelway.attempts": record.attempt_count,
    }
    if exchange.operation:
        said["modelway.operation"] = exchange.operation
    if exchange.caller is not None:
        said["modelway.token"] = exchange.caller.name
    if exchange.model:
        said["gen_ai.operation.name"] = operation_name(exchange.operation)
        said["gen_ai.request.model"] = exchange.model[:_LONGEST]
        said["modelway.cost_nano"] = record.cost
    if record.first_byte is not None:
        said["modelway.first_byte_seconds"] = record.first_byte
    if exchange.traffic is not None:
        said["modelway.websocket.close_code"] = exchange.traffic.code
        said["modelway.websocket.messages_sent"] = exchange.traffic.sent.messages
        said["modelway.websocket.messages_received"] = exchange.traffic.received.messages
    if record.code:
        said["modelway.code"] = record.code
    error = None
    if record.status >= 500 or record.outcome in _BROKEN:
        error = ""
        said["error.type"] = record.outcome if record.status < 500 else str(record.status)
    return Span(
        trace.trace_id, trace.span_id, trace.parent_id, trace.flags, trace.state,
        exchange.operation or method, Kind.SERVER, clock.at(record.start), clock.at(end),
        said, error, bool(trace.parent_id),
    )  # fmt: skip


def _attempt(span: Span, exchange: Exchange, tried: Attempt, peers: Mapping[str, Peer]) -> None:
    peer, said = peers[tried.upstream], span.attributes
    said["http.request.method"] = exchange.method
    said["server.address"], said["server.port"] = peer.host, peer.port
    said["modelway.upstream"] = tried.upstream
    if exchange.model:
        model = tried.model[:_LONGEST]
        operation = operation_name(exchange.operation)
        span.name = f"{operation} {model}"
        said["gen_ai.operation.name"] = operation
        dialect = peer.dialect or exchange.dialect.name
        said["gen_ai.provider.name"] = provider_name(tried.upstream, dialect)
        said["gen_ai.request.model"] = model
    if tried.status:
        said["http.response.status_code"] = tried.status
    if tried.failure or tried.status >= 400:
        said["error.type"], span.error = tried.failure or str(tried.status), ""


def _served(span: Span, exchange: Exchange, began: float) -> None:
    """What is known of the last attempt alone: what it used, and how its answer ended."""
    record, said = exchange.record, span.attributes
    usage = record.usage
    if record.stream:
        said["gen_ai.request.stream"] = True
        if record.first_byte is not None:
            first = record.start + record.first_byte - began
            said["gen_ai.response.time_to_first_chunk"] = max(0.0, first)
    if usage.source != "none":
        said["gen_ai.usage.input_tokens"] = usage.input
        said["gen_ai.usage.output_tokens"] = usage.output
        said["modelway.usage_source"] = usage.source
    if usage.cached:
        said["gen_ai.usage.cache_read.input_tokens"] = usage.cached
    if usage.reasoning:
        said["gen_ai.usage.reasoning.output_tokens"] = usage.reasoning
    if record.outcome in _BROKEN and span.error is None:
        said["error.type"], span.error = record.outcome, ""
