"""The response of a target that speaks another language of chat, in the caller's language.

It has the members of an UpstreamResponse that relaying needs, so nothing after the attempt knows of
the translation. An error inside a stream is written as its JSON alone: the relay takes that for a
stream that broke off with this error (`engine.relay.sse.NotAnEvent`).
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable

import orjson

from engine import dialects
from engine.dialects import Dialect
from engine.dialects.interface.rate_limits import translate_limits
from engine.exchange.interfaces import Socket
from engine.metering.readers import reader
from engine.translations import AnyExchange
from engine.translations.neutral.events import BrokenAnswer, UpstreamError
from engine.translations.translation import LARGEST
from engine.upstream.client.failures import InvalidAnswer, UpstreamFailure
from engine.upstream.client.response import IncomingResponse
from engine.upstream.first_content import media_type
from engine.upstream.response_body import MAX_ERROR, read_body
from engine.upstream.translated_events import Interrupted, TranslatedEvents
from engine.values.content_coding import decode_body, decoder
from engine.values.errors import GatewayError
from engine.values.event_json import json_or_none
from engine.values.redaction import Redaction

_QUIET = 5.0
"""Seconds for which a caller gets nothing while the upstream sends what comes to nothing."""

_UNDECODABLE = "the upstream's answer has a content coding that cannot be decoded"
_BODY_HEADERS = ("content-", "transfer-encoding", "etag", "digest", "repr-digest", "cache-control")


class TranslatedResponse:
    """A response in the dialect of the caller: `status`, `headers`, and the body by `read`.

    The body of an error is read at once. `redaction` takes the gateway's credentials out of what
    the upstream says. `usage` reads what the upstream reports, in its own format. `clock` gives
    seconds since 1970.
    """

    length: int | None = None

    def __init__(
        self,
        response: IncomingResponse,
        exchange: AnyExchange,
        dialect: Dialect,
        request_id: str,
        redaction: Redaction,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._response = response
        self._exchange = exchange
        self._dialect = dialect
        self._request_id = request_id
        self._redaction = redaction
        self._encoding = response.header("content-encoding") or ""
        self.status = 200 if 200 <= response.status < 300 else response.status
        self._clock = clock
        self._target = dialects.get(exchange.translation.target.dialect)
        headers = [p for p in response.headers if not p[0].startswith(_BODY_HEADERS)]
        limits = self._target.rate_limits, dialect.rate_limits
        self._last_output = clock()
        self.headers = translate_limits(headers, *limits, self._last_output)
        self._body = b""
        self._ended = 300 <= response.status < 400  # a redirect, which is not followed
        self._has_output = False
        self._failure: UpstreamFailure | None = None
        self._events: TranslatedEvents | None = None
        is_stream = media_type(response) == "text/event-stream"
        kind = "text/event-stream" if is_stream else "application/json"
        self.usage = reader(self._target.meter, kind)
        if response.status >= 400:
            self._translate_error()
        elif is_stream:
            self._events = self._open_events()
        request = exchange.request
        events = request.stream and not request.as_list and response.status < 300
        self._heartbeat = dialect.heartbeat if events else b""
        kind = "text/event-stream; charset=utf-8" if events else "application/json"
        self.headers.append(("content-type", kind))

    def header(self, name: str) -> str | None:
        """The first value of a header, its name in any case."""
        low = name.lower()
        return next((value for field, value in self.headers if field == low), None)

    @property
    def is_complete(self) -> bool:
        """Whether all of the body has been read."""
        return self._ended and not self._body and self._failure is None

    def read(self, passing: Callable[[bytes], None] | None = None) -> bytes:
        """The next part of the body, `b""` at the end; `passing` as in `UpstreamResponse.read`.

        Raises UpstreamFailure, InvalidAnswer among them.
        """
        while True:
            if self._body:
                body, self._body = self._body, b""
                return body
            if self._failure is not None:
                self._response.close()
                raise self._failure
            if self._ended:
                self._response.close()
                return b""
            if self._events is None:
                self._read_whole()
            else:
                self._read_events(self._events, passing)

    def silent(self, seconds: float) -> bool:
        """Whether nothing arrives for `seconds`."""
        return not (self._body or self._ended or self._failure) and self._response.silent(seconds)

    def close(self) -> None:
        """Release the upstream's connection."""
        self._response.close()

    def detach(self) -> tuple[Socket, bytes]:
        """Only a 101 gives its socket away, and no chat has one."""
        raise ValueError("a translated response is no WebSocket")

    def _open_events(self) -> TranslatedEvents | None:
        decoding = decoder(self._encoding)
        if decoding is None and self._encoding.strip().lower() not in ("", "identity"):
            self._failure = _invalid(_UNDECODABLE)
            return None
        return TranslatedEvents(self._exchange.stream(), self._target, self.usage, decoding)

    def _read_events(
        self, events: TranslatedEvents, passing: Callable[[bytes], None] | None
    ) -> None:
        def translate(data: bytes) -> None:
            """Called by the event loop."""
            assert passing is not None
            if output := self._translated(events.feed, data) or self._keep_alive():
                passing(output)
            if self._failure is not None or self._ended:
                raise _Stopped

        try:
            data = self._response.read(None if passing is None else translate)
        except _Stopped:
            return
        except UpstreamFailure:
            if not events.ended:
                raise
            data = b""  # it broke off behind its last event
        if data:
            self._body = self._translated(events.feed, data) or self._keep_alive()
        else:
            self._body = self._translated(events.finish)
            self._ended = True

    def _keep_alive(self) -> bytes:
        """A heartbeat in place of events that come to nothing, such as pings of the upstream."""
        now = self._clock()
        if self._ended or self._failure is not None or now - self._last_output < _QUIET:
            return b""
        self._last_output = now
        return self._heartbeat

    def _read_whole(self) -> None:
        pieces, size = [], 0
        while data := self._response.read():
            pieces.append(data)
            size += len(data)
            if size > LARGEST:
                raise _invalid(f"the upstream's answer has over {LARGEST} bytes")
        text = decode_body(self._encoding, b"".join(pieces))
        if text is None:
            raise _invalid(_UNDECODABLE)
        self.usage.feed(text)
        self._body = self._translated(self._exchange.answer, text)
        self._ended = True

    def _translated(self, translate: Callable[..., bytes], *data: bytes) -> bytes:
        """What `translate` returns. An error is kept until what preceded it has been read."""
        if self._failure is not None or self._ended:
            return b""
        output = b""
        try:
            output = translate(*data)
        except Interrupted as interrupted:
            output, error = interrupted.output, interrupted.error
            self._has_output = self._has_output or bool(output)
            output += self._end_with(error)
        except (BrokenAnswer, UpstreamError) as error:
            output = self._end_with(error)
        if output:
            self._has_output, self._last_output = True, self._clock()
        return output

    def _end_with(self, error: BrokenAnswer | UpstreamError) -> bytes:
        """What an error comes to. In an array that has begun it is the last item, and the array
        breaks off."""
        if isinstance(error, UpstreamError):
            self._note_retry_after(error)
            document = self._error_document(error)
            if self._exchange.request.as_list and self._has_output:
                self._failure = _invalid("the upstream's answer broke off with an error")
                return b",\n" + document
            self._ended = True
            return document
        self._failure = _invalid(self._redaction.redact(str(error).encode()).decode())
        return b""

    def _translate_error(self) -> None:
        body, complete = read_body(self._response, MAX_ERROR)
        text = decode_body(self._encoding, body) if complete else None
        error = self._exchange.error(self.status, json_or_none(text or b""))
        self.status = error.status
        self._body = self._error_document(error)
        self._ended = True
        self._note_retry_after(error)

    def _note_retry_after(self, error: UpstreamError) -> None:
        if error.retry_after is not None and self.header("retry-after") is None:
            self.headers.append(("retry-after", str(math.ceil(error.retry_after))))

    def _error_document(self, error: UpstreamError) -> bytes:
        message = error.message or f"The upstream answered {error.status}."
        status = error.status if error.status >= 400 else 502
        ours = GatewayError(status, error.code or "upstream_error", message)
        document = orjson.dumps(self._dialect.error(ours, self._request_id))
        return self._redaction.redact(document) + b"\n"


class _Stopped(Exception):
    """Ends a wait for the upstream: its answer has ended, or cannot be translated."""


def _invalid(words: str) -> InvalidAnswer:
    failure = InvalidAnswer(words)
    failure.request_sent = failure.response_started = True
    return failure
