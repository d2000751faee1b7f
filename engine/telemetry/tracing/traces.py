"""Traces: begun as a request comes in, told of when it is over; the exchange carries its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from engine.exchange.exchange import Exchange
from engine.telemetry.tracing.spans import Peer, Span, spans_of
from engine.telemetry.tracing.trace_context import Sampler, Trace


class Traces:
    """Traces the requests of a worker. `add` takes the spans of one, `peers` are the upstreams by
    name."""

    def __init__(
        self,
        sampler: Sampler,
        add: Callable[[Sequence[Span]], None],
        peers: Mapping[str, Peer],
    ) -> None:
        self._begin = sampler.begin
        self._add = add
        self._peers = peers

    def begin(self, exchange: Exchange) -> None:
        """Put the exchange into a trace: its caller's, or one of its own."""
        get = exchange.environ.get
        exchange.trace = self._begin(get("HTTP_TRACEPARENT"), get("HTTP_TRACESTATE"))

    def ended(self, exchange: Exchange) -> None:
        """Tell of an exchange that is over, if its trace is kept."""
        trace = exchange.trace
        if isinstance(trace, Trace) and trace.sampled:
            self._add(spans_of(exchange, trace, self._peers))
