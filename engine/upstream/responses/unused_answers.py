"""The usage of answers that do not reach the caller: of attempts that failed, lost a race or were
cancelled. What an upstream has reported or sent is counted whatever happens next."""

from __future__ import annotations

from engine.dialects import Dialect
from engine.exchange.exchange import Exchange
from engine.exchange.member_protocols import UsageReader
from engine.exchange.request_record import UnusedAnswer
from engine.metering.estimate import expected_usage
from engine.metering.readers import reader
from engine.metering.sse_reader import EventReader
from engine.upstream.client.response import media_type
from engine.upstream.responses.attempt_result import AttemptResult
from engine.values.usage import Usage


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
