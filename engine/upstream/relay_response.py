"""What becomes of an upstream's answer: relayed as it comes, or turned into an error of ours."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from typing import Any

import orjson
from gevent import GreenletExit

from engine.dialects import Dialect
from engine.exchange.exchange import Exchange, Response
from engine.exchange.push_stream import Blocked, Pipeline, PushStream
from engine.exchange.record import Outcome
from engine.relay.sse import Cleaner, NotAnEvent
from engine.upstream.attempt import AttemptResult
from engine.upstream.client.client import UpstreamResponse
from engine.upstream.client.failures import IdleTimeout, UpstreamFailure
from engine.upstream.disconnect_watcher import DisconnectWatcher
from engine.upstream.error_response import (
    LARGEST_OF_OTHERS,
    other_error,
    read_body,
    vendor_error,
    words_in,
)
from engine.upstream.first_content import FirstContent
from engine.values.errors import (
    AbortConnection,
    AbortReason,
    EventTooLarge,
    GatewayError,
    shutting_down,
)

_ERROR = b'"error"'
_STREAM_HEADERS = {"cache-control": "no-cache", "x-accel-buffering": "no"}


def relay(
    result: AttemptResult,
    headers: list[tuple[str, str]],
    exchange: Exchange,
    dialect: Dialect,
    watcher: DisconnectWatcher,
) -> Response:
    """The answer of a target as it comes, with those of its headers that pass. Raises GatewayError
    for one that cannot be relayed."""
    response, content = result.response, result.content
    assert response is not None
    if 300 <= response.status < 400 and not dialect.transparent:
        message = (
            f"The upstream answered with a redirect ({response.status}), which is not followed."
        )
        raise GatewayError(502, "upstream_error", message, retry=False)
    bodiless = exchange.method == "HEAD" or response.status in (204, 304)
    if bodiless:
        exchange.record.outcome = Outcome.COMPLETE  # there is no body to be complete
    if response.status == 101:
        return Response(101, headers)
    if content is None and not dialect.transparent:
        return vendor_error(result, headers, exchange, dialect)
    if response.status >= 300 and not bodiless:
        first = content.first if content is not None else b""
        body, whole = read_body(response, LARGEST_OF_OTHERS, first)
        if whole:
            return other_error(result, body, headers, exchange, dialect)
        content = FirstContent(body)
    content = content or FirstContent(b"")
    if content.cleaner is None:
        if response.is_complete and not bodiless:
            exchange.record.outcome, exchange.record.response_end = (
                Outcome.COMPLETE,
                time.monotonic(),
            )
            return Response(response.status, headers, content.first)
        pieces = _relay_bytes(response, content.first, exchange, watcher)
        return Response(response.status, _with_length(headers, response), pieces)
    headers = [pair for pair in headers if pair[0] not in _STREAM_HEADERS]
    headers += _STREAM_HEADERS.items()
    stream = _EventStream(result, response, content.cleaner, exchange, dialect, watcher)
    return Response(
        response.status, headers, PushStream(stream.events(content.first), stream.pipeline)
    )


def refuse(
    result: AttemptResult,
    headers: list[tuple[str, str]],
    exchange: Exchange,
    dialect: Dialect,
    retried: bool,
) -> Response:
    """The failure that is left when nobody else can be asked, as the caller is told.

    `retried`: the gateway has asked again itself, so that the caller's SDK need not.
    """
    again = False if retried else None
    if result.error is not None:
        raise failed(result.error, again)
    if result.failure == "credential":
        raise credentials_refused(f" ({result.status})")
    if result.failure == "error" and result.stream_error is None:
        raise GatewayError(502, "upstream_error", _words_of(result.document), retry=again)
    if retried:
        headers = [pair for pair in headers if pair[0] != "x-should-retry"]
        headers.append(("x-should-retry", "false"))
    return vendor_error(result, headers, exchange, dialect)


def failed(failure: UpstreamFailure, again: bool | None = None) -> GatewayError:
    """An upstream that gave no answer, or half of one, as the caller is told."""
    late = failure.kind.endswith("timeout")
    code = "upstream_timeout" if late else "upstream_unreachable"
    if failure.answered and not late:
        code = "upstream_error"
    return GatewayError(504 if late else 502, code, f"{_sentence(failure.words)}.", retry=again)


def credentials_refused(status: str = "") -> GatewayError:
    """No target takes any credential of ours: nothing that a caller could mend."""
    return GatewayError(
        502,
        "upstream_credentials",
        f"The upstream refused this gateway's own credential{status}. "
        "The operator has to mend it; your token is not at fault.",
        retry=False,
    )


def unavailable(wait: float) -> GatewayError:
    """Every target is left alone for now; `wait` seconds until one may be asked again."""
    seconds = str(max(1, math.ceil(wait)))
    return GatewayError(
        503,
        "upstream_unavailable",
        f"No upstream can be asked right now. Try again in {seconds} s.",
        headers=[("retry-after", seconds)],
    )


class _EventStream:
    """The events of a stream, most of them sent through `pipeline`; when it breaks, the dialect's
    error event and a cut."""

    def __init__(
        self,
        result: AttemptResult,
        response: UpstreamResponse,
        cleaner: Cleaner,
        exchange: Exchange,
        dialect: Dialect,
        watcher: DisconnectWatcher,
    ) -> None:
        self.pipeline = Pipeline()
        self._answer = response
        self._cleaner, self._clean = cleaner, cleaner.feed
        self._exchange = exchange
        self._dialect = dialect
        self._watch = watcher.watch(exchange.connection)
        upstream = result.target.upstream
        self._beat = upstream.heartbeat if dialect.heartbeat else None
        self._idle = upstream.timeouts.idle
        self._redaction = upstream.redaction

    def events(self, first: bytes) -> Iterator[bytes]:
        beat, response = self._beat, self._answer
        cleaner, pipeline = self._cleaner, self.pipeline
        read, clean = self._watch.read, cleaner.feed
        passing = self._pass if beat is None else None  # a sign of life is sent from here
        try:
            if first:
                yield self._without_secrets(first)
            while not cleaner.foreign:
                if beat is not None:
                    yield from self._signs_of_life(beat)
                try:
                    data = read(response, passing if pipeline.try_send is not None else None)
                except Blocked:
                    data = None
                if data is None:
                    yield b""
                elif not data:
                    break
                elif events := clean(data):
                    yield self._without_secrets(events)
            if rest := cleaner.rest():
                yield self._without_secrets(rest)
            if cleaner.foreign:
                raise NotAnEvent(cleaner.foreign)
            self._exchange.record.outcome = Outcome.COMPLETE
        except (UpstreamFailure, EventTooLarge, NotAnEvent) as failure:
            self._exchange.record.outcome = Outcome.UPSTREAM_CUT
            yield self._dialect.error_event(self._error_of(failure))
            raise AbortConnection(AbortReason.RESPONSE_BROKE_OFF, str(failure)) from failure
        except GreenletExit:
            self._exchange.record.outcome = Outcome.SHUTDOWN
            document = self._dialect.error(shutting_down(), self._exchange.request_id)
            yield self._dialect.error_event(orjson.dumps(document))
            raise AbortConnection(AbortReason.SHUTDOWN) from None
        finally:
            self._watch.close()
            self._exchange.record.response_end = time.monotonic()

    def _pass(self, data: bytes) -> None:
        """From the event loop: what has arrived goes on at once, and nobody is woken."""
        events = self._clean(data)
        if events:
            self.pipeline.send(self._without_secrets(events) if _ERROR in events else events)
        if events is not data and self._cleaner.foreign:  # what is clean is given back as it is
            raise NotAnEvent(self._cleaner.foreign)

    def _without_secrets(self, events: bytes) -> bytes:
        """Whole events; where one may tell of an error, without our credentials."""
        return self._redaction.redact(events) if _ERROR in events else events

    def _error_of(self, failure: UpstreamFailure | EventTooLarge | NotAnEvent) -> bytes:
        """The error to end a stream with: the upstream's own, where it told of one."""
        dialect = self._dialect
        if isinstance(failure, NotAnEvent) and dialect.is_error_event(document := failure.document):
            known = dialect.stream_error(document)
            document = document if known is None else known.document
            if dialect.is_error(document):
                return self._redaction.redact(orjson.dumps(document))
        error = GatewayError(502, "upstream_error", f"{_sentence(str(failure))}.")
        if isinstance(failure, UpstreamFailure):
            error = failed(failure.without_traceback())
        return orjson.dumps(dialect.error(error, self._exchange.request_id))

    def _signs_of_life(self, beat: float) -> Iterator[bytes]:
        left = self._idle
        while left > 0:
            with self._watch:
                if not self._answer.silent(min(beat, left)):
                    return
            left -= beat
            yield self._dialect.heartbeat
        raise IdleTimeout


def _with_length(
    headers: list[tuple[str, str]], response: UpstreamResponse
) -> list[tuple[str, str]]:
    if response.length is not None:
        headers.append(("content-length", str(response.length)))
    return headers


def _words_of(document: Any) -> str:
    inner = document.get("response", document) if isinstance(document, dict) else document
    return f"The upstream failed{words_in(inner)}."


def _relay_bytes(
    response: UpstreamResponse, first: bytes, exchange: Exchange, watcher: DisconnectWatcher
) -> Iterator[bytes]:
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
    except UpstreamFailure as failure:
        exchange.record.outcome = Outcome.UPSTREAM_CUT
        raise AbortConnection(
            AbortReason.RESPONSE_BROKE_OFF, failure.words
        ) from failure.without_traceback()
    except GreenletExit:
        exchange.record.outcome = Outcome.SHUTDOWN
        raise AbortConnection(AbortReason.SHUTDOWN) from None
    finally:
        watch.close()
        exchange.record.response_end = time.monotonic()


def _sentence(words: str) -> str:
    return words[:1].upper() + words[1:]
