"""What a request uses: estimated before it is sent, read from its answer as that passes."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import lru_cache

from gevent import GreenletExit

from engine.dialects import Dialect
from engine.dialects.interface.meter import Meter
from engine.dialects.interface.requests import UsageOption
from engine.exchange.exchange import Exchange, Handler, Response, Stage
from engine.exchange.push_stream import Pipeline, PushStream, Step
from engine.exchange.record import RequestRecord
from engine.exchange.services import Services
from engine.metering.estimate import expected, with_characters
from engine.metering.readers import Reader, reader, usage_in
from engine.relay.sse import Cleaner
from engine.values.errors import AbortConnection
from engine.values.takes import Takes
from engine.values.usage import Usage


def meter(dialect: Dialect, takes: Takes, services: Services) -> Stage:
    """A stage that fills in `usage`, `cost` and `bytes_out` when the answer is over, and before
    that says how to estimate them. Only requests for a model use anything."""

    may_use = dialect.meter is not None and not takes.free
    usage_option = dialect.usage_option if takes.usage_option else None

    def stage(exchange: Exchange, following: Handler) -> Response:
        record = exchange.record
        metered = may_use and exchange.model != ""
        if metered:
            exchange.takes = takes
            if usage_option is not None:
                _request_usage(exchange, usage_option)
        try:
            response = following(exchange)
        except (AbortConnection, GreenletExit):
            _left(exchange, metered, services)
            raise
        body = response.body
        media_type, encoding = _kind(response)
        record.stream = response.status < 400 and media_type == "text/event-stream"
        if isinstance(body, bytes):
            if metered and record.response_end and response.status < 400:  # an upstream's, complete
                used = _used_by(body, media_type, encoding, exchange, dialect.meter)
                _charge(exchange, used, services)
            return response
        passing = reader(dialect.meter if metered else None, media_type, encoding, Cleaner().feed)

        def conclude() -> None:
            record.bytes_out = passing.size
            if metered and response.status < 400:
                _charge(exchange, _used(exchange, passing), services)

        exchange.on_end.append(conclude)
        if record.stream and not encoding:
            flow = body if isinstance(body, PushStream) else PushStream(body, Pipeline())
            flow.pipeline.steps.append(
                _noting(passing, usage_option if exchange.edits else None, record)
            )
            response.body = flow
        else:
            response.body = _passing(body, passing)
        return response

    return stage


def _used_by(
    body: bytes, media_type: str, encoding: str, exchange: Exchange, meter: Meter | None
) -> Usage:
    """What an answer that came whole has used."""
    said = usage_in(meter, media_type, body) if meter is not None and not encoding else None
    if said is not None:
        return _known(said, exchange)
    passing = reader(meter, media_type, encoding, Cleaner().feed)
    passing.feed(body)
    return _used(exchange, passing)


def _used(exchange: Exchange, passing: Reader) -> Usage:
    """What an answer that is over has used."""
    said = passing.reported()
    return passing.complete(expected(exchange)) if said is None else _known(said, exchange)


def _known(said: Usage, exchange: Exchange) -> Usage:
    takes = exchange.takes
    speech = takes is not None and takes.speech
    return with_characters(said, expected(exchange)) if speech else said


def _charge(exchange: Exchange, usage: Usage, services: Services) -> None:
    record = exchange.record
    record.usage = usage
    price = services.prices.find(record.model or exchange.model)
    record.cost = price.cost(usage) if price is not None else 0


def _left(exchange: Exchange, metered: bool, services: Services) -> None:
    """The caller gets no answer of an upstream, or its session is over."""
    record, session = exchange.record, exchange.traffic
    if session is not None:
        record.stream, record.bytes_out = True, session.received.bytes
        _charge(exchange, session.usage, services)
    elif metered and record.reached_upstream:  # an upstream has read it, and had begun to answer
        _charge(exchange, replace(expected(exchange), output=0), services)


def _request_usage(exchange: Exchange, option: UsageOption) -> None:
    """Set the option that makes the stream report usage, if the caller did not."""
    if isinstance(exchange.value, dict) and exchange.media_type == "application/json":
        change = option.enable(exchange.body.buffer, exchange.value)
        exchange.edits = () if change is None else (change,)


def _passing(body: Iterable[bytes], passing: Reader) -> Iterator[bytes]:
    """An answer's body on its way."""
    feed = passing.feed
    for data in body:
        feed(data)
        yield data


def _noting(passing: Reader, hidden: UsageOption | None, record: RequestRecord) -> Step:
    """Reads each of a stream's events; without the one that only reports usage, if the caller did
    not set the option `hidden`."""
    feed, clock = passing.feed, time.monotonic
    key = hidden.key if hidden is not None else b""
    last, longest = clock(), 0.0

    def note(data: bytes) -> bytes:
        nonlocal last, longest
        now = clock()
        if now - last > longest:
            record.longest_gap = longest = now - last
        last = now
        record.events += data.count(b"\n\n")
        feed(data)
        return hidden.hide(data) if hidden is not None and key in data else data

    return note


def _kind(response: Response) -> tuple[str, str]:
    """The media type of an answer and its encoding, "" for none."""
    headers = dict(response.headers)
    encoding = headers.get("content-encoding", "")
    return _essence(headers.get("content-type", "")), "" if encoding == "identity" else encoding


@lru_cache(maxsize=256)
def _essence(media_type: str) -> str:
    return media_type.partition(";")[0].strip().lower()
