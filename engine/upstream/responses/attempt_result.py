"""What an attempt at a target learned. The exchange gets it from the attempt that won, at once; of
the others, which failed, lost a race or were cancelled, the record gets the usage. What an upstream
has reported or sent is counted whatever happens next.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from engine.credentials.interface.credential import LiveCredential
from engine.dialects import Dialect, StreamError
from engine.exchange.exchange import Exchange
from engine.exchange.member_protocols import UsageReader
from engine.exchange.request_record import RUNNING, Attempt, RequestRecord, UnusedAnswer
from engine.metering.estimate import expected_usage
from engine.metering.readers import reader
from engine.metering.sse_reader import EventReader
from engine.upstream.client.failures import UpstreamFailure
from engine.upstream.client.response import IncomingResponse, media_type
from engine.upstream.responses.first_content import FirstContent
from engine.upstream.targets.target import Target
from engine.upstream.targets.target_state import OpenAttempt
from engine.values.usage import Usage


class AttemptResult(Struct):
    """The result of an attempt: `failure` is its class (see `retry`), "" if the response is
    relayed.

    `path` is the path of the request, `dropped` are the fields that its translation dropped.
    `response` is set if the upstream sent one, `content` if its body can be relayed, `error` if the
    attempt broke off, `is_unusable` if the upstream will charge for an answer that is not in its
    format, so that the same question is not asked there again. `document` is the JSON of an error
    event, `stream_error` what the dialect reads in it. `cache_counted_twice` is as in Metering.
    `number` is that of the attempt among those of the request, `attempt` what its record has of it,
    `credential` that of the upstream with which it was sent.
    `open` reports to the observers of the target, None without observers.
    """

    target: Target
    credential: LiveCredential | None = None
    failure: str = ""
    response: IncomingResponse | None = None
    content: FirstContent | None = None
    error: UpstreamFailure | None = None
    document: Any = None
    stream_error: StreamError | None = None
    path: str = "/"
    dropped: Sequence[str] = ()
    is_unusable: bool = False
    cache_counted_twice: bool = False
    number: int = 1
    attempt: Attempt = RUNNING
    open: OpenAttempt | None = None

    @property
    def status(self) -> int:
        """The status of the upstream's response, 0 without one. For an error event at the start of
        a stream it is the status that the error has without a stream."""
        if self.stream_error is not None:
            return self.stream_error.status
        return self.response.status if self.response is not None else 0

    @property
    def reached(self) -> bool:
        """Whether a part of the request was sent to the upstream."""
        return self.response is not None or (self.error is not None and self.error.request_sent)

    def succeeded(self) -> None:
        """Record that the response is relayed."""
        self.target.state.breaker.succeeded()
        if self.open is not None and self.open.end is None:
            self.open.response = self.response
            self.open.answered()

    def broke_off(self, record: RequestRecord, failure: str = "reset") -> None:
        """Record that the response broke off after its first content, by the class of the failure:
        "" if the request is at fault."""
        now = time.monotonic()
        self.target.state.failed(failure, now)
        if failure:
            record.amend(self.attempt, failure, now)
        if self.open is not None and failure:
            self.open.failed(failure)

    def close(self) -> None:
        """Release the upstream's connection."""
        if self.response is not None:
            self.response.close()
        if self.open is not None:
            self.open.close()


def set_target(record: RequestRecord, target: Target, model: str) -> None:
    """Name the target of an attempt in the record of a request for `model`: of the last one that
    began, or of the one that won."""
    record.upstream = target.upstream.name
    record.upstream_model = target.model or model
    record.model = target.exact_entry or model
    record.served_entry = target.entry


def note_unused(
    result: AttemptResult, exchange: Exchange, dialect: Dialect, beginning: bytes
) -> bool:
    """Add the usage of an attempt whose answer is not relayed to the record; `beginning` is what
    was read of a response that is not translated. Returns whether the answer was complete and has
    any."""
    response = result.response
    if exchange.metering.takes is None or response is None or response.status >= 400:
        return False
    source = response.usage
    if source is None:
        source = usage_reader = reader(dialect.meter, media_type(response))
        usage_reader.feed(beginning)
    usage = _usage(exchange, source)
    if usage is None:
        return False
    if result.cache_counted_twice and usage.source == "upstream":
        usage = usage.without_cache_twice()
    target, model = result.target, exchange.model.name
    names = target.exact_entry or model, target.upstream.name, target.model or model
    exchange.record.unused += (UnusedAnswer(result.number, *names, usage),)
    return usage.source == "upstream" or not isinstance(source, EventReader)


def _usage(exchange: Exchange, source: UsageReader) -> Usage | None:
    """What was reported, or else an estimate if any output was sent; None for neither."""
    usage = source.reported()
    if usage is None:
        usage = source.complete(expected_usage(exchange))
        if not usage.output and source.usage() is None:
            return None
    return usage
