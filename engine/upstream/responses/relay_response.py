"""Relay an upstream's response to the caller: its headers, its body as bytes or as events."""

from __future__ import annotations

import time
from collections.abc import Iterator

import orjson
from gevent import GreenletExit

from engine.dialects import Dialect
from engine.dialects.interface.error_forms import ERROR
from engine.exchange.disconnect_watcher import DisconnectWatcher
from engine.exchange.exchange import Exchange, Response
from engine.exchange.member_protocols import Headers
from engine.exchange.outcome import Outcome, interruption
from engine.exchange.push_stream import Blocked, Pipeline, PushStream
from engine.process.loop_turn import await_turn
from engine.relay.sse import Cleaner, NotAnEvent
from engine.upstream.client.failures import IdleTimeout, Silence, UpstreamFailure
from engine.upstream.client.response import IncomingResponse, read_body
from engine.upstream.responses.attempt_result import AttemptResult
from engine.upstream.responses.error_response import (
    MAX_TRANSPARENT_ERROR,
    redirect_refused,
    transparent_error,
    vendor_error,
)
from engine.upstream.responses.first_content import FirstContent
from engine.upstream.responses.stream_errors import last_event
from engine.upstream.responses.stream_judge import (
    MAX_EVENT_END,
    ReportedError,
    StreamJudge,
    error_class,
)
from engine.values.errors import AbortConnection, AbortReason, EventTooLarge
from engine.values.event_json import LONG_EVENT

_STREAM_HEADERS = {"cache-control": "no-cache", "x-accel-buffering": "no"}


def relay(
    result: AttemptResult,
    headers: Headers,
    exchange: Exchange,
    dialect: Dialect,
    watcher: DisconnectWatcher,
) -> Response:
    """The response for the caller, with `headers`: those of the upstream's that pass. Raises
    GatewayError for a response that cannot be relayed."""
    response, content = result.response, result.content
    assert response is not None
    if response.usage is not None or result.cache_counted_twice:
        exchange.metering = exchange.metering._replace(
            reader=response.usage, cache_counted_twice=result.cache_counted_twice
        )
    status = response.status
    if 300 <= status < 400 and not dialect.transparent:
        raise redirect_refused(status)
    bodiless = exchange.method == "HEAD" or status in (204, 304)
    if bodiless:
        exchange.record.outcome = Outcome.COMPLETE  # there is no body that could break off
    if status == 101:
        return Response(101, headers)
    if content is None and not dialect.transparent:
        return vendor_error(result, headers, exchange, dialect)
    content = content or FirstContent(b"")
    if status >= 300 and not bodiless:
        data, complete = read_body(response, MAX_TRANSPARENT_ERROR, content.first)
        if complete:
            return transparent_error(result, data, headers, exchange, dialect)
        content = FirstContent(data)
    if content.events is not None:
        stream = _EventStream(result, response, content, exchange, dialect, watcher)
        body = PushStream(stream.events(content.first), stream.pipeline)
        return Response(status, _of_stream(headers), body)
    if response.is_complete and not bodiless:
        record = exchange.record
        record.outcome, record.response_end = Outcome.COMPLETE, time.monotonic()
        return Response(status, headers, content.first)
    if response.length is not None:
        headers.append(("content-length", str(response.length)))
    pieces = _relay_bytes(result, response, content.first, exchange, dialect, watcher)
    return Response(status, headers, pieces)


def _of_stream(headers: Headers) -> Headers:
    """The headers of a stream, which nothing on its way caches or buffers."""
    return [pair for pair in headers if pair[0] not in _STREAM_HEADERS] + [*_STREAM_HEADERS.items()]


def _relay_bytes(
    result: AttemptResult,
    response: IncomingResponse,
    first: bytes,
    exchange: Exchange,
    dialect: Dialect,
    watcher: DisconnectWatcher,
) -> Iterator[bytes]:
    """The body as it arrives, after its `first` bytes. Raises AbortConnection if it breaks off, so
    that the caller does not take it for complete."""
    watch = watcher.watch(exchange.connection)
    try:
        data = first
        while True:
            if data:
                yield data
            data = watch.read(response)
            if not data:
                break
        exchange.record.outcome = Outcome.COMPLETE
    except (UpstreamFailure, EventTooLarge, ReportedError) as failure:
        exchange.record.outcome = Outcome.UPSTREAM_CUT
        if isinstance(failure, ReportedError):
            result.broke_off(exchange.record, error_class(dialect, failure.document))
        else:
            result.broke_off(exchange.record)
        cause = failure.with_traceback(None)
        raise AbortConnection(AbortReason.RESPONSE_BROKE_OFF, str(cause)) from cause
    except GreenletExit as cause:
        exchange.record.outcome, reason, _ = interruption(cause)
        raise AbortConnection(reason) from None
    finally:
        watch.close()
        exchange.record.response_end = time.monotonic()


class _EventStream:
    """The events of a stream, most of them sent through `pipeline`. A stream that breaks off ends
    with the dialect's error event and a closed connection."""

    def __init__(
        self,
        result: AttemptResult,
        response: IncomingResponse,
        content: FirstContent,
        exchange: Exchange,
        dialect: Dialect,
        watcher: DisconnectWatcher,
    ) -> None:
        events = content.events
        assert events is not None
        self.pipeline = Pipeline()
        self._response = response
        self._filter, self._clean = events, events.feed
        self._exchange = exchange
        self._dialect = dialect
        self._watch = watcher.watch(exchange.connection)
        self._result = result
        upstream = result.target.upstream
        self._beat = upstream.heartbeat if dialect.heartbeat else None
        self._idle = upstream.timeouts.idle
        self._judge = StreamJudge(dialect, upstream.redaction, several=content.several)
        self._keep = self._judge.keep
        self._is_translated = not isinstance(events, Cleaner)  # then they are our own
        self._long = b""  # events to be checked by the greenlet, and sent in parts by the server

    def events(self, first: bytes) -> Iterator[bytes]:
        """The events to send: `first`, then those that the pipeline did not send itself."""
        try:
            if events := self._check(first):
                self._judge.first = events[:MAX_EVENT_END]
                yield events
            yield from self._following_events()
            if self._failure is None and (tail := self._check(self._filter.finish())):
                yield tail
            self._end()
        except (UpstreamFailure, EventTooLarge, NotAnEvent, ReportedError) as failure:
            yield last_event(failure, self._result, self._exchange, self._dialect)
            cause = failure.with_traceback(None)  # which refers to this stream
            raise AbortConnection(AbortReason.RESPONSE_BROKE_OFF, str(cause)) from cause
        except GreenletExit as cause:
            self._exchange.record.outcome, reason, error = interruption(cause)
            document = self._dialect.error(error, self._exchange.request_id)
            path, model = self._exchange.path, self._exchange.model.name
            yield self._dialect.last_error(path, orjson.dumps(document), model)
            raise AbortConnection(reason) from None
        finally:
            self._watch.close()
            self._exchange.record.response_end = time.monotonic()

    @property
    def _failure(self) -> Exception | None:
        """Why the stream cannot be relayed further."""
        return self._judge.failure or self._filter.failure

    def _end(self) -> None:
        """Judge a stream that has ended. Raises its failure."""
        if self._failure is None and not self._is_translated:
            self._judge.end()
        if (failure := self._failure) is not None:
            raise failure
        if self._judge.error is None:
            self._exchange.record.outcome = Outcome.COMPLETE
        else:
            self._exchange.record.outcome = Outcome.UPSTREAM_CUT
            self._result.broke_off(
                self._exchange.record, error_class(self._dialect, self._judge.error)
            )

    def _check(self, events: bytes) -> bytes:
        """The events that may be sent, which are kept for the end of the stream. Bytes with a
        comment always pass here, because a Cleaner makes new ones of them. Long ones are checked in
        a greenlet: the event loop turns between the steps over them, which take milliseconds."""
        is_long = len(events) > LONG_EVENT
        if is_long:
            await_turn()
        events = self._judge.check(events)
        if not self._is_translated:
            self._judge.keep_long(events)
        if is_long:
            await_turn()
        return events

    def _following_events(self) -> Iterator[bytes]:
        """The events that arrive, up to the end of the stream or its failure; while the pipeline is
        blocked, what it cannot send. Raises UpstreamFailure."""
        pipeline, clean = self.pipeline, self._clean
        relay_data = self._relay_translated if self._is_translated else self._relay
        quiet = 0.0  # seconds since the last bytes
        while self._failure is None:
            on_data = relay_data if pipeline.try_send is not None else None
            beat = None if self._beat is None else min(self._beat, self._idle - quiet)
            try:
                data = self._watch.read(self._response, on_data, beat)
            except Blocked:
                quiet = 0.0
                events, self._long = self._long, b""
                yield self._check(events) if events else b""
                continue
            except Silence as silence:
                quiet = (quiet if silence.since_start else 0.0) + (beat or 0.0)
                yield self._dialect.heartbeat
                if quiet >= self._idle:
                    raise IdleTimeout from None
                continue
            quiet = 0.0
            if not data:
                return
            if events := self._check(clean(data)):
                yield events

    def _relay(self, data: bytes) -> None:
        """Send events through the pipeline. The event loop calls it: no greenlet is switched to."""
        events = self._clean(data)
        # A Cleaner returns clean data unchanged, as the same object. `find` is twice as fast as
        # `in`, which first tries its operand as an integer.
        if events is data and events.find(ERROR) < 0:  # nearly all events
            self._keep(events)
            self._send(events)
        else:
            self._relay_checked(events)

    def _relay_translated(self, events: bytes) -> None:
        """The same with events of our own: the end of a translation is judged by itself."""
        if len(events) <= LONG_EVENT and events.find(ERROR) < 0:
            self._send(events)
        else:
            self._relay_checked(events)

    def _send(self, events: bytes) -> None:
        """Send events behind the steps of the pipeline, without blocking. Raises Blocked."""
        piece = self.pipeline.transform(events)
        if piece and not self.pipeline.try_send(piece):  # type: ignore[misc]  # a check costs time
            raise Blocked

    def _relay_checked(self, events: bytes) -> None:
        if len(events) > LONG_EVENT:
            self._long = events
            raise Blocked
        if events := self._check(events):
            self._send(events)
        if (failure := self._failure) is not None:
            raise failure
