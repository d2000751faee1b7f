"""Metering: usage is estimated before a request is sent, and read from its response."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from functools import partial

from gevent import GreenletExit
from msgspec.structs import replace

from engine.dialects import Dialect
from engine.dialects.interface.usage import Meter, UsageOption
from engine.exchange.exchange import Exchange, Handler, Response, Stage
from engine.exchange.member_protocols import Metering, UsageReader
from engine.exchange.push_stream import Pipeline, PushStream, Step
from engine.exchange.request_record import RequestRecord
from engine.exchange.stage_services import Services
from engine.metering.estimate import expected_usage, with_request_counts
from engine.metering.readers import Reader, SizeReader, reader, usage_in
from engine.process.loop_turn import await_turn
from engine.relay.sse import Cleaner
from engine.values.errors import AbortConnection, GatewayError
from engine.values.event_json import LONG_EVENT, count_events
from engine.values.media_types import essence
from engine.values.price_list import Prices
from engine.values.usage import NO_USAGE, Takes, Usage


def meter(dialect: Dialect, takes: Takes, services: Services) -> Stage:
    """A stage that sets `usage`, `cost` and `bytes_out` of the record at the end of the response.

    Before that it sets `exchange.metering`, by which usage is estimated. Only requests for a model
    have usage.
    """
    metering = Metering(takes)
    may_use = dialect.meter is not None and not takes.free
    usage_option = dialect.usage_option if takes.usage_option else None

    def stage(exchange: Exchange, following: Handler) -> Response:
        metered = may_use and exchange.model.name != ""
        if metered:
            exchange.metering = metering
            if usage_option is not None:
                _request_usage(exchange, usage_option)
        try:
            response = following(exchange)
        except (AbortConnection, GreenletExit):
            _charge_without_response(exchange, metered, services)
            raise
        except GatewayError:
            _charge_unused(exchange, services)
            raise
        usage_meter = dialect.meter if metered and response.status < 400 else None
        if usage_meter is None:
            _charge_unused(exchange, services)
        _read_usage(exchange, response, usage_meter, usage_option, services)
        return response

    return stage


def _read_usage(
    exchange: Exchange,
    response: Response,
    usage_meter: Meter | None,
    usage_option: UsageOption | None,
    services: Services,
) -> None:
    """Charge a complete response; wrap the body of any other so that it is read while sent."""
    record, body = exchange.record, response.body
    media_type, encoding = _kind(response)
    record.stream = response.status < 400 and media_type == "text/event-stream"
    if isinstance(body, bytes):
        if usage_meter is not None and record.response_end:
            source = exchange.metering.reader
            if source is None:
                usage = _usage_of(body, media_type, encoding, exchange, usage_meter)
            else:
                usage = _final_usage(exchange, source)
            _charge(exchange, usage, services)
        return
    clean = Cleaner().feed if encoding else None
    source = exchange.metering.reader
    usage_reader = reader(usage_meter if source is None else None, media_type, encoding, clean)
    charges = services if usage_meter is not None else None
    ending = partial(_end, exchange, usage_reader, source or usage_reader, charges)
    exchange.on_end.append(ending)
    if record.stream and not encoding:
        hidden = usage_option if exchange.metering.usage_edit is not None else None
        response.body = _with_step(body, _event_step(usage_reader, hidden, record))
    else:
        response.body = _read_body(body, usage_reader)


def _end(
    exchange: Exchange, body_reader: Reader, source: UsageReader, services: Services | None
) -> None:
    """Record the size of the response that `body_reader` has read, and the usage that `source` has,
    unless `services` is None."""
    exchange.record.bytes_out = body_reader.size
    if services is not None:
        _charge(exchange, _final_usage(exchange, source), services)


def _usage_of(
    body: bytes, media_type: str, encoding: str, exchange: Exchange, meter: Meter
) -> Usage:
    """The usage of a response whose body is complete."""
    reported = None if encoding else usage_in(meter, media_type, body)
    if reported is not None:
        return _with_request_counts(reported, exchange)
    usage_reader = reader(meter, media_type, encoding, Cleaner().feed)
    usage_reader.feed(body)
    return _final_usage(exchange, usage_reader)


def _final_usage(exchange: Exchange, usage_reader: UsageReader) -> Usage:
    """The usage of a response that has ended, estimated if it does not report it."""
    reported = usage_reader.reported()
    if reported is None:
        return usage_reader.complete(expected_usage(exchange))
    return _with_request_counts(reported, exchange)


def _with_request_counts(usage: Usage, exchange: Exchange) -> Usage:
    """Reported usage, with what is known of the request alone."""
    takes = exchange.metering.takes
    if takes is None or not (takes.speech or takes.searches):
        return usage
    return with_request_counts(usage, expected_usage(exchange))


def _charge(exchange: Exchange, usage: Usage, services: Services) -> None:
    record = exchange.record
    if exchange.metering.cache_counted_twice and usage.source == "upstream":
        usage = usage.without_cache_twice()
    record.usage = usage
    names = record.model or exchange.model.name, record.upstream, record.upstream_model
    prices = services.prices
    price = prices.find(*names)
    if price is not None:
        record.cost = price.cost(usage)
        record.price_source = price.source
    if prices.by_team:
        _charge_team(exchange, prices, names, usage)
    if record.unused:
        _charge_unused(exchange, services)


def _charge_unused(exchange: Exchange, services: Services) -> None:
    """Add what the answers that the caller did not get have used, at their prices."""
    record = exchange.record
    for unused in record.unused:
        record.usage += unused.usage
        names = unused.model, unused.upstream, unused.upstream_model
        source = record.price_source
        price = services.prices.find(*names)
        if price is not None:
            record.cost += price.cost(unused.usage)
            record.price_source = price.source
        if services.prices.by_team:
            _charge_team(exchange, services.prices, names, unused.usage)
        record.price_source = source or record.price_source


def _charge_team(
    exchange: Exchange, prices: Prices, names: tuple[str, str, str], usage: Usage
) -> None:
    """Replace the vendor's cost of a usage, which is in the record, by that for the caller's
    team. `names` are those of the model, the upstream and its model."""
    record, caller = exchange.record, exchange.caller
    prices_of_team = None if caller is None else prices.by_team.get(caller.team)
    price = None if prices_of_team is None else prices_of_team.find(*names)
    if price is not None:
        vendors = prices.find(*names)
        margin = price.cost(usage) - (0 if vendors is None else vendors.cost(usage))
        record.cost += margin
        record.margin += margin
        record.price_source = price.source


def _charge_without_response(exchange: Exchange, metered: bool, services: Services) -> None:
    """Charge a request that has no response: a session, or one that was aborted."""
    record = exchange.record
    session = record.traffic
    if session is not None:
        record.stream, record.bytes_out = True, session.received.bytes
        _charge(exchange, session.usage, services)
    elif metered and record.reached_upstream:  # the upstream has read it and may charge for it
        is_noted = record.unused and record.unused[-1].attempt == record.attempt_count
        estimate = NO_USAGE if is_noted else replace(expected_usage(exchange), output=0)
        _charge(exchange, estimate, services)


def _request_usage(exchange: Exchange, option: UsageOption) -> None:
    """Set the option that makes the stream report usage, if the caller did not."""
    if exchange.content.media_type == "application/json":
        change = option.enable(exchange.body.buffer, exchange.content.value)
        if change is not None:
            exchange.metering = Metering(exchange.metering.takes, change)


def _with_step(body: Iterable[bytes], step: Step) -> PushStream:
    """The body as a stream with `step` at the end of its pipeline."""
    stream = body if isinstance(body, PushStream) else PushStream(body, Pipeline())
    stream.pipeline.add(step)
    return stream


def _read_body(body: Iterable[bytes], usage_reader: Reader) -> Iterator[bytes]:
    """The pieces of a body, each fed to the reader first."""
    feed = usage_reader.feed
    for data in body:
        feed(data)
        yield data


def _event_step(usage_reader: Reader, hidden: UsageOption | None, record: RequestRecord) -> Step:
    """A step that reads usage from the events of a stream. `hidden` is the usage option that the
    gateway, not the caller, has set: the event that only reports usage is then removed."""
    # Events whose usage is read below are only counted.
    sizes = usage_reader if isinstance(usage_reader, SizeReader) else None
    feed, clock = usage_reader.feed, time.monotonic
    last, longest = clock(), 0.0

    def read_events(data: bytes) -> bytes:
        nonlocal last, longest
        now = clock()
        if now - last > longest:
            record.longest_gap = longest = now - last
        last = now
        if len(data) <= LONG_EVENT:
            record.events += data.count(b"\n\n")
        else:  # the server asks for it, in a greenlet (see `Blocked`)
            record.events += count_events(data)
            await_turn()
        if sizes is not None:
            sizes.size += len(data)
        else:
            feed(data)
        return data

    return read_events if hidden is None else _hiding_step(read_events, hidden)


def _hiding_step(read_events: Step, option: UsageOption) -> Step:
    """A step that reads events, and removes the one that only reports usage."""
    key, hide = option.key, option.hide

    def read_and_hide(data: bytes) -> bytes:
        data = read_events(data)
        return data if data.rfind(key) < 0 else hide(data)

    return read_and_hide


def _kind(response: Response) -> tuple[str, str]:
    """The media type and the Content-Encoding of a response, "" for none."""
    headers = dict(response.headers)
    encoding = headers.get("content-encoding", "")
    return essence(headers.get("content-type", "")), "" if encoding == "identity" else encoding
