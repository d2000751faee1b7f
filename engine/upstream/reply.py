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
from engine.upstream.client.client import Answer
from engine.upstream.client.failures import IdleTimeout, UpstreamFailure
from engine.upstream.disconnect_watcher import DisconnectWatcher
from engine.upstream.error_response import (
    LARGEST_OF_OTHERS,
    other_error,
    read_whole,
    vendor_error,
    words_in,
)
from engine.upstream.first_content import FirstContent, is_error_event
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
    tried: AttemptResult,
    headers: list[tuple[str, str]],
    exchange: Exchange,
    dialect: Dialect,
    watcher: DisconnectWatcher,
) -> Response:
    """The answer of a target as it comes, with those of its headers that pass. Raises GatewayError
    for one that cannot be relayed."""
    answer, opening = tried.answer, tried.opening
    assert answer is not None
    if 300 <= answer.status < 400 and not dialect.transparent:
        message = f"The upstream answered with a redirect ({answer.status}), which is not followed."
        raise GatewayError(502, "upstream_error", message, retry=False)
    bodiless = exchange.method == "HEAD" or answer.status in (204, 304)
    if bodiless:
        exchange.record.outcome = Outcome.COMPLETE  # there is no body to be complete
    if answer.status == 101:
        return Response(101, headers)
    if opening is None and not dialect.transparent:
        return vendor_error(tried, headers, exchange, dialect)
    if answer.status >= 300 and not bodiless:
        first = opening.first if opening is not None else b""
        body, whole = read_whole(answer, LARGEST_OF_OTHERS, first)
        if whole:
            return other_error(tried, body, headers, exchange, dialect)
        opening = FirstContent(body)
    opening = opening or FirstContent(b"")
    if opening.cleaner is None:
        if answer.is_whole and not bodiless:
            exchange.record.outcome, exchange.record.response_end = (
                Outcome.COMPLETE,
                time.monotonic(),
            )
            return Response(answer.status, headers, opening.first)
        pieces = _bytes(answer, opening.first, exchange, watcher)
        return Response(answer.status, _with_length(headers, answer), pieces)
    headers = [pair for pair in headers if pair[0] not in _STREAM_HEADERS]
    headers += _STREAM_HEADERS.items()
    stream = _Stream(tried, answer, opening.cleaner, exchange, dialect, watcher)
    return Response(
        answer.status, headers, PushStream(stream.events(opening.first), stream.pipeline)
    )


def refuse(
    tried: AttemptResult,
    headers: list[tuple[str, str]],
    exchange: Exchange,
    dialect: Dialect,
    retried: bool,
) -> Response:
    """The failure that is left when nobody else can be asked, as the caller is told.

    `retried`: the gateway has asked again itself, so that the caller's SDK need not.
    """
    again = False if retried else None
    if tried.error is not None:
        raise failed(tried.error, again)
    if tried.failure == "credential":
        raise credentials_refused(f" ({tried.status})")
    if tried.failure == "error" and tried.stream_error is None:
        raise GatewayError(502, "upstream_error", _words_of(tried.document), retry=again)
    if retried:
        headers = [pair for pair in headers if pair[0] != "x-should-retry"]
        headers.append(("x-should-retry", "false"))
    return vendor_error(tried, headers, exchange, dialect)


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


class _Stream:
    """The events of a stream, most of them sent through `pipeline`; when it breaks, the dialect's
    error event and a cut."""

    def __init__(
        self,
        tried: AttemptResult,
        answer: Answer,
        cleaner: Cleaner,
        exchange: Exchange,
        dialect: Dialect,
        watcher: DisconnectWatcher,
    ) -> None:
        self.pipeline = Pipeline()
        self._answer = answer
        self._cleaner, self._clean = cleaner, cleaner.feed
        self._exchange = exchange
        self._dialect = dialect
        self._watching = watcher.watching(exchange.environ.get("gunicorn.socket"))
        upstream = tried.target.upstream
        self._beat = upstream.heartbeat if dialect.heartbeat else None
        self._idle = upstream.timeouts.idle
        self._redaction = upstream.redaction

    def events(self, first: bytes) -> Iterator[bytes]:
        beat, answer = self._beat, self._answer
        cleaner, pipeline = self._cleaner, self.pipeline
        read, clean = self._watching.read, cleaner.feed
        passing = self._pass if beat is None else None  # a sign of life is sent from here
        try:
            if first:
                yield self._without_secrets(first)
            while not cleaner.foreign:
                if beat is not None:
                    yield from self._signs_of_life(beat)
                try:
                    data = read(answer, passing if pipeline.try_send is not None else None)
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
            self._watching.close()
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
        if isinstance(failure, NotAnEvent) and is_error_event(document := failure.document):
            known = dialect.stream_error(document)
            document = document if known is None else known.document
            if dialect.is_error(document):
                return self._redaction.redact(orjson.dumps(document))
        error = GatewayError(502, "upstream_error", f"{_sentence(str(failure))}.")
        if isinstance(failure, UpstreamFailure):
            error = failed(failure.alone())
        return orjson.dumps(dialect.error(error, self._exchange.request_id))

    def _signs_of_life(self, beat: float) -> Iterator[bytes]:
        left = self._idle
        while left > 0:
            with self._watching:
                if not self._answer.silent(min(beat, left)):
                    return
            left -= beat
            yield self._dialect.heartbeat
        raise IdleTimeout


def _with_length(headers: list[tuple[str, str]], answer: Answer) -> list[tuple[str, str]]:
    if answer.length is not None:
        headers.append(("content-length", str(answer.length)))
    return headers


def _words_of(document: Any) -> str:
    inner = document.get("response", document) if isinstance(document, dict) else document
    return f"The upstream failed{words_in(inner)}."


def _bytes(
    answer: Answer, first: bytes, exchange: Exchange, watcher: DisconnectWatcher
) -> Iterator[bytes]:
    watching = watcher.watching(exchange.environ.get("gunicorn.socket"))
    try:
        data = first
        while True:
            if data:
                yield data
            data = watching.read(answer)
            if not data:
                break
        exchange.record.outcome = Outcome.COMPLETE
    except UpstreamFailure as failure:
        exchange.record.outcome = Outcome.UPSTREAM_CUT
        raise AbortConnection(AbortReason.RESPONSE_BROKE_OFF, failure.words) from failure.alone()
    except GreenletExit:
        exchange.record.outcome = Outcome.SHUTDOWN
        raise AbortConnection(AbortReason.SHUTDOWN) from None
    finally:
        watching.close()
        exchange.record.response_end = time.monotonic()


def _sentence(words: str) -> str:
    return words[:1].upper() + words[1:]
